"""Compact the undecided turns of the history layer: keep them verbatim, trim them or summarize them.

The strategy depends on how far the history exceeds its layer. The first note begins with the arc. The result
stays within the allotments of the layers; every turn is kept, part of a note, or left out with a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from foveal.model import Chunk
from foveal.pipeline.history import History
from foveal.pipeline.kinds import ARC, MESSAGE_HISTORY
from foveal.pipeline.reasons import Reason
from foveal.pipeline.summarize.extract import extractive_summary
from foveal.pipeline.summarize.notes import SUMMARY_END, SUMMARY_MARK
from foveal.pipeline.summarize.records import EchoDetector
from foveal.pipeline.summarize.voices import Utterance, read_message, voices
from foveal.pipeline.values import Pick, Scene, Unit
from foveal.presets.openscroll.arc import arc_text
from foveal.presets.openscroll.strategies import Compacted, compact, strategy_for
from foveal.presets.openscroll.zones import NUMBERS, KeyMessageNumbers, Piece
from foveal.window import Code

ALL_TURNS = -1
"""The key under which a history remembers what belongs to no single turn."""
ARC_SHARE = 5
"""An arc gets at most one part in this many of the room that is left."""


@dataclass(slots=True, kw_only=True)
class _Shown:
    """How the pieces of a compacted history appear in the window."""

    kept: set[int] = field(default_factory=set)
    because: dict[int, Reason] = field(default_factory=dict)
    forms: dict[int, Chunk] = field(default_factory=dict)
    folded: dict[int, Reason] = field(default_factory=dict)
    markers: dict[int, Chunk] = field(default_factory=dict)
    arcs: dict[int, str] = field(default_factory=dict)
    tokens: int = 0


def compacted(
    history: History,
    units: Sequence[Unit],
    pick: Pick,
    room: int,
    scene: Scene,
    *,
    numbers: KeyMessageNumbers = NUMBERS,
) -> Pick:
    """The pick, with the turns decided that it left undecided: those of the history layer."""
    undecided = [unit for unit in units if unit.turn not in pick.because]
    if not undecided:
        return pick
    left = room - sum(unit.tokens for unit in units if unit.turn in pick.kept and not unit.forced)
    slots = {slot.name: slot for slot in pick.slots}
    own = max(0, slots[MESSAGE_HISTORY].allotted - slots[MESSAGE_HISTORY].used)
    arc_budget = max(0, min(slots[ARC].allotted - slots[ARC].used, left // ARC_SHARE))
    most = max(0, min(own, left - arc_budget))
    by_turn = _read(history)
    messages = [each for unit in undecided for each in _priced(by_turn[unit.turn], unit)]
    compress = partial(
        compact,
        messages,
        strategy=strategy_for(sum(each.tokens for each in messages), most),
        answer=scene.answer or partial(extractive_summary, count=scene.count),
        count=scene.count,
        numbers=numbers,
    )
    compaction, shown = _fitted(history, undecided, compress, scene, most=most, arc_budget=arc_budget)
    used = {MESSAGE_HISTORY: shown.tokens, ARC: 0}
    if arc := arc_text(compaction.arc):
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
    history: History,
    undecided: Sequence[Unit],
    compress: Callable[..., Compacted],
    scene: Scene,
    *,
    most: int,
    arc_budget: int,
) -> tuple[Compacted, _Shown]:
    """Compact until the notes fit as messages, which cost a little more than their texts."""
    room = most
    while True:
        compaction = compress(l4_budget=arc_budget, l6_budget=room)
        shown = _shown(history, undecided, compaction)
        over = shown.tokens - scene.count(arc_text(compaction.arc)) - most
        if over <= 0:
            return compaction, shown
        if not room:  # there is no room for the note that the arc would be part of
            arc_budget = 0
        room = max(0, room - over)


def _priced(messages: Sequence[Utterance], unit: Unit) -> list[Utterance]:
    """The messages of a unit with their tokens; the last one includes what repairs add."""
    tokens = [item.tokens for item in unit.items[: len(messages) - 1]]
    tokens.append(max(0, unit.tokens - sum(tokens)))
    return [replace(each, tokens=cost) for each, cost in zip(messages, tokens, strict=True)]


@dataclass(slots=True, kw_only=True)
class _Reading:
    """The messages read so far by turn, and the words of tools among them."""

    heard: EchoDetector = field(default_factory=EchoDetector)
    by_turn: dict[int, tuple[Utterance, ...]] = field(default_factory=dict)


def _read(history: History) -> dict[int, tuple[Utterance, ...]]:
    """The messages of every turn, read in order: an echo may repeat a message that is in no window."""
    reading = history.cached(ALL_TURNS, _begin)
    reading.by_turn.pop(len(reading.by_turn) - 1, None)  # the last turn may have grown
    for turn in range(len(reading.by_turn), len(history)):
        reading.by_turn[turn] = _read_turn(history, turn, reading.heard)
    return reading.by_turn


def _begin(_history: History, _turn: int) -> _Reading:
    return _Reading()


def _read_turn(history: History, turn: int, heard: EchoDetector) -> tuple[Utterance, ...]:
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


def _shown(history: History, undecided: Sequence[Unit], compaction: Compacted) -> _Shown:
    shown = _Shown()
    arc, at = arc_text(compaction.arc), 0
    for piece in compaction.pieces:
        inside = []
        while at < len(undecided) and history.span(undecided[at].turn)[1] <= piece.last:
            inside.append(undecided[at])
            at += 1
        if not inside:
            continue
        text = piece.text or ""
        if piece.detail == "trimmed":
            # The note has the user's role but may contain the words of a tool: it is marked as a record too.
            text = "\n".join((SUMMARY_MARK, text, SUMMARY_END))
        if arc and piece.detail != "full":
            shown.arcs[inside[-1].turn] = arc
            text, arc = "\n".join(filter(None, (arc, text))), ""
        _show(shown, history, inside, replace(piece, text=text), compaction.strategy)
    return shown


def _show(shown: _Shown, history: History, inside: Sequence[Unit], piece: Piece, strategy: str) -> None:
    last = inside[-1].turn
    if piece.detail == "full":
        shown.kept |= {unit.turn for unit in inside}
        for unit in inside:
            shown.because[unit.turn] = _reason("selected", strategy, f"verbatim, {unit.tokens:,} tokens")
        shown.tokens += sum(unit.tokens for unit in inside)
        return
    first = history.span(inside[0].turn)[0]
    note = history.folded(last, piece.text, first=first) if piece.text else None
    shown.tokens += note.tokens if note else 0
    if piece.detail == "omitted" or note is None:
        gone = _reason("not_selected", strategy, "nothing of it fits")
        shown.because |= dict.fromkeys((unit.turn for unit in inside), gone)
        shown.markers |= {last: note} if note else {}
        return
    whole = sum(unit.tokens for unit in inside)
    shown.kept.add(last)
    if piece.detail == "trimmed":
        shown.forms[last] = replace(note, detail="trimmed")
        what = "head and tail"
    else:
        shown.forms[last] = note
        what = f"a summary of {piece.messages:,} messages"
    shown.because[last] = _reason("selected", strategy, f"{what}, {note.tokens:,} of {whole:,} tokens")
    covered = _reason("replaced", strategy, f"in the summary at message {piece.last + 1:,}")
    shown.folded |= dict.fromkeys((unit.turn for unit in inside[:-1]), covered)


def _reason(code: Code, strategy: str, what: str) -> Reason:
    return Reason(code=code, columns=MESSAGE_HISTORY, words=f"{strategy}: {what}")
