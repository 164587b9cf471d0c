"""A history and room in → full detail where the agent looks, less further out; and it holds still.

    still    the layout of the build before is kept and new turns are appended in full, while that fits
    whole    everything, where everything fits
    refocus  else the newest turns stay whole, and one note tells the most telling snippets of the others

Between refocuses a window begins with the one before, byte for byte: providers bill a repeated prefix at a
tenth. A refocus comes down to the low-water mark in one step, so that it is rare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from foveal.model import Chunk
from foveal.pipeline.compact.naming import names_in
from foveal.pipeline.compact.snippets import Snippet, snippets
from foveal.pipeline.history import History, is_system
from foveal.pipeline.plan.marks import Course, MarkNumbers, Marks, marks
from foveal.pipeline.select.digest import Digest, Worth, choose, note_text
from foveal.pipeline.select.selection import Selection
from foveal.pipeline.values import Held, Scene
from foveal.window import Score


@dataclass(frozen=True, slots=True, kw_only=True)
class FovealNumbers:
    """Every number of the default preset."""

    marks: MarkNumbers = field(default_factory=MarkNumbers)
    """When a window is refocused, and what it comes down to then."""
    near_share: float = 0.1
    """Of the low-water mark: the newest turns, whole."""
    asked_share: float = 0.3
    """Of the room: the newest words of the user stay whole up to this."""
    reach: float = 8.0
    """Rooms of tokens back: what lies further is told by nothing but what was told of it before."""
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
    marks: Marks

    def turns(self, start: int) -> Iterator[int]:
        """The turns before the open one that may be in and are not fixed, newest first."""
        for turn in range(self.opened - 1, start - 1, -1):
            if turn in self.fixed or self.history.absence(turn) or not self.history.chunk(turn).messages:
                continue
            yield turn

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
        marks=_marks(history, talk, scene, numbers),
    )
    return _still(frame) or _whole(frame) or _refocused(frame)


def _marks(history: History, talk: int, scene: Scene, numbers: FovealNumbers) -> Marks:
    """The water marks; everything there is where no window follows."""
    if scene.rates is None:
        return Marks(high=talk, low=talk)
    turns = len(history)
    return marks(
        Course(room=talk, growth=history.tokens / max(1, turns), turns=turns), scene.rates, numbers.marks
    )


def _still(frame: _Frame) -> Selection | None:
    held, history = frame.scene.held, frame.history
    if held is None or held.talk != frame.talk or frame.fixed[frame.opened].detail != "full":
        return None
    start = history.turn_of(held.first)
    shown = {turn: history.chunk(turn) for turn in frame.turns(start)}
    if held.note:
        shown[history.turn_of(held.note.first)] = held.note
    shown |= {history.turn_of(seq): history.chunk(history.turn_of(seq)) for seq in held.kept}
    if frame.tokens(shown) > frame.room - (frame.talk - frame.marks.high):
        return None
    return _selection(frame, shown, held)


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
    return _selection(frame, shown, Held(talk=frame.talk, first=0))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """A window chosen anew."""

    shown: Mapping[int, Chunk]
    held: Held
    digest: Digest = field(default_factory=Digest)


def _refocused(frame: _Frame) -> Selection:
    most = frame.room - (frame.talk - frame.marks.low)
    near = int(frame.numbers.near_share * frame.marks.low)
    layout = _laid_out(frame, near, most)
    spare = most - frame.tokens(layout.shown)
    if spare > 0:  # too little is worth telling: what is left shows more turns whole
        layout = _laid_out(frame, near + spare, most)
    made = _selection(frame, layout.shown, layout.held)
    scores = _scores(frame.history, layout.digest)
    return replace(made, scores=scores, metrics={"marginal_value": layout.digest.cut})


def _laid_out(frame: _Frame, near: int, most: int) -> _Layout:
    """The newest turns whole within `near` tokens, the user's newest words, and a note of what was before."""
    history = frame.history
    shown = _tail(frame, near)
    first = min(shown, default=frame.opened)
    asked = _asked(frame, first)
    if asked is not None:
        with_it = {**shown, asked: history.chunk(asked)}
        shown = with_it if frame.tokens(with_it) <= frame.numbers.asked_share * frame.room else shown
    old = [turn for turn in frame.turns(_reach(frame, first)) if turn < first and turn not in shown]
    if not old:
        return _Layout(shown=shown, held=_held(frame, first, shown, None, ()))
    place = max((turn for turn in old if asked is None or turn < asked), default=old[0])
    note, digest = _noted(frame, shown, old, place, most)
    held = _held(frame, first, shown, note, digest.chosen)
    return _Layout(shown={**shown, place: note} if note else shown, held=held, digest=digest)


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
    history = frame.history
    for turn in (frame.opened, *frame.turns(0)):
        if history.entries[history.span(turn)[0]].role == "user":
            return turn if turn < first else None
    return None


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
    reader = _Reader(frame.scene.count)
    found = [each for turn in reversed(old) for each in history.remembered(turn, reader.read)]
    known = _known(frame, reader, shown)
    bare = history.folded(place, note_text(()))
    room = max(most, min(frame.room, 0)) - frame.tokens({**shown, place: bare})
    end = history.sums[history.span(max(old))[1] + 1]

    def back(seq: int) -> float:
        return (end - history.sums[seq + 1]) / max(1, frame.talk)

    digest = choose(found, room, known, worth=frame.numbers.worth, back=back)
    chosen = list(digest.chosen)
    while chosen:
        note = history.folded(place, note_text(chosen), first=min(each.seq for each in chosen))
        over = frame.tokens({**shown, place: note}) - most
        if over <= 0:
            return note, replace(digest, chosen=tuple(chosen))
        while over > 0 and chosen:
            over -= chosen.pop().tokens
    return None, Digest()


def _known(frame: _Frame, reader: _Reader, shown: Mapping[int, Chunk]) -> frozenset[str]:
    history = frame.history
    told: set[str] = set()
    for turn, chunk in {**frame.fixed, **shown}.items():
        if is_system(chunk):
            told.update(name for message in chunk.messages for name in names_in(message.text))
        else:
            told |= history.remembered(turn, reader.names)
    return frozenset(told)


class _Reader:
    """Reads turns for their snippets and names, each once."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count

    def read(self, history: History, turn: int) -> tuple[Snippet, ...]:
        first, last = history.span(turn)
        if history.stand_in(turn):
            messages = enumerate(history.chunk(turn).messages, last)
        else:
            messages = enumerate(history.read(first, last + 1), first)
        return tuple(each for seq, message in messages for each in snippets(message, seq, self._count))

    def names(self, history: History, turn: int) -> frozenset[str]:
        """The names a turn tells with what stands beside them; a call's arguments are bare."""
        return frozenset(name for each in history.remembered(turn, self.read) for name in each.names)


def _held(
    frame: _Frame, first: int, shown: Mapping[int, Chunk], note: Chunk | None, chosen: Sequence[Snippet]
) -> Held:
    history = frame.history
    by_message: dict[int, list[int]] = {}
    for snippet in sorted(chosen, key=lambda each: (each.seq, each.number)):
        by_message.setdefault(snippet.seq, []).append(snippet.number)
    return Held(
        talk=frame.talk,
        first=history.span(first)[0],
        kept=tuple(history.span(turn)[0] for turn in sorted(shown) if turn < first),
        note=note,
        shown={seq: tuple(numbers) for seq, numbers in by_message.items()},
    )


def _selection(frame: _Frame, shown: Mapping[int, Chunk], held: Held) -> Selection:
    """The choice, with the reasons of what is told in a note."""
    history = frame.history
    made = Selection(
        turns=tuple(sorted(shown)),
        because_in="in full: sent before, or newest" if held.first else "everything fits",
        because_out="nothing of it is worth its tokens now",
        held=held,
    )
    if held.note is None:
        return made
    place = history.turn_of(held.note.first)
    why = f"in snippets, in the note at message {held.note.first + 1:,}"
    return replace(
        made,
        reasons={place: f"what {len(held.shown):,} earlier messages tell, in snippets"},
        forms={place: held.note},
        folded=dict.fromkeys({history.turn_of(seq) for seq in held.shown} - {place}, why),
    )


def _scores(history: History, digest: Digest) -> dict[int, Score]:
    """What each turn is worth that is told in part."""
    values: dict[int, float] = {}
    for seq, value in digest.values.items():
        turn = history.turn_of(seq)
        values[turn] = values.get(turn, 0.0) + value
    return {turn: Score(total=value, parts={"told": value}) for turn, value in values.items()}
