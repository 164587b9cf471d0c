"""Items in → base + recency + rag + business for each: the priority of the `omar` preset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foveal.pipeline.score.business import business, business_fields, revenue, snake
from foveal.pipeline.score.omar import OmarNumbers
from foveal.pipeline.score.rag import relevance
from foveal.pipeline.score.recency import DAY, age, exponential, linear
from foveal.pipeline.values import Item, Scene, Score

__all__ = ["OmarNumbers", "flags", "priorities", "recency"]

DEFAULT = OmarNumbers()


def priorities(items: Sequence[Item], scene: Scene, numbers: OmarNumbers = DEFAULT) -> list[Score]:
    """One score per item; its parts are `base`, `recency`, `rag` and `business`.

    A priority that came with the item stands in place of its kind's.

    >>> match = {"rag_match_metadata": {"relevance": 0.5}}
    >>> chunk = Item(index=0, id="a", role="user", kind="rag_document_chunk", text="", tokens=1,
    ...              timestamp=0.0, metadata=match)
    >>> priorities([chunk], Scene(now=10 * 86_400))[0].parts
    {'base': 120.0, 'recency': 10.0, 'rag': 10.0, 'business': 0.0}
    """
    return [_priority(item, scene.now, numbers) for item in items]


def _priority(item: Item, now: float, numbers: OmarNumbers) -> Score:
    fields = business_fields(item.metadata)
    parts = {
        "base": float(numbers.base[item.kind] if item.priority is None else item.priority),
        "recency": recency(item.timestamp, now, numbers, business=bool(fields)),
        "rag": numbers.most_rag * relevance(item.metadata),
        "business": business(fields, numbers),
    }
    return Score(total=sum(parts.values()), parts=parts)


def recency(timestamp: float | None, now: float, numbers: OmarNumbers, *, business: bool) -> float:
    """What the age is worth; what the business needs grows old more slowly in the exponential shape."""
    if timestamp is None or not numbers.prefer_recent:
        return 0.0
    days = age(timestamp, now) / DAY
    if numbers.recency == "exponential":
        rate = numbers.business_decay if business else numbers.decay
        return exponential(days, most=numbers.most_exponential, rate=rate)
    return linear(days, most=numbers.most_linear)


def flags(tokens: int, metadata: Mapping[str, object], numbers: OmarNumbers = DEFAULT) -> tuple[str, ...]:
    """What a reader of the allocation should notice."""
    fields = business_fields(metadata)
    raised = {
        "high_business_relevance": revenue(fields) >= numbers.high_revenue,
        "urgent": snake(fields.get("urgency")) in ("critical", "urgent"),
        "requires_summarization": tokens > numbers.long,
    }
    return tuple(name for name, up in raised.items() if up)
