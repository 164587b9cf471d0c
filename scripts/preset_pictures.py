"""Draw `docs/images/preset-NAME.svg` for every preset: one session, and what the last window has of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from drawing import GAP, LEFT, Bar, legend, rect, row, svg, text, widths
from foveal import Manifest, fit, wire
from foveal.presets import find
from foveal.session.target import target_for
from foveal.window import Decision, Slot
from sample_session import BUDGET, MODEL, TASK, messages, window

FULL, SHORT, NOTE, OUT = "in full", "shortened", "in a note", "left out"
ATTACHED, SCORE, FREE = "known from elsewhere", "score", "free"
COLOURS = {
    FULL: ("#2f81f7", "#4493f8"),
    SHORT: ("#1b9e77", "#3fb998"),
    NOTE: ("#bf3989", "#db61a2"),
    OUT: ("#c9ced6", "#4b535d"),
    ATTACHED: ("#e0a100", "#e0a100"),
    SCORE: ("#8c6fb0", "#a98fd0"),
    FREE: ("#eaeef2", "#2a313a"),
}
HEIGHTS = {FULL: 1.0, SHORT: 0.7, NOTE: 0.4, OUT: 0.12}
"""How much of a message is in the window can be seen without the colours."""
INITIALS = {"system": "S", "user": "U", "assistant": "A", "tool": "T"}
LEAST = 24
"""The narrowest block: three digits and a space fit above it."""
SCORED = ("fifth", "omar", "reploid")
"""The presets that compare messages by one number."""
ABOUT_SCORES = {"fifth": "score of each turn for the task", "omar": "priority of each turn",
                "reploid": "importance of each turn"}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One message of the session."""

    initial: str
    tokens: int


def picture(preset: str) -> str:
    """The picture of a preset as SVG."""
    found, told = window(preset).manifest, session()
    total = sum(each.tokens for each in told)
    whole = f"A session: {len(told)} messages, {total:,} tokens"
    sent = f"Its window by {preset}: {found.tokens:,} of {found.budget:,} tokens"
    looks = _looks(found, len(told))
    lines = [
        text(whole, 26, style="t"),
        text("S system, U user, A assistant, T tool; the lower a block, the less of it is in the window", 46),
    ]
    top = 60
    if preset in SCORED:
        lines += [
            *_scores(preset, told, top),
            text(f"{ABOUT_SCORES[preset]}; a call and its results are one turn", top + 8),
        ]
        top += 78
    lines += row(_session(told, looks), COLOURS, top=top, least=LEAST)
    lines += [text(sent, top + 82, style="t"), text(find(preset).about, top + 102)]
    top += 114
    lines += row(list(_sent(found, looks)), COLOURS, top=top)
    top += 66
    if len(found.slots) > 1:
        lines += _slots(found.slots, top)
        top += 22 * len(found.slots) + 24
    used = [look for look in COLOURS if look in looks or look in (ATTACHED, FREE)]
    if not found.parts.get("material"):
        used.remove(ATTACHED)
    if preset in SCORED:
        used.insert(-1, SCORE)
    lines.append(legend(COLOURS, top, used))
    return svg(f"{whole}. {sent}: {find(preset).about}.", top + 24, COLOURS, lines)


@cache
def session() -> tuple[Told, ...]:
    """The messages of the session, as they are counted."""
    target = target_for(MODEL, "openai")
    loaded = wire.load(messages(), format="openai").messages
    return tuple(Told(initial=INITIALS[each.role], tokens=target.meter.message(each)) for each in loaded)


def _looks(found: Manifest, many: int) -> list[str]:
    """For each message, how much of it is in the window."""
    looks, after = [OUT] * many, ""
    for each in reversed(found.decisions):
        # What a note was put in place of is left out, up to the note.
        covered = each.code == "left_out" and after == "replaced"
        looks[each.first : each.last + 1] = [NOTE if covered else _look(each)] * (each.last + 1 - each.first)
        after = each.code
    for run in found.retrieved:
        retrieved = range(run.first, run.last + 1)
        looks = [NOTE if at in retrieved and look == OUT else look for at, look in enumerate(looks)]
    return looks


def _look(decision: Decision) -> str:
    if decision.verdict == "left out":
        return OUT
    return {"full": FULL, "trimmed": SHORT, "folded": NOTE}[decision.detail]


def _session(told: Sequence[Told], looks: Sequence[str]) -> list[Bar]:
    return [
        Bar(look=look, tokens=each.tokens, share=HEIGHTS[look], label=each.initial)
        for each, look in zip(told, looks, strict=True)
    ]


def _sent(found: Manifest, looks: Sequence[str]) -> Iterator[Bar]:
    """The parts of the window in their order."""
    notes = {note.position: note for note in found.notes}
    material = found.parts.get("material", 0)
    for each in found.decisions:
        if note := notes.get(each.first):
            yield Bar(look=NOTE, tokens=note.tokens, label=note.kind)
        if each.verdict == "kept" and each.tokens:
            yield Bar(look=looks[each.first], tokens=each.tokens)
        if material and each.code == "system_prompt":
            yield Bar(look=ATTACHED, tokens=material)
    yield Bar(look=FREE, tokens=found.budget - found.tokens, label="free")


def _scores(preset: str, told: Sequence[Told], top: int) -> Iterator[str]:
    """The score of its turn above each message."""
    scores = _scored(preset)
    most, x = max(scores), float(LEFT)
    for score, width in zip(scores, widths([each.tokens for each in told], LEAST), strict=True):
        tall = max(1, round(40 * score / most))
        yield rect(COLOURS, SCORE, box=(x, top + 70 - tall, width, tall))
        shown = f"{score:.0f}" if most > 1 else f"{score:.2f}".removeprefix("0")
        yield text(shown, top + 66 - tall, style="n m", left=round(x + width / 2, 1))
        x += width + GAP


def _scored(preset: str) -> list[float]:
    """The score of every message at the end of the session, before anything of it was replaced."""
    history = messages()
    now = history[-1]["timestamp"]
    found = fit(history, model=MODEL, budget=BUDGET, preset=preset, task=TASK, now=now).manifest
    return [
        each.score.total if each.score else 0.0
        for each in found.decisions
        for _ in range(each.first, each.last + 1)
    ]


def _slots(slots: Sequence[Slot], top: int) -> Iterator[str]:
    """One line per slot: what it was allotted, and how much of that is used."""
    scale = 420 / max(max(slot.allotted, slot.used) for slot in slots)
    for at, slot in enumerate(slots):
        y = top + 22 * at
        yield text(slot.name, y + 11)
        if slot.allotted:
            yield rect(COLOURS, FREE, box=(LEFT + 170, y, max(3, slot.allotted * scale), 14))
        if slot.used:
            yield rect(COLOURS, FULL, box=(LEFT + 170, y, max(3, slot.used * scale), 14))
        yield text(_use(slot), y + 11, left=LEFT + 170 + 420 + 12)


def _use(slot: Slot) -> str:
    if not slot.allotted and not slot.used and not slot.borrowed:
        return "nothing to show"
    moved = f", {abs(slot.borrowed):,} {'borrowed' if slot.borrowed > 0 else 'lent'}" if slot.borrowed else ""
    return f"{slot.used:,} of {slot.allotted:,} tokens{moved}"
