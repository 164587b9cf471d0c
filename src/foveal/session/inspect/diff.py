"""Compare two builds of a session: which messages entered the window, left it or changed detail, and why.

Tokens are those that messages have in the windows, so they add up to the difference of the two. Positions are
those of one branch of the history: builds from before and after an edit cannot be compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from textwrap import wrap

from foveal.errors import NotFoundError
from foveal.model import Entry
from foveal.pipeline.explain import WIDTH, Line, Look, note_size, note_title
from foveal.pipeline.reasons import SENTENCES
from foveal.session.build.build import stored_build
from foveal.session.build.manifest_json import read_manifest
from foveal.session.state import SessionState
from foveal.store import BuildRecord
from foveal.window import Code, Decision, Manifest, WindowNote

GROUPS = 12
"""Groups of messages with the same reasons that a text shows, the largest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A run of messages for which each build has one decision."""

    first: int
    last: int
    """Positions, both included."""
    ids: tuple[str, ...]
    tokens: int
    """Tokens of the messages as they are stored."""
    was: int
    """Tokens in the first window."""
    now: int
    """Tokens in the second window. Messages covered by a note have none; the note has its own."""
    before: Decision | None
    """None if the messages came after that build."""
    after: Decision | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two builds."""

    build: int
    preset: str
    model: str
    budget: int
    tokens: int
    parts: Mapping[str, int]
    notes: tuple[WindowNote, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """The differences between two builds."""

    a: Side
    b: Side
    entered: tuple[Changed, ...]
    left: tuple[Changed, ...]
    changed: tuple[Changed, ...]
    """Messages in both windows, in another detail, another short form or other lines of a note."""
    stayed: int
    """Messages that are the same in both windows."""
    beside: int
    """Tokens by which everything else differs: framing, tools, notes between messages, attached context."""

    @property
    def text(self) -> str:
        """All of it, for a terminal."""
        return "\n".join(line.text for line in diff_lines(self))


def diff_builds(state: SessionState, a: int, b: int) -> Diff:
    with state.reading():
        records = [stored_build(state, number) for number in (a, b)]
        manifests = [read_manifest(state, record) for record in records]
        _check(state, manifests, (a, b))
        runs = list(_runs(state.log.entries, *manifests))
    lines = [_noted(manifest) for manifest in manifests]
    sides = [_side(*each) for each in zip(records, manifests, strict=True)]
    moved = [(_shown(run.before), _shown(run.after), run) for run in runs]
    entered = tuple(run for was, now, run in moved if now and not was)
    left = tuple(run for was, now, run in moved if was and not now)
    alike = [bool(was) and _alike(was, now, run, lines) for was, now, run in moved]
    changed = tuple(
        run for (was, now, run), same in zip(moved, alike, strict=True) if was and now and not same
    )
    return Diff(
        a=sides[0],
        b=sides[1],
        entered=entered,
        left=left,
        changed=changed,
        stayed=sum(len(run.ids) for (_, _, run), same in zip(moved, alike, strict=True) if same),
        beside=sides[1].tokens - sides[0].tokens - _more((*entered, *left, *changed)),
    )


def _alike(was: str, now: str, run: Changed, lines: Sequence[Mapping[int, int]]) -> bool:
    """Whether a run has the same detail in both, and unless in full as many tokens and lines of notes."""
    if was != now or (was != "full" and run.was != run.now):
        return False
    before, after = lines
    return all(before.get(seq) == after.get(seq) for seq in range(run.first, run.last + 1))


def _noted(manifest: Manifest) -> Mapping[int, int]:
    """By message, the number of lines that notes have of it."""
    return Counter(seq for note in manifest.notes for line in note.lines for seq in line)


def _more(runs: Sequence[Changed]) -> int:
    """Tokens that these messages have more in the second window; negative for fewer."""
    return sum(run.now - run.was for run in runs)


def _check(state: SessionState, manifests: Sequence[Manifest], numbers: tuple[int, int]) -> None:
    """Refuse builds of a branch that the session has left: the store returns only current messages."""
    here = str(state.log.head.branch)
    for manifest, number in zip(manifests, numbers, strict=True):
        if manifest.record.get("branch", here) != here:
            raise NotFoundError(
                f"the history was edited after build {number}: its positions are those of the branch that "
                "was left",
                remedy="name two builds from after the edit; `explain` shows this one",
            )


def _side(record: BuildRecord, manifest: Manifest) -> Side:
    return Side(
        build=record.number,
        preset=record.preset,
        model=record.model,
        budget=record.budget,
        tokens=record.tokens,
        parts=manifest.parts,
        notes=manifest.notes,
    )


def _runs(entries: Sequence[Entry], before: Manifest, after: Manifest) -> Iterator[Changed]:
    """The messages of either build, in runs that end where a decision of either build ends."""
    stops = sorted({decision.last + 1 for each in (before, after) for decision in each.decisions})
    sums = (0, *accumulate(entry.tokens for entry in entries))
    first, indexes = 0, [0, 0]
    for stop in stops:
        now = [_at(each.decisions, at) for each, at in zip((before, after), indexes, strict=True)]
        tokens = [_tokens(decision, first, stop, sums) for decision in now]
        yield Changed(
            first=first,
            last=stop - 1,
            ids=tuple(entry.id for entry in entries[first:stop]),
            tokens=sums[stop] - sums[first],
            was=tokens[0],
            now=tokens[1],
            before=now[0],
            after=now[1],
        )
        indexes = [at + (d is not None and d.last < stop) for at, d in zip(indexes, now, strict=True)]
        first = stop


def _tokens(decision: Decision | None, first: int, stop: int, sums: Sequence[int]) -> int:
    """The share of a decision's tokens for some of its messages, by size; shares add up to the whole."""
    if decision is None or decision.verdict != "kept":
        return 0
    start, whole = sums[decision.first], sums[decision.last + 1] - sums[decision.first]
    if not whole:
        return decision.tokens if stop > decision.last else 0
    return decision.tokens * (sums[stop] - start) // whole - decision.tokens * (sums[first] - start) // whole


def _at(decisions: Sequence[Decision], index: int) -> Decision | None:
    return decisions[index] if index < len(decisions) else None


def _shown(decision: Decision | None) -> str:
    """The detail in which it is in the window; empty if it is not."""
    return decision.detail if decision and decision.verdict == "kept" else ""


def diff_lines(found: Diff) -> Iterator[Line]:
    """The text of a diff, line by line."""
    yield Line(f"build {found.a.build} → {found.b.build}", "title")
    for name in ("preset", "model", "budget", "tokens"):
        values = getattr(found.a, name), getattr(found.b, name)
        yield from [Line(_step(name, *values))] * any(values)
    parts = dict.fromkeys((*found.a.parts, *found.b.parts))
    for part in parts:
        yield Line(_step(f"  {part}", found.a.parts.get(part, 0), found.b.parts.get(part, 0)))
    yield from _notes(found)
    looks: tuple[tuple[str, Sequence[Changed], Look], ...] = (
        ("entered", found.entered, "kept"),
        ("left", found.left, "left out"),
        ("in other detail", found.changed, ""),
    )
    for title, runs, look in looks:
        yield from _section(title, runs, look)
    yield Line("")
    yield Line(f"in both alike: {found.stayed:,} message{'s' * (found.stayed != 1)}")
    if found.beside:
        yield Line(f"everything else: {found.beside:+,} tokens")


def _notes(found: Diff) -> Iterator[Line]:
    """The notes of both windows, where they differ."""
    if found.a.notes == found.b.notes:
        return
    for name, side in (("was", found.a), ("is", found.b)):
        for note in side.notes:
            yield Line(f"  {name} {note_title(note)}: {note_size(note)}")


def _step(name: str, before: object, after: object) -> str:
    was, now = (f"{value:,}" if isinstance(value, int) else str(value) for value in (before, after))
    return f"{name:<12}{was}" if before == after else f"{name:<12}{was} → {now}"


def _section(title: str, runs: Sequence[Changed], look: Look) -> Iterator[Line]:
    """The runs grouped by the codes of their reasons, so that each pair is printed once."""
    if not runs:
        return
    yield Line("")
    yield Line(f"{title}: {_size(runs)}", "title")
    groups: dict[tuple[object, object], list[Changed]] = {}
    for run in runs:
        groups.setdefault((_kind(run.before), _kind(run.after)), []).append(run)
    largest = sorted(groups.items(), key=lambda pair: -sum(run.was + run.now for run in pair[1]))
    for _, group in largest[:GROUPS]:
        positions = ", ".join(map(_positions, group))
        was, now = _reason([run.before for run in group]), _reason([run.after for run in group])
        texts = (f"  {positions}: {_size(group)}", f"    was {was}", f"    is {now}")
        for text in texts:
            indent = " " * (len(text) - len(text.lstrip()) + 2)
            yield from (Line(each, look) for each in wrap(text, WIDTH, subsequent_indent=indent))
    if rest := [run for _, group in largest[GROUPS:] for run in group]:
        yield Line(f"  and {_size(rest)} more", look)


def _size(runs: Sequence[Changed]) -> str:
    messages = sum(len(run.ids) for run in runs)
    return f"{messages:,} message{'s' * (messages != 1)}, {_more(runs):+,} tokens"


def _positions(run: Changed) -> str:
    return f"{run.first + 1}" if run.first == run.last else f"{run.first + 1}–{run.last + 1}"


def _kind(decision: Decision | None) -> tuple[str, Code] | None:
    return (_shown(decision), decision.code) if decision else None


def _reason(decisions: Sequence[Decision | None]) -> str:
    """The reason that decisions of one kind share; what their code says if they have different ones."""
    known = [decision for decision in decisions if decision]
    if not known:
        return "not there yet"
    sentences = {decision.brief or decision.because for decision in known}
    sentence = sentences.pop() if len(sentences) == 1 else SENTENCES[known[0].code]
    return f"{_shown(known[0]) or 'out'}: {sentence}"
