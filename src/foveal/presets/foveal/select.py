"""A history and room in → full detail where the agent looks, less further out; and it holds still.

    still    the layout of the build before is kept and new turns are appended in full, while that fits
    whole    everything, where everything fits
    refocus  else the newest turns stay whole, and one note tells the most telling snippets of the others

Between refocuses a window begins with the one before, byte for byte: providers bill a repeated prefix at a
tenth. A refocus comes down to the low-water mark in one step, so that it is rare.

A turn of a history in → its snippets and its names, to be read once for as long as it stays as it is.

A layout that holds still in → in words, why what it tells in notes is told there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from foveal.model import Chunk, ToolCall
from foveal.pipeline.history import History, is_system
from foveal.pipeline.signals import names_in
from foveal.pipeline.values import Layout, Scene, Selection
from foveal.presets.foveal.digest import Beside, Digest, Worth, choose, note_text
from foveal.presets.foveal.recall import (
    Outside,
    brought_back,
    newest_request,
    retrieval_query,
    still_wanted,
    taken,
    task_hash,
)
from foveal.presets.foveal.snippets import Snippet, snippets
from foveal.presets.foveal.watermarks import Course, MarkNumbers, expired, high_mark, marks
from foveal.window import Score


class Reader:
    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count

    def read(self, history: History, turn: int) -> tuple[Snippet, ...]:
        first, last = history.span(turn)
        if history.stand_in(turn):
            messages = enumerate(history.chunk(turn).messages, last)
        else:
            messages = enumerate(history.read(first, last + 1), first)
        return tuple(each for seq, message in messages for each in snippets(message, seq, self._count))

    def used(self, history: History, turn: int) -> frozenset[str]:
        """The names the model wrote into its calls."""
        first, last = history.span(turn)
        parts = (part for message in history.read(first, last + 1) for part in message.parts)
        calls = (part.arguments for part in parts if isinstance(part, ToolCall))
        return frozenset(name for arguments in calls for name in names_in(arguments))

    def names(self, history: History, turn: int) -> frozenset[str]:
        """The names a turn tells with what stands beside them; a call's arguments are bare."""
        return frozenset(name for each in history.remembered(turn, self.read) for name in each.names)


def note_reason(history: History, layout: Layout, place: int) -> str:
    """What the note in the place of a turn holds: snippets of some messages of the turns it stands for."""
    spans = map(history.span, {place, *map(history.turn_of, layout.excerpts)})
    told, messages = len(layout.excerpts), sum(last - first + 1 for first, last in spans)
    some = f"{told:,} of " if told < messages else ""
    return f"the note: snippets of {some}{messages:,} messages"


def told_reasons(history: History, layout: Layout) -> dict[int, str]:
    """By turn that is told in a note, why it needs no place of its own."""
    told: dict[int, str] = {}
    if layout.note:
        why = f"its turn is told in the note at message {layout.note.first + 1:,}"
        told = dict.fromkeys(map(history.turn_of, layout.excerpts), why)
        told.pop(history.turn_of(layout.note.first), None)
    for each in layout.retrieved:
        why = f"brought back before message {each.position + 1:,}, as relevant to it"
        told |= dict.fromkeys(map(history.turn_of, each.excerpts), why)
    return told


@dataclass(frozen=True, slots=True, kw_only=True)
class FovealNumbers:
    """Every number of the default preset."""

    marks: MarkNumbers = field(default_factory=MarkNumbers)
    """When a window is refocused, and what it comes down to then."""
    near_share: float = 0.1
    """Of the low-water mark: the newest turns, whole."""
    asked_share: float = 0.3
    """Of the room: the newest words of the user stay whole up to this."""
    gist_share: float = 0.2
    """Of the room: what the user said and what was decided is told in it, before all else."""
    reach: float = 8.0
    """Rooms of tokens back: of what lies further, only what the user asked first is told."""
    asked_for_share: float = 0.05
    """Of the room: what has to do with the user's newest words and comes back when they are new."""
    task_share: float = 1.0
    """Of the room: turns that have to do with a task that was given, whole, in a window made for it."""
    worth: Worth = field(default_factory=Worth)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """What one build has to work with."""

    history: History
    fixed: Mapping[int, Chunk]
    room: int
    scene: Scene
    numbers: FovealNumbers
    opened: int
    """The open turn."""
    talk: int
    """Tokens for everything that is said: the room, and the fixed turns that are not the system's."""

    def turns(self, start: int) -> Iterator[int]:
        """The turns before the open one that may be in and are not fixed, newest first."""
        for turn in range(self.opened - 1, start - 1, -1):
            if turn in self.fixed or self.history.absence(turn) or not self.history.chunk(turn).messages:
                continue
            yield turn

    @property
    def course(self) -> Course:
        turns = len(self.history)
        return Course(room=self.talk, growth=self.history.tokens / max(1, turns), turns=turns)

    @property
    def high(self) -> int:
        """The high-water mark; everything there is where no window follows."""
        rates, layout = self.scene.rates, self.scene.layout
        if rates is None:
            return self.talk
        cold = layout is not None and expired(layout.used_at, self.scene.now, rates.seconds)
        return high_mark(self.course, rates, self.numbers.marks, cold=cold)

    @property
    def low(self) -> int:
        """The low-water mark, likewise."""
        rates = self.scene.rates
        return marks(self.course, rates, self.numbers.marks).low if rates else self.talk

    def tokens(self, turns: Mapping[int, Chunk]) -> int:
        """What these turns cost beside the fixed ones, notes of ours between them included."""
        chunks = {**self.fixed, **turns}
        joints = sum(self.history.joints([chunks[turn] for turn in sorted(chunks)]))
        return sum(chunk.tokens for chunk in turns.values()) + self.history.note_tokens * joints


def foveated(
    history: History, fixed: Mapping[int, Chunk], room: int, scene: Scene, *, numbers: FovealNumbers
) -> Selection:
    """Keep what was sent, append what is new; where that is too much, choose anew."""
    said = {turn: chunk.tokens for turn, chunk in fixed.items() if not is_system(chunk)}
    talk = room + sum(said.values())
    frame = _Frame(
        history=history,
        fixed=fixed,
        room=room,
        scene=scene,
        numbers=numbers,
        opened=max(said),
        talk=talk,
    )
    return _still(frame) or _whole(frame) or _refocused(frame)


def _still(frame: _Frame) -> Selection | None:
    layout, history = frame.scene.layout, frame.history
    if layout is None or layout.message_budget != frame.talk or frame.fixed[frame.opened].detail != "full":
        return None
    if layout.length > len(history.entries):  # a build of before is made again
        return None
    asked, task = newest_request(history, layout.length), task_hash(frame.scene.task)
    if task != layout.task_hash and asked is None:  # another task alone is another window
        return None
    past = layout.earlier or _past(history, layout)
    shown = dict(past)
    for turn in frame.turns(history.turn_of(layout.full_from)):
        shown[turn] = history.chunk(turn)
    left = frame.room - (frame.talk - frame.high) - frame.tokens(shown)
    left -= sum(each.note.tokens for each in layout.retrieved)
    if left < 0:
        return None
    brought = layout.retrieved
    if asked is not None and frame.scene.relevant:
        outside = Outside(history=history, shown={**shown, **frame.fixed})
        most = min(left // 2, int(frame.numbers.asked_for_share * frame.talk))
        brought = (*brought, *brought_back(outside, asked, frame.scene, most))
    made = replace(layout, task_hash=task, length=len(history.entries), used_at=frame.scene.now, earlier=past)
    if asked is not None:
        made = replace(made, relevant=() if task else frame.scene.relevant)
    if brought != layout.retrieved:  # what came back is decided anew
        made = replace(made, retrieved=brought, decisions=(), decided_until=0)
    return _selection(frame, shown, made)


def _past(history: History, layout: Layout) -> dict[int, Chunk]:
    """By turn, what is shown of those before the layout's first."""
    past = {turn: history.chunk(turn) for turn in map(history.turn_of, layout.kept)}
    if layout.note:
        past[history.turn_of(layout.note.first)] = layout.note
    return past


def _whole(frame: _Frame) -> Selection | None:
    shown: dict[int, Chunk] = {}
    spent = 0
    for turn in frame.turns(0):
        shown[turn] = frame.history.chunk(turn)
        spent += shown[turn].tokens
        if spent > frame.room:
            return None
    if frame.tokens(shown) > frame.room:
        return None
    return _selection(frame, shown, _layout(frame, 0, shown, None, ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A window chosen anew."""

    shown: Mapping[int, Chunk]
    layout: Layout
    digest: Digest = field(default_factory=Digest)


def _refocused(frame: _Frame) -> Selection:
    low = frame.talk if _for_a_new_task(frame) else frame.low
    most = frame.room - (frame.talk - low)
    near = int(frame.numbers.near_share * low)
    laid = _laid_out(frame, near, most)
    spare = most - frame.tokens(laid.shown)
    # Where too little is worth telling, what is left shows more turns whole; often it is less than a turn.
    nearer = max(near, frame.fixed[frame.opened].tokens) + spare
    if spare > 0 and len(_tail(frame, nearer)) > len(_tail(frame, near)):
        laid = _laid_out(frame, nearer, most)
    return _selection(frame, laid.shown, laid.layout, laid.digest)


def _for_a_new_task(frame: _Frame) -> bool:
    """Is it the first window for a task? Then it answers one question, and holds nothing back."""
    return retrieval_query(frame.history, frame.scene.task, frame.scene.layout)[1]


def _laid_out(frame: _Frame, near: int, most: int) -> _Draft:
    """The newest turns whole within `near` tokens, the user's newest words, and a note of what was before."""
    history = frame.history
    shown = _tail(frame, near)
    first = min(shown, default=frame.opened)
    asked = _asked(frame, first)
    if asked is not None:
        with_it = {**shown, asked: history.chunk(asked)}
        shown = with_it if frame.tokens(with_it) <= frame.numbers.asked_share * frame.room else shown
    shown = _with_relevant(frame, shown, most)
    reach = _reach(frame, first)
    old = [turn for turn in frame.turns(reach) if turn < first and turn not in shown]
    if not old:
        return _Draft(shown=shown, layout=_layout(frame, first, shown, None, ()))
    place = max((turn for turn in old if asked is None or turn < asked), default=old[0])
    note, digest = _noted(frame, shown, old, place, most)
    layout = replace(_layout(frame, first, shown, note, digest.chosen), excerpts_from=history.span(reach)[0])
    return _Draft(shown={**shown, place: note} if note else shown, layout=layout, digest=digest)


def _with_relevant(frame: _Frame, shown: dict[int, Chunk], most: int) -> dict[int, Chunk]:
    """The same turns and those that have to do with what the window is for, within their share."""
    wanted, numbers = _wanted(frame), frame.numbers
    if not wanted:
        return shown
    _, given = retrieval_query(frame.history, frame.scene.task)
    share = numbers.task_share if given else numbers.asked_for_share
    room = min(int(share * most), most - frame.tokens(shown))
    found = taken(Outside(history=frame.history, shown={**shown, **frame.fixed}), wanted, room)
    while found and frame.tokens({**shown, **found}) > most:  # notes of ours between them are too much
        found.popitem()
    return {**shown, **found}


def _wanted(frame: _Frame) -> tuple[int, ...]:
    """Positions of what has to do with what the window is for, whether it fits or not."""
    scene = frame.scene
    return scene.relevant or still_wanted(frame.history, scene.layout, scene.task, frame.talk)


def _tail(frame: _Frame, most: int) -> dict[int, Chunk]:
    """The newest turns whole, without a gap, the open one included in what they may cost."""
    found: dict[int, Chunk] = {}
    spent = frame.fixed[frame.opened].tokens
    for turn in frame.turns(0):
        chunk = frame.history.chunk(turn)
        spent += chunk.tokens
        if spent > most:
            break
        found[turn] = chunk
    while found and frame.tokens(found) > frame.room:  # notes of ours between them are too much
        del found[min(found)]
    return found


def _asked(frame: _Frame, first: int) -> int | None:
    """The turn of the user's newest words, where it lies before the newest turns."""
    history, asked = frame.history, frame.history.asked(frame.opened)
    while asked is not None and asked < first and (asked in frame.fixed or not history.chunk(asked).messages):
        asked = history.asked(asked - 1)
    return asked if asked is not None and asked < first else None


def _reach(frame: _Frame, first: int) -> int:
    """The first turn that snippets may be from."""
    history = frame.history
    end = history.span(first)[0]
    least = history.sums[end] - frame.numbers.reach * frame.talk
    turn = first
    while turn > 0 and history.sums[history.span(turn - 1)[0]] >= least:
        turn -= 1
    return turn


def _noted(
    frame: _Frame, shown: Mapping[int, Chunk], old: Sequence[int], place: int, most: int
) -> tuple[Chunk | None, Digest]:
    """The note for the old turns, at most `most` tokens with what is shown already."""
    history = frame.history
    reader = Reader(frame.scene.count)
    turns = (*_opening(frame, shown, min(old)), *reversed(old))
    found = [each for turn in turns for each in history.remembered(turn, reader.read)]
    known = _known(frame, reader, shown)
    bare = history.folded(place, note_text(()))
    room = max(most, min(frame.room, 0)) - frame.tokens({**shown, place: bare})
    end = history.sums[history.span(max(old))[1] + 1]

    def back(seq: int) -> float:
        return (end - history.sums[seq + 1]) / max(1, frame.talk)

    used = frozenset(name for turn in frame.turns(min(old)) for name in history.remembered(turn, reader.used))
    beside = Beside(back=back, used=used, gists=int(frame.numbers.gist_share * frame.talk))
    digest = choose(found, room, known, worth=frame.numbers.worth, beside=beside)
    chosen = list(digest.chosen)
    while chosen:
        note = history.folded(place, note_text(chosen), first=min(each.seq for each in chosen))
        over = frame.tokens({**shown, place: note}) - most
        if over <= 0:
            return note, replace(digest, chosen=tuple(chosen))
        while over > 0 and chosen:
            over -= chosen.pop().tokens
    return None, Digest()


def _opening(frame: _Frame, shown: Mapping[int, Chunk], end: int) -> Iterator[int]:
    """What the user asked first, also where it lies beyond the reach: all that follows is for its sake."""
    begun = frame.history.begun()
    if begun is None or begun >= end or begun in shown or begun in frame.fixed:
        return
    if frame.history.chunk(begun).messages:
        yield begun


def _known(frame: _Frame, reader: Reader, shown: Mapping[int, Chunk]) -> frozenset[str]:
    history = frame.history
    told: set[str] = set()
    for turn, chunk in {**frame.fixed, **shown}.items():
        if is_system(chunk):
            told.update(name for message in chunk.messages for name in names_in(message.text))
        else:
            told |= history.remembered(turn, reader.names)
    return frozenset(told)


def _layout(
    frame: _Frame, first: int, shown: Mapping[int, Chunk], note: Chunk | None, chosen: Sequence[Snippet]
) -> Layout:
    history = frame.history
    by_message: dict[int, list[int]] = {}
    for snippet in sorted(chosen, key=lambda each: (each.seq, each.number)):
        by_message.setdefault(snippet.seq, []).append(snippet.number)
    return Layout(
        message_budget=frame.talk,
        full_from=history.span(first)[0],
        kept=tuple(history.span(turn)[0] for turn in sorted(shown) if turn < first),
        note=note,
        excerpts={seq: tuple(numbers) for seq, numbers in by_message.items()},
        # A task may want every turn: its layout keeps those that are in.
        relevant=() if frame.scene.task.strip() else _wanted(frame),
        task_hash=task_hash(frame.scene.task),
        length=len(history.entries),
        used_at=frame.scene.now,
    )


def _selection(
    frame: _Frame, shown: Mapping[int, Chunk], layout: Layout, digest: Digest | None = None
) -> Selection:
    """The choice, with the reasons of what is told in a note where they are not known yet.

    `digest`: what was chosen for the note, where the window is refocused.
    """
    history, reasons, forms = frame.history, {}, {}
    if layout.note:
        place = history.turn_of(layout.note.first)
        if not layout.decisions:
            reasons[place] = note_reason(history, layout, place)
        forms[place] = layout.note
    return Selection(
        turns=tuple(sorted(shown)),
        because_in="in full: sent before, or newest" if layout.full_from else "everything fits",
        because_out="nothing of it is worth its tokens now",
        reasons=reasons,
        forms=forms,
        before={history.turn_of(each.position): each.note for each in layout.retrieved},
        folded={} if layout.decisions else told_reasons(history, layout),
        scores=_scores(history, digest) if digest else {},
        metrics={"refocused": 1.0, "marginal_value": digest.cut} if digest else {"refocused": 0.0},
        layout=layout,
    )


def _scores(history: History, digest: Digest) -> dict[int, Score]:
    """What each turn is worth that is told in part."""
    values: dict[int, float] = {}
    for seq, value in digest.values.items():
        turn = history.turn_of(seq)
        values[turn] = values.get(turn, 0.0) + value
    return {turn: Score(total=value, parts={"told": value}) for turn, value in values.items()}
