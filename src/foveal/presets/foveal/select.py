"""Select full detail for the newest turns and excerpts of earlier ones, with a stable prefix between builds.

    keep     while it fits, keep the layout of the previous build and append new turns in full
    whole    if everything fits, show everything
    refocus  else show the newest turns in full, and one note with the most valuable snippets of earlier ones

Between refocuses a window begins with the bytes of the previous one: providers bill a repeated prefix at a
tenth. A refocus reduces the window to the low-water mark in one step, so that it is rare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from foveal.model import Chunk, ToolCall
from foveal.pipeline.history import History, is_system
from foveal.pipeline.signals import names_in
from foveal.pipeline.values import Layout, Scene, Selection, cache_expired
from foveal.presets.foveal.digest import Digest, DigestNumbers, Surroundings, choose, note_text
from foveal.presets.foveal.retrieve import (
    newest_request,
    relevant_turns,
    retrieval_query,
    retrieve,
    still_relevant,
    task_hash,
)
from foveal.presets.foveal.snippets import Snippet, snippets
from foveal.presets.foveal.watermarks import Course, MarkNumbers, high_mark, marks
from foveal.window import Score


@dataclass(frozen=True, slots=True, kw_only=True)
class FovealNumbers:
    """Every number of the default preset. Shares are of the message budget, unless stated otherwise."""

    marks: MarkNumbers = field(default_factory=MarkNumbers)
    """When a window is refocused, and to which size."""
    near_share: float = 0.1
    """For the newest turns in full; share of the size after a refocus."""
    asked_share: float = 0.3
    """The user's newest request stays in full up to this share of the room beside the fixed turns."""
    gist_share: float = 0.2
    """Reserved in the note for how the user's requests and the model's decisions begin."""
    reach: float = 8.0
    """How far back excerpts may come from, in message budgets; the user's first request always may."""
    asked_for_share: float = 0.05
    """For messages retrieved for a new request."""
    task_share: float = 1.0
    """For turns relevant to a task, in full, in a window built for it; share of the size after a refocus."""
    worth: DigestNumbers = field(default_factory=DigestNumbers)


def select_turns(
    history: History, fixed: Mapping[int, Chunk], room: int, scene: Scene, *, numbers: FovealNumbers
) -> Selection:
    """Keep the previous layout and append what is new; if that is too much, refocus."""
    messages = {turn: chunk.tokens for turn, chunk in fixed.items() if not is_system(chunk)}
    build = _Build(
        history=history,
        fixed=fixed,
        room=room,
        scene=scene,
        numbers=numbers,
        open_turn=max(messages),
        message_budget=room + sum(messages.values()),
    )
    return _keep_layout(build) or _keep_everything(build) or _refocus(build)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Build:
    """The input of one build."""

    history: History
    fixed: Mapping[int, Chunk]
    room: int
    """Tokens available beside the fixed turns."""
    scene: Scene
    numbers: FovealNumbers
    open_turn: int
    message_budget: int
    """Tokens available for messages: the room, and the fixed turns other than system prompts."""

    def turns(self, start: int) -> Iterator[int]:
        """The turns between `start` and the open one that are not fixed and can be shown, newest first."""
        for turn in range(self.open_turn - 1, start - 1, -1):
            if turn in self.fixed or self.history.absence(turn) or not self.history.chunk(turn).messages:
                continue
            yield turn

    @property
    def course(self) -> Course:
        turns = len(self.history)
        return Course(room=self.message_budget, growth=self.history.tokens / max(1, turns), turns=turns)

    @property
    def high(self) -> int:
        """Tokens above which the window is refocused; the message budget if no window follows."""
        rates, layout = self.scene.rates, self.scene.layout
        if rates is None:
            return self.message_budget
        cold = layout is not None and cache_expired(layout.used_at, self.scene.now, rates.seconds)
        return high_mark(self.course, rates, self.numbers.marks, cold=cold)

    @property
    def low(self) -> int:
        """Tokens that a refocus reduces the window to; the message budget if no window follows."""
        rates = self.scene.rates
        return marks(self.course, rates, self.numbers.marks).low if rates else self.message_budget

    def tokens(self, turns: Mapping[int, Chunk]) -> int:
        """What these turns cost beside the fixed ones, including the notes where turns are left out."""
        chunks = {**self.fixed, **turns}
        joints = sum(self.history.notes_needed([chunks[turn] for turn in sorted(chunks)]))
        return sum(chunk.tokens for chunk in turns.values()) + self.history.note_tokens * joints


def _keep_layout(build: _Build) -> Selection | None:
    """The previous layout with new turns appended; None if it does not apply or has become too large."""
    layout, history, scene = build.scene.layout, build.history, build.scene
    if layout is None or layout.message_budget != build.message_budget:
        return None
    if build.fixed[build.open_turn].detail != "full":
        return None
    if layout.length > len(history.entries):  # an earlier build is being repeated
        return None
    request, task = newest_request(history, layout.length), task_hash(scene.task)
    if task != layout.task_hash and request is None:  # another task without a new request is another window
        return None
    earlier = layout.earlier or _earlier(history, layout)
    shown = dict(earlier)
    for turn in build.turns(history.turn_of(layout.full_from)):
        shown[turn] = history.chunk(turn)
    left = build.room - (build.message_budget - build.high) - build.tokens(shown)
    left -= sum(each.note.tokens for each in layout.retrieved)
    if left < 0:
        return None
    kept = replace(layout, task_hash=task, length=len(history.entries), used_at=scene.now, earlier=earlier)
    if request is not None:
        kept = replace(kept, relevant=() if task else scene.relevant)
    if request is not None and scene.relevant:
        most = min(left // 2, int(build.numbers.asked_for_share * build.message_budget))
        note = retrieve(history, {**shown, **build.fixed}, request, scene, most)
        if note:  # it changes the decisions about the messages it has
            kept = replace(kept, retrieved=(*layout.retrieved, note), decisions=(), decided_until=0)
    return _selection(build, shown, kept)


def _earlier(history: History, layout: Layout) -> dict[int, Chunk]:
    """By turn, what the layout shows before `full_from`."""
    earlier = {turn: history.chunk(turn) for turn in map(history.turn_of, layout.kept)}
    if layout.note:
        earlier[history.turn_of(layout.note.first)] = layout.note
    return earlier


def _keep_everything(build: _Build) -> Selection | None:
    """All turns in full, if they fit."""
    shown: dict[int, Chunk] = {}
    spent = 0
    for turn in build.turns(0):
        shown[turn] = build.history.chunk(turn)
        spent += shown[turn].tokens
        if spent > build.room:
            return None
    if build.tokens(shown) > build.room:
        return None
    return _selection(build, shown, _layout(build, 0, shown, None, ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A refocused window."""

    shown: Mapping[int, Chunk]
    layout: Layout
    digest: Digest = field(default_factory=Digest)


def _refocus(build: _Build) -> Selection:
    """The newest turns in full and a note of the earlier ones, within the low-water mark."""
    # The first window for a task answers one question and leaves no room for further turns.
    _, new_task = retrieval_query(build.history, build.scene.task, build.scene.layout)
    low = build.message_budget if new_task else build.low
    most = build.room - (build.message_budget - low)
    newest = int(build.numbers.near_share * low)
    draft = _draft(build, newest, most)
    spare = most - build.tokens(draft.shown)
    # If the snippets do not fill the note, use the rest for more turns in full; often it is less than a turn.
    more = max(newest, build.fixed[build.open_turn].tokens) + spare
    if spare > 0 and len(_newest_turns(build, more)) > len(_newest_turns(build, newest)):
        draft = _draft(build, more, most)
    return _selection(build, draft.shown, draft.layout, draft.digest)


def _draft(build: _Build, newest: int, most: int) -> _Draft:
    """The newest turns within `newest` tokens, the user's newest request, and a note of earlier turns."""
    history = build.history
    shown = _newest_turns(build, newest)
    first = min(shown, default=build.open_turn)
    request = _earlier_request(build, first)
    if request is not None:
        with_request = {**shown, request: history.chunk(request)}
        if build.tokens(with_request) <= build.numbers.asked_share * build.room:
            shown = with_request
    shown = _with_relevant(build, shown, most)
    start = _first_excerpted(build, first)
    old = [turn for turn in build.turns(start) if turn < first and turn not in shown]
    if not old:
        return _Draft(shown=shown, layout=_layout(build, first, shown, None, ()))
    place = max((turn for turn in old if request is None or turn < request), default=old[0])
    note, digest = _write_note(build, shown, old, place, most)
    layout = _layout(build, first, shown, note, digest.chosen)
    return _Draft(
        shown={**shown, place: note} if note else shown,
        layout=replace(layout, excerpts_from=history.span(start)[0]),
        digest=digest,
    )


def _newest_turns(build: _Build, most: int) -> dict[int, Chunk]:
    """The newest turns in full without a gap, within `most` tokens together with the open turn."""
    found: dict[int, Chunk] = {}
    spent = build.fixed[build.open_turn].tokens
    for turn in build.turns(0):
        chunk = build.history.chunk(turn)
        spent += chunk.tokens
        if spent > most:
            break
        found[turn] = chunk
    while found and build.tokens(found) > build.room:  # the notes between them do not fit
        del found[min(found)]
    return found


def _earlier_request(build: _Build, first: int) -> int | None:
    """The turn of the user's newest request, if it is before the turn `first`."""
    history, turn = build.history, build.history.latest_request(build.open_turn)
    while turn is not None and turn < first and (turn in build.fixed or not history.chunk(turn).messages):
        turn = history.latest_request(turn - 1)
    return turn if turn is not None and turn < first else None


def _with_relevant(build: _Build, shown: dict[int, Chunk], most: int) -> dict[int, Chunk]:
    """The turns shown, and within their share those relevant to the task or the request."""
    relevant, numbers = _relevant(build), build.numbers
    if not relevant:
        return shown
    _, for_task = retrieval_query(build.history, build.scene.task)
    share = numbers.task_share if for_task else numbers.asked_for_share
    room = min(int(share * most), most - build.tokens(shown))
    found = relevant_turns(build.history, {**shown, **build.fixed}, relevant, room)
    while found and build.tokens({**shown, **found}) > most:  # the notes between them do not fit
        found.popitem()
    return {**shown, **found}


def _relevant(build: _Build) -> tuple[int, ...]:
    """Positions of messages relevant to the task or the request, whether they fit or not."""
    scene = build.scene
    return scene.relevant or still_relevant(build.history, scene.layout, scene.task, build.message_budget)


def _first_excerpted(build: _Build, first: int) -> int:
    """The earliest turn that the note may have snippets of, apart from the user's first request."""
    history = build.history
    end = history.span(first)[0]
    least = history.sums[end] - build.numbers.reach * build.message_budget
    turn = first
    while turn > 0 and history.sums[history.span(turn - 1)[0]] >= least:
        turn -= 1
    return turn


def _write_note(
    build: _Build, shown: Mapping[int, Chunk], old: Sequence[int], place: int, most: int
) -> tuple[Chunk | None, Digest]:
    """The note about the old turns, in place of one of them; within `most` tokens with the turns shown."""
    history, reader = build.history, _Reader(build.scene.count)
    turns = (*_first_request(build, shown, min(old)), *reversed(old))
    found = [each for turn in turns for each in history.cached(turn, reader.snippets)]
    empty = history.folded(place, note_text(()))
    room = max(most, min(build.room, 0)) - build.tokens({**shown, place: empty})
    digest = choose(
        found,
        room,
        numbers=build.numbers.worth,
        surroundings=_surroundings(build, reader, shown, old),
    )
    chosen = list(digest.chosen)
    while chosen:
        note = history.folded(place, note_text(chosen), first=min(each.seq for each in chosen))
        over = build.tokens({**shown, place: note}) - most
        if over <= 0:
            return note, replace(digest, chosen=tuple(chosen))
        while over > 0 and chosen:
            over -= chosen.pop().tokens
    return None, Digest()


def _first_request(build: _Build, shown: Mapping[int, Chunk], end: int) -> Iterator[int]:
    """The turn of the user's first request, if it is before `end` and not shown: all later work serves it."""
    turn = build.history.first_request()
    if turn is None or turn >= end or turn in shown or turn in build.fixed:
        return
    if build.history.chunk(turn).messages:
        yield turn


def _surroundings(
    build: _Build, reader: _Reader, shown: Mapping[int, Chunk], old: Sequence[int]
) -> Surroundings:
    history = build.history
    known: set[str] = set()
    for turn, chunk in {**build.fixed, **shown}.items():
        if is_system(chunk):
            known.update(name for message in chunk.messages for name in names_in(message.text))
        else:
            known |= history.cached(turn, reader.names)
    used = (name for turn in build.turns(min(old)) for name in history.cached(turn, reader.used))
    end = history.sums[history.span(max(old))[1] + 1]
    return Surroundings(
        known=known,
        distance=lambda seq: (end - history.sums[seq + 1]) / max(1, build.message_budget),
        used=frozenset(used),
        gists=int(build.numbers.gist_share * build.message_budget),
    )


class _Reader:
    """Reads the snippets and names of a turn; `History.remembered` caches them until the turn changes."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count

    def snippets(self, history: History, turn: int) -> tuple[Snippet, ...]:
        first, last = history.span(turn)
        if history.stand_in(turn):
            messages = enumerate(history.chunk(turn).messages, last)
        else:
            messages = enumerate(history.read(first, last + 1), first)
        return tuple(each for seq, message in messages for each in snippets(message, seq, self._count))

    def names(self, history: History, turn: int) -> frozenset[str]:
        """The names in its snippets, which have their context; those in the arguments of calls do not."""
        return frozenset(name for each in history.cached(turn, self.snippets) for name in each.names)

    def used(self, history: History, turn: int) -> frozenset[str]:
        """The names that the model wrote into tool calls."""
        first, last = history.span(turn)
        parts = (part for message in history.read(first, last + 1) for part in message.parts)
        calls = (part.arguments for part in parts if isinstance(part, ToolCall))
        return frozenset(name for arguments in calls for name in names_in(arguments))


def _layout(
    build: _Build, first: int, shown: Mapping[int, Chunk], note: Chunk | None, chosen: Sequence[Snippet]
) -> Layout:
    history = build.history
    excerpts: dict[int, tuple[int, ...]] = {}
    for snippet in sorted(chosen, key=lambda each: (each.seq, each.number)):
        excerpts[snippet.seq] = (*excerpts.get(snippet.seq, ()), snippet.number)
    return Layout(
        message_budget=build.message_budget,
        full_from=history.span(first)[0],
        kept=tuple(history.span(turn)[0] for turn in sorted(shown) if turn < first),
        note=note,
        excerpts=excerpts,
        # Every turn may be relevant to a task: its layout stores those that are shown, in `kept`.
        relevant=() if build.scene.task.strip() else _relevant(build),
        task_hash=task_hash(build.scene.task),
        length=len(history.entries),
        used_at=build.scene.now,
    )


def _selection(
    build: _Build, shown: Mapping[int, Chunk], layout: Layout, digest: Digest | None = None
) -> Selection:
    """The selection for a layout; reasons that are among its decisions are not written again.

    `digest`: what was chosen for the note, if the window was refocused.
    """
    history, reasons, forms = build.history, {}, {}
    if layout.note:
        place = history.turn_of(layout.note.first)
        if not layout.decisions:
            reasons[place] = _note_reason(history, layout, place)
        forms[place] = layout.note
    return Selection(
        turns=tuple(sorted(shown)),
        because_in="in full: sent before, or newest" if layout.full_from else "everything fits",
        because_out="nothing of it is worth its tokens now",
        reasons=reasons,
        forms=forms,
        before={history.turn_of(each.position): each.note for each in layout.retrieved},
        folded={} if layout.decisions else _excerpt_reasons(history, layout),
        scores=_scores(history, digest) if digest else {},
        metrics={"refocused": 1.0, "marginal_value": digest.cut} if digest else {"refocused": 0.0},
        layout=layout,
    )


def _note_reason(history: History, layout: Layout, place: int) -> str:
    """What the note has: snippets of so many messages of the turns it covers."""
    spans = map(history.span, {place, *map(history.turn_of, layout.excerpts)})
    excerpted, messages = len(layout.excerpts), sum(last - first + 1 for first, last in spans)
    some = f"{excerpted:,} of " if excerpted < messages else ""
    return f"the note: snippets of {some}{messages:,} messages"


def _excerpt_reasons(history: History, layout: Layout) -> dict[int, str]:
    """By turn with excerpts in a note, which note that is."""
    reasons: dict[int, str] = {}
    if layout.note:
        reason = f"its turn is told in the note at message {layout.note.first + 1:,}"
        reasons = dict.fromkeys(map(history.turn_of, layout.excerpts), reason)
        reasons.pop(history.turn_of(layout.note.first), None)
    for each in layout.retrieved:
        reason = f"brought back before message {each.position + 1:,}, as relevant to it"
        reasons |= dict.fromkeys(map(history.turn_of, each.excerpts), reason)
    return reasons


def _scores(history: History, digest: Digest) -> dict[int, Score]:
    """By turn, the value of its excerpts."""
    values: dict[int, float] = {}
    for seq, value in digest.values.items():
        turn = history.turn_of(seq)
        values[turn] = values.get(turn, 0.0) + value
    return {turn: Score(total=value, parts={"told": value}) for turn, value in values.items()}
