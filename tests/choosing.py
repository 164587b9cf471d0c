"""Items and units for the tests of plans and selectors: any sizes, charged to any slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from foveal.model import Kind, Role
from foveal.pipeline.reasons import Reason
from foveal.pipeline.values import Item, Pick, Unit
from foveal.window import Score

ROLES: Mapping[Kind, Role] = {
    "system_prompt": "system",
    "tool_output": "tool",
    "tool_input": "assistant",
    "chat_history_assistant": "assistant",
}


def item(index: int, tokens: int = 10, kind: Kind = "chat_history_user", **more: Any) -> Item:
    given: dict[str, Any] = {"text": "words", "role": ROLES.get(kind, "user"), **more}
    return Item(index=index, id=f"m{index + 1}", kind=kind, tokens=tokens, **given)


def unit(turn: int, by_slot: Mapping[str, int], score: float = 0.0, forced: str = "") -> Unit:
    tokens = sum(by_slot.values())
    return Unit(
        turn=turn,
        items=(item(turn, tokens),),
        tokens=tokens,
        score=Score(total=score),
        by_slot=by_slot,
        forced=Reason(code="pinned", words=forced) if forced else None,
    )


def unit_lists(slots: Sequence[str], *, most: int = 60) -> st.SearchStrategy[list[Unit]]:
    """Turns charged to one or two slots; some must be in."""
    shape = st.tuples(
        st.sampled_from(slots),
        st.integers(0, most),
        st.sampled_from(slots),
        st.integers(0, most) | st.just(0),
        st.integers(0, 3),
        st.sampled_from(["", "", "", "pinned"]),
    )
    return st.lists(shape, max_size=10).map(lambda rows: [_unit(turn, row) for turn, row in enumerate(rows)])


def _unit(turn: int, row: tuple[str, int, str, int, int, str]) -> Unit:
    first, tokens, second, more, score, forced = row
    by_slot = {first: tokens}
    by_slot[second] = by_slot.get(second, 0) + more
    return unit(turn, by_slot, score / 3, forced)


def sentences(pick: Pick) -> dict[int, str]:
    """Why each turn is in or out, in words."""
    return {turn: reason.sentence for turn, reason in pick.because.items()}


def chosen_tokens(units: Sequence[Unit], kept: frozenset[int]) -> int:
    """What was spent of the room: forced units are paid for elsewhere."""
    return sum(unit.tokens for unit in units if unit.turn in kept and not unit.forced)
