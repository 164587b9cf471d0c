"""A budget in → one pool beside a reserve for the system prompt, and the caps somebody asked for.

Caps are laid over the pool, they are not shares of it: a piece may count against several of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from foveal.pipeline.kinds import HISTORY, RAG
from foveal.pipeline.score.business import business_fields
from foveal.pipeline.values import Item, Slot

POOL = "pool"
RESERVE = "reserve"
GROUPS = ("overall", "history", "business_data", "client_data", "rag_results", "system_prompt")


def flat(budget: int, *, reserve: int, caps: Mapping[str, float]) -> tuple[Slot, ...]:
    """The pool, the reserve and the caps; the reserve is never more than the budget.

    >>> [(slot.name, slot.allotted) for slot in flat(10_000, reserve=2_000, caps={"history": 3_000})]
    [('pool', 8000), ('reserve', 2000), ('history', 3000)]
    """
    budget = max(0, budget)
    reserve = min(max(0, reserve), budget)
    shares = {POOL: budget - reserve, RESERVE: reserve}
    return tuple(_slot(name, int(tokens)) for name, tokens in [*shares.items(), *caps.items()])


def _slot(name: str, tokens: int) -> Slot:
    return Slot(name=name, floor=0, ideal=tokens, ceiling=tokens, allotted=tokens)


def slot_of(item: Item) -> str:
    """The system prompt draws on the reserve, everything else on the pool."""
    return RESERVE if item.kind == "system_prompt" else POOL


def groups_of(item: Item) -> tuple[str, ...]:
    """Everything an item counts against: the pool, unless it is the system prompt, and its groups."""
    fields = business_fields(item.metadata)
    counted = {
        POOL: item.kind != "system_prompt",
        "overall": True,
        "history": item.kind in HISTORY,
        "business_data": "revenue_impact" in fields or "deal_status" in fields,
        "client_data": "client_tier" in fields or "relationship_stage" in fields,
        "rag_results": item.kind in RAG,
        "system_prompt": item.kind == "system_prompt",
    }
    return tuple(group for group, counts in counted.items() if counts)
