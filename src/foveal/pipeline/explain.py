"""Render a manifest as text for a terminal of 80 columns.

The library and every surface share this rendering: lines of text, each with its role, so that a surface may
colour them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, zip_longest
from textwrap import wrap
from typing import Literal, NamedTuple

from foveal.pipeline.sensitivity import Cut, nearest, worth
from foveal.pipeline.summarize.notes import message_range
from foveal.window import Contributed, Cost, Costs, Decision, Manifest, Slot, WindowNote

WIDTH = 80
NEAR_MOST = 12
"""Left-out decisions that are listed one by one: the nearest to the cut."""

TYPE_MOST = 15
"""Characters of a piece of material's type."""
BECAUSE_LEAST = 20
"""The least width of the reason column; other columns are clipped to leave it."""
REASON_LEAST = 16
"""The same for a table whose columns cannot be clipped."""

Look = Literal["", "title", "kept", "left out"]


class Line(NamedTuple):
    text: str
    look: Look = ""


class Row(NamedTuple):
    """One row of the table: a decision, or the sum of several with the same reason."""

    decision: Decision
    runs: int = 1
    """The number of separate runs of messages that it sums up."""
    messages: int = 1


def explain(manifest: Manifest, *, width: int = WIDTH) -> str:
    """Tokens by part, the decisions with their reasons, the plan, what was repaired."""
    return "\n".join(line.text for line in lines(manifest, width=width))


def lines(manifest: Manifest, *, width: int = WIDTH) -> Iterator[Line]:
    """The explanation line by line, none longer than the width."""
    share = 100 * manifest.tokens / manifest.budget
    yield from _wrapped(
        f"{manifest.tokens:,} of {manifest.budget:,} tokens ({share:.0f}%), "
        f"preset {manifest.preset}, counted with {manifest.counter}",
        width,
    )
    yield from _wrapped(_listed(manifest.parts.items()), width, indent="  ")
    for name, text in spent(manifest.costs):
        yield from _wrapped(f"{name}: {text}", width, indent="  ", hanging="  ")
    if manifest.share:
        yield from _wrapped(f"share: {manifest.share.because}", width, indent="  ", hanging="  ")
    for note in manifest.notes:
        yield from _wrapped(f"{note_title(note)}: {note_size(note)}", width, indent="  ", hanging="  ")
    yield Line("")
    yield from _decisions(manifest, width)
    yield from _material(manifest.contributed, width)
    yield from _plan(manifest.slots)
    yield from _notes(manifest, width)


def note_title(note: WindowNote) -> str:
    """What a note is, by the messages it covers or precedes.

    >>> note_title(WindowNote(kind="log", position=338, first=2, last=337, tokens=4_210))
    'log of messages 3–338'
    """
    if note.kind == "log":
        return f"log of {message_range(note.first, note.last)}"
    return f"passages before message {note.position + 1}"


def note_size(note: WindowNote) -> str:
    """Its tokens, its lines, and how many messages these come from."""
    lines, messages = len(note.lines), len(note.messages)
    if not lines:
        return f"{note.tokens:,} tokens, from {message_range(note.first, note.last)}"
    return f"{note.tokens:,} tokens, {lines:,} lines from {messages:,} message{'s' * (messages != 1)}"


def spent(costs: Costs | None) -> Iterator[tuple[str, str]]:
    """What windows cost and save if each is sent once, by name; nothing for a window without a session."""
    if costs is None:
        return
    yield "managed", _cost(costs.managed)
    yield "unmanaged", _cost(costs.unmanaged)
    # A short history with attached context costs more than the history alone: a percentage says nothing.
    amount = "" if costs.saved is None else f", {_dollars(costs.saved)}"
    yield "saved", f"{round(costs.percent)}%{amount}" if costs.percent >= 0 else "nothing: it costs more"
    if costs.billed:
        yield "billed", _cost(costs.billed)


def _cost(cost: Cost) -> str:
    requests = f" in {cost.requests:,} requests" if cost.requests != 1 else ""
    cached = f", {cost.cached:,} cached" if cost.cached else ""
    amount = "" if cost.dollars is None else f", {_dollars(cost.dollars)}"
    return f"{cost.tokens:,} tokens{requests}{cached}{amount}"


def _dollars(amount: float) -> str:
    """With enough digits to distinguish small amounts."""
    sign = "-" if amount < 0 else ""
    return f"{sign}${abs(amount):,.2f}" if abs(amount) >= 10 else f"{sign}${abs(amount):.4f}"


def _decisions(manifest: Manifest, width: int) -> Iterator[Line]:
    """Everything that is in, and the nearest of what is not, in the order of the conversation."""
    cut, planned = Cut(manifest), {slot.name for slot in manifest.slots}
    rows = list(_rows(manifest.decisions))
    out = nearest([row.decision for row in rows if row.decision.verdict == "left out"])
    hidden = {each.first for each in (out[NEAR_MOST:] if len(out) > NEAR_MOST + 1 else ())}
    shown = [row for row in rows if row.decision.first not in hidden]
    rest = [row for row in rows if row.decision.first in hidden]
    table = [_cells(row, cut, planned) for row in shown]
    titles = ("messages", "verdict", "tokens", "score", "slot", "because")
    # Empty columns are omitted.
    used = [
        at for at, title in enumerate(titles) if title == "because" or any(row[at] != [""] for row in table)
    ]
    widths = [max(len(cell) for cell in [titles[at], *_flat(row[at] for row in table)]) for at in used[:-1]]
    widths.append(max(REASON_LEAST, width - sum(widths) - 2 * len(widths)))
    right = [titles[at] in ("messages", "tokens", "score") for at in used]
    yield Line(next(_block([[titles[at]] for at in used], widths, right)), "title")
    for row, cells in zip(shown, table, strict=True):
        reason = [line for text in cells[-1] for line in wrap(text, widths[-1])]
        for text in _block([*(cells[at] for at in used[:-1]), reason], widths, right):
            yield Line(text, row.decision.verdict)
    if rest:
        yield from (Line(line.text, "left out") for line in _wrapped(_further(rest, cut), width))


def _rows(decisions: Sequence[Decision]) -> Iterator[Row]:
    """Runs with the same reason as one row; reasons without what other columns show."""
    if any(map(worth, decisions)):
        runs = list(map(terse, merged(decisions)))
    else:
        runs = list(merged(map(terse, decisions)))
    alike: dict[object, list[Decision]] = {}
    for run in runs:
        # A message that is in verbatim, or was scored and left out, keeps a row at its position.
        apart = run.detail != "folded" and (run.verdict == "kept" or worth(run) is not None)
        alike.setdefault((run.first if apart else None, *_reason(run)), []).append(run)
    return (_row(each) for each in alike.values())


def _row(runs: Sequence[Decision]) -> Row:
    messages = sum(run.last - run.first + 1 for run in runs)
    return Row(decision=_sum(runs), runs=len(runs), messages=messages)


def terse(decision: Decision) -> Decision:
    """The decision with a reason that leaves out what other columns show."""
    return replace(decision, because=decision.brief or decision.because)


def _cells(row: Row, cut: Cut, planned: set[str]) -> list[list[str]]:
    """The cells of each column, line by line; the last one is wrapped once its width is known."""
    found, apart = row.decision, row.runs > 1
    score = worth(found) if found.detail != "folded" else None
    where = f"{row.messages} of {place(found)}" if apart else place(found)
    verdict = found.detail if found.verdict == "kept" and found.detail != "full" else found.verdict
    slots = [name for name in found.slot.split(", ") if name in planned]
    because = [found.because, *filter(None, [_flags(found), "" if apart else cut.keeps(found)])]
    cells = (where, verdict, f"{found.tokens:,}", cut.score(score.total) if score else "")
    return [*([cell] for cell in cells), slots or [""], because]


def _flags(decision: Decision) -> str:
    return ", ".join(decision.flags).replace("_", " ")


def _block(cells: Sequence[Sequence[str]], widths: Sequence[int], right: Sequence[bool]) -> Iterator[str]:
    """One row of a table, on as many lines as its longest cell needs."""
    for parts in zip_longest(*cells, fillvalue=""):
        padded = zip(parts, widths, right, strict=True)
        yield "  ".join(
            part.rjust(size) if flush else part.ljust(size) for part, size, flush in padded
        ).rstrip()


def _further(rest: Sequence[Row], cut: Cut) -> str:
    """The rows that are not listed, in one sentence."""
    messages, tokens = sum(row.messages for row in rest), sum(row.decision.tokens for row in rest)
    scores = [score.total for row in rest if (score := worth(row.decision))]
    text = f"and {messages:,} more messages left out, {tokens:,} tokens"
    if not scores:
        return text
    # A stored manifest has scores only for the nearest.
    least = f"{cut.score(min(scores))} to" if len(scores) == len(rest) else "up to"
    return f"{text}, scores {least} {cut.score(max(scores))}"


def _material(contributed: Sequence[Contributed], width: int) -> Iterator[Line]:
    """Attached context that is in, and the nearest that is not, with weight and salience."""
    if not contributed:
        return
    contributed, more = _nearest_material(contributed)
    worth = [f"{each.weight:.2f} × {each.salience:.2f}" for each in contributed]
    tokens = [f"{each.tokens:,}" for each in contributed]
    types = [_clipped(each.type, TYPE_MOST) for each in contributed]
    rest = sum(max(map(len, cells)) for cells in (types, ["tokens", *tokens], worth)) + 2 * 4 + BECAUSE_LEAST
    sources = [_called(each, max(8, width - rest)) for each in contributed]
    rows = list(zip(types, sources, tokens, worth, strict=True))
    heads = [["type"], ["source"], ["tokens"], ["weight ×", "salience"], ["because"]]
    columns = zip(heads[:-1], zip(*rows, strict=True), strict=True)
    widths = [max(map(len, (*head, *cells))) for head, cells in columns]
    widths.append(max(BECAUSE_LEAST, width - sum(widths) - 2 * len(widths)))
    right = (False, False, True, True, False)
    yield from (Line(text) for text in ("", "attached context:"))
    yield from (Line(text, "title") for text in _block(heads, widths, right))
    for each, row in zip(contributed, rows, strict=True):
        verdict = "in" if each.verdict == "kept" else "left out"
        because = each.because if each.brief is None else each.brief
        reason = wrap(": ".join(filter(None, (verdict, because))), widths[-1])
        for text in _block([*([cell] for cell in row), reason], widths, right):
            yield Line(text, each.verdict)
    if more:
        yield Line(f"… {more:,} more left out", "left out")


def _nearest_material(contributed: Sequence[Contributed]) -> tuple[Sequence[Contributed], int]:
    """The pieces that are shown, in their order, and how many are not."""

    def distance(at: int) -> tuple[bool, float]:
        # Contributors that failed have no tokens; readers look for them here, so they come first.
        return contributed[at].tokens > 0, -contributed[at].weight * contributed[at].salience

    out = sorted((at for at, each in enumerate(contributed) if each.verdict != "kept"), key=distance)
    rest = frozenset(out[NEAR_MOST:] if len(out) > NEAR_MOST + 1 else ())
    return [each for at, each in enumerate(contributed) if at not in rest], len(rest)


def _called(each: Contributed, most: int) -> str:
    """Its title, else its source, of which the end says most."""
    return _clipped(each.title, most) if each.title else _clipped(each.source, most, ending=True)


def _clipped(text: str, most: int, *, ending: bool = False) -> str:
    """The beginning of a text, or its end as for paths; nothing in it may break a line."""
    plain = "".join(sign if sign.isprintable() else "·" for sign in text)
    if len(plain) <= most:
        return plain
    return f"…{plain[1 - most :]}" if ending else f"{plain[: most - 1]}…"


def _plan(slots: Sequence[Slot]) -> Iterator[Line]:
    """The slots that were allotted anything or asked for it."""
    names = ("floor", "ideal", "ceiling", "allotted", "used", "borrowed")
    rows = [(slot.name, [getattr(slot, name) for name in names]) for slot in slots]
    rows = [(name, numbers) for name, numbers in rows if any(numbers)]
    if not rows:
        return
    table = [["slot", *names], *([name, *(f"{number:,}" for number in found)] for name, found in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    yield Line("")
    for at, row in enumerate(table):
        cells = [[cell] for cell in row]
        (text,) = _block(cells, widths, [False, *(True for _ in names)])
        yield Line(text, "" if at else "title")


def _notes(manifest: Manifest, width: int) -> Iterator[Line]:
    """Conflicts, metrics, retrieved messages, repairs and warnings, if any."""
    kinds = [conflict.type.replace("_", " ") for conflict in manifest.conflicts]
    texts = []
    if kinds:
        by_kind = _listed((kind, kinds.count(kind)) for kind in dict.fromkeys(kinds))
        texts.append(f"conflicts: {len(kinds):,}, {by_kind}")
    if manifest.metrics:
        texts.append("metrics: " + _listed((n.replace("_", " "), v) for n, v in manifest.metrics.items()))
    texts += [
        f"retrieved {message_range(each.first, each.last)}: {each.because}" for each in manifest.retrieved
    ]
    texts += [f"repaired message {repair.seq + 1}: {repair.what}" for repair in manifest.repairs]
    texts += [f"warning: {warning}" for warning in manifest.warnings]
    if texts and manifest.slots:
        yield Line("")
    for text in texts:
        yield from _wrapped(text, width, hanging="  ")


def detail(
    manifest: Manifest,
    seq: int,
    *,
    otherwise: str = "",
    quoted: Sequence[str] = (),
    width: int = WIDTH,
) -> Iterator[Line]:
    """The decision about one message in full: its score by part, and what would have changed it.

    `otherwise`: the latter, from a caller that knows more than the manifest.
    `quoted`: the lines that notes have of the message, from a caller that has them.
    """
    found = decision_about(manifest, seq)
    if found is None:
        return
    cut, score = Cut(manifest), worth(found)
    together = "" if found.first == found.last else f" for {message_range(found.first, found.last)} together"
    rows = [
        ("verdict", found.verdict if found.detail == "full" else f"{found.verdict}, {found.detail}"),
        ("because", found.because),
        ("else", otherwise or cut.keeps(found)),
        ("tokens", f"{found.tokens:,}{together}"),
        ("slot", found.slot),
        ("flags", _flags(found)),
        ("score", cut.score(score.total) if score else ""),
        *(("note", text) for text in _lines_of(manifest, seq)),
    ]
    yield Line(f"message {seq + 1}, preset {manifest.preset}", "title")
    for name, text in rows:
        for at, piece in enumerate(wrap(text, width - 9)):
            yield Line(f"{'' if at else name:<9}{piece}", found.verdict if name == "verdict" else "")
    yield from _parts(score.parts.items() if score else (), cut)
    for text in quoted:
        yield from (Line(f"{'':<9}{piece}") for piece in wrap(text, width - 9, subsequent_indent="  "))


def _lines_of(manifest: Manifest, seq: int) -> Iterator[str]:
    """The lines that notes have of a message, counted from 1."""
    for note in manifest.notes:
        if at := note.lines_of(seq):
            runs = ", ".join(_span(run[0] + 1, run[-1] + 1) for run in _runs(at))
            yield f"line{'s' * (len(at) > 1)} {runs} of the {note_title(note)}"


def _runs(numbers: Sequence[int]) -> Iterator[list[int]]:
    """Numbers that follow each other, together."""
    for _, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        yield [number for _, number in group]


def _span(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first}–{last}"


def _parts(parts: Iterable[tuple[str, float]], cut: Cut) -> Iterator[Line]:
    """The parts of a score, largest first."""
    rows = [(name.replace("_", " "), cut.score(value)) for name, value in sorted(parts, key=lambda p: -p[1])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        (text,) = _block([[cell] for cell in row], widths, [False, True])
        yield Line(f"{'':<9}{text}")


def decision_about(manifest: Manifest, seq: int) -> Decision | None:
    """The decision that covers a position of the history."""
    return next((d for d in manifest.decisions if d.first <= seq <= d.last), None)


def place(decision: Decision) -> str:
    """The positions of its messages, counted from 1."""
    return _span(decision.first + 1, decision.last + 1)


def merged(decisions: Iterable[Decision]) -> Iterator[Decision]:
    """Neighbours with the same verdict, detail, reason and flags as one decision with what they share."""
    for _, group in groupby(decisions, key=_reason):
        yield _sum(list(group))


def _sum(run: Sequence[Decision]) -> Decision:
    """Several decisions as one, with what they share."""
    first = run[0]
    if len(run) == 1:
        return first
    return replace(
        first,
        last=run[-1].last,
        tokens=sum(each.tokens for each in run),
        score=first.score if all(each.score == first.score for each in run) else None,
        slot=first.slot if all(each.slot == first.slot for each in run) else "",
    )


def _reason(decision: Decision) -> tuple[str, str, str, str, tuple[str, ...]]:
    return decision.verdict, decision.detail, decision.code, decision.because, decision.flags


def _listed(pairs: Iterable[tuple[str, float]]) -> str:
    return ", ".join(f"{name} {_number(value)}" for name, value in pairs)


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def _wrapped(text: str, width: int, *, indent: str = "", hanging: str = "") -> Iterator[Line]:
    for line in wrap(text, width, initial_indent=indent, subsequent_indent=indent + hanging):
        yield Line(line)


def _flat(cells: Iterable[Sequence[str]]) -> Iterator[str]:
    for cell in cells:
        yield from cell
