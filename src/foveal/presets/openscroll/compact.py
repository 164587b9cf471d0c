"""A picked window and its undecided history in → the history layer compacted: verbatim, trimmed or folded.

The strategy follows from how far the history exceeds its layer. The arc stands in the first note. Never over
the layers' allotments; every turn is kept, folded into a note, or left out with a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from foveal.model import Chunk
from foveal.pipeline.history import History
from foveal.pipeline.kinds import ARC, MESSAGE_HISTORY
from foveal.pipeline.summarize.extract import extractive_summary
from foveal.pipeline.summarize.notes import SUMMARY_END, SUMMARY_MARK
from foveal.pipeline.summarize.records import EchoDetector
from foveal.pipeline.summarize.voices import Utterance, read_message, voices
from foveal.pipeline.values import Pick, Scene, Unit
from foveal.presets.openscroll.arc import arc_text
from foveal.presets.openscroll.strategies import Compacted, compact, strategy_for
from foveal.presets.openscroll.zones import Piece

WHOLE = -1
"""Where a history remembers what belongs to no turn."""
ARC_SHARE = 5
"""An arc takes at most this part of the room that is left."""


@dataclass(slots=True, kw_only=True)
class _Shown:
    """What the pieces of a compacted history come to in a window."""

    kept: set[int] = field(default_factory=set)
    because: dict[int, str] = field(default_factory=dict)
    forms: dict[int, Chunk] = field(default_factory=dict)
    folded: dict[int, str] = field(default_factory=dict)
    markers: dict[int, Chunk] = field(default_factory=dict)
    arcs: dict[int, str] = field(default_factory=dict)
    tokens: int = 0


def compacted(history: History, units: Sequence[Unit], pick: Pick, room: int, scene: Scene) -> Pick:
    """The pick with the turns it left undecided: those of the history layer."""
    talk = [unit for unit in units if unit.turn not in pick.because]
    if not talk:
        return pick
    left = room - sum(unit.tokens for unit in units if unit.turn in pick.kept and not unit.forced)
    slots = {slot.name: slot for slot in pick.slots}
    own = max(0, slots[MESSAGE_HISTORY].allotted - slots[MESSAGE_HISTORY].used)
    thread = max(0, min(slots[ARC].allotted - slots[ARC].used, left // ARC_SHARE))
    most = max(0, min(own, left - thread))
    told = _told(history)
    said = [each for unit in talk for each in _priced(told[unit.turn], unit)]
    done, shown = _fitted(history, talk, said, scene, most=most, thread=thread)
    used = {MESSAGE_HISTORY: shown.tokens, ARC: 0}
    if arc := arc_text(done.arc):
        used[ARC] = min(scene.count(arc), shown.tokens)
        used[MESSAGE_HISTORY] -= used[ARC]
    return replace(
        pick,
        kept=pick.kept | shown.kept,
        because={**pick.because, **shown.because},
        slots=tuple(replace(slot, used=slot.used + used.get(slot.name, 0)) for slot in pick.slots),
        forms=shown.forms,
        folded=shown.folded,
        markers=shown.markers,
        arcs=shown.arcs,
    )


def _fitted(
    history: History, talk: Sequence[Unit], said: Sequence[Utterance], scene: Scene, *, most: int, thread: int
) -> tuple[Compacted, _Shown]:
    """Notes cost a little more as messages than as text: compact until they fit as messages."""
    strategy = strategy_for(sum(each.tokens for each in said), most)
    answer = scene.answer or partial(extractive_summary, count=scene.count)
    room = most
    while True:
        done = compact(
            said, l4_budget=thread, l6_budget=room, strategy=strategy, answer=answer, count=scene.count
        )
        shown = _shown(history, talk, done)
        over = shown.tokens - scene.count(arc_text(done.arc)) - most
        if over <= 0:
            return done, shown
        if not room:  # no room for the note that the arc would stand in
            thread = 0
        room = max(0, room - over)


def _priced(told: Sequence[Utterance], unit: Unit) -> list[Utterance]:
    """The messages of a unit; what repairs add to its cost is the last one's."""
    tokens = [item.tokens for item in unit.items[: len(told) - 1]]
    tokens.append(max(0, unit.tokens - sum(tokens)))
    return [replace(each, tokens=cost) for each, cost in zip(told, tokens, strict=True)]


@dataclass(slots=True, kw_only=True)
class _Walk:
    """What was said turn by turn, and what was heard on the way."""

    heard: EchoDetector = field(default_factory=EchoDetector)
    told: dict[int, tuple[Utterance, ...]] = field(default_factory=dict)


def _told(history: History) -> dict[int, tuple[Utterance, ...]]:
    """Every turn as compaction sees it. All are listened to, in order: an echo may be of one in no window."""
    walk = history.remembered(WHOLE, _begin)
    walk.told.pop(len(walk.told) - 1, None)  # the last one may have grown
    for turn in range(len(walk.told), len(history)):
        walk.told[turn] = _voiced(history, turn, walk.heard)
    return walk.told


def _begin(_history: History, _turn: int) -> _Walk:
    return _Walk()


def _voiced(history: History, turn: int, heard: EchoDetector) -> tuple[Utterance, ...]:
    first, last = history.span(turn)
    found: tuple[Utterance, ...] = ()
    if not any(entry.absence == "erased" for entry in history.entries[first : last + 1]):
        messages = enumerate(history.read(first, last + 1), first)
        found = tuple(
            replace(read_message(message, seq, heard), opens=seq == first) for seq, message in messages
        )
    if note := history.stand_in(turn):
        message = history.frame.scribe.note(note)
        return (Utterance(seq=last, role="user", passages=voices(message, last), tokens=0),)
    return found


def _shown(history: History, talk: Sequence[Unit], done: Compacted) -> _Shown:
    shown = _Shown()
    arc, at = arc_text(done.arc), 0
    for piece in done.pieces:
        inside = []
        while at < len(talk) and history.span(talk[at].turn)[1] <= piece.last:
            inside.append(talk[at])
            at += 1
        if not inside:
            continue
        text = piece.text or ""
        if piece.detail == "trimmed":
            # Words of a tool stand in a note of the user's here: they are a record as well.
            text = "\n".join((SUMMARY_MARK, text, SUMMARY_END))
        if arc and piece.detail != "full":
            shown.arcs[inside[-1].turn] = arc
            text, arc = "\n".join(filter(None, (arc, text))), ""
        _show(shown, history, inside, replace(piece, text=text), done.strategy)
    return shown


def _show(shown: _Shown, history: History, inside: Sequence[Unit], piece: Piece, strategy: str) -> None:
    last, where = inside[-1].turn, f"{MESSAGE_HISTORY}, {strategy}"
    if piece.detail == "full":
        shown.kept |= {unit.turn for unit in inside}
        shown.because |= {unit.turn: f"{where}: verbatim, {unit.tokens:,} tokens" for unit in inside}
        shown.tokens += sum(unit.tokens for unit in inside)
        return
    first = history.span(inside[0].turn)[0]
    note = history.folded(last, piece.text, first=first) if piece.text else None
    shown.tokens += note.tokens if note else 0
    if piece.detail == "omitted" or note is None:
        shown.because |= {unit.turn: f"{where}: nothing of it fits" for unit in inside}
        shown.markers |= {last: note} if note else {}
        return
    whole = sum(unit.tokens for unit in inside)
    shown.kept.add(last)
    if piece.detail == "trimmed":
        shown.forms[last] = replace(note, detail="trimmed")
        shown.because[last] = f"{where}: head and tail, {note.tokens:,} of {whole:,} tokens"
    else:
        shown.forms[last] = note
        shown.because[last] = (
            f"{where}: a summary of {piece.messages:,} messages, {note.tokens:,} of {whole:,} tokens"
        )
    place = f"{where}: in the summary at message {piece.last + 1:,}"
    shown.folded |= {unit.turn: place for unit in inside[:-1]}
