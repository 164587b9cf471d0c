"""A text or a chunk in → estimated tokens, or one boost of its priority with the parts it is made of."""

from __future__ import annotations

from foveal.operations.allocating import now_of, numbers_of, weighed
from foveal.operations.chunks import Chunk, Weighing
from foveal.operations.registry import Operation, Shape
from foveal.pipeline.density import Content, content_of, estimate
from foveal.pipeline.score.business import business_fields, business_parts
from foveal.pipeline.score.omar import OmarNumbers
from foveal.pipeline.score.rag import relevance
from foveal.pipeline.score.recency import DAY, age


class Estimate(Shape):
    text: str
    content_type: Content | None = None


class Estimated(Shape):
    tokens: int
    density: float


def estimate_tokens(request: Estimate) -> Estimated:
    """The density of the type that is given, or else detected."""
    return _estimated(request.text, request.content_type or content_of(request.text))


def estimate_business(request: Estimate) -> Estimated:
    return _estimated(request.text, request.content_type or "business")


def estimate_code(request: Estimate) -> Estimated:
    return _estimated(request.text, request.content_type or "code")


def estimate_general(request: Estimate) -> Estimated:
    return _estimated(request.text, request.content_type or "general")


def _estimated(text: str, content: Content) -> Estimated:
    density = OmarNumbers().densities[content]
    return Estimated(tokens=estimate(text, density), density=density)


class Weigh(Weighing):
    chunk: Chunk


class Boost(Shape):
    boost: float
    parts: dict[str, float]


def recency_boost(request: Weigh) -> Boost:
    (unit,) = weighed([request.chunk], request)
    stamp = unit.items[0].timestamp
    parts = {} if stamp is None else {"age_days": age(stamp, now_of(request)) / DAY}
    return Boost(boost=unit.score.parts["recency"], parts=parts)


def business_boost(request: Weigh) -> Boost:
    (unit,) = weighed([request.chunk], request)
    fields = business_fields(unit.items[0].metadata)
    parts = business_parts(fields, numbers_of(request.constraints))
    return Boost(boost=unit.score.parts["business"], parts=parts)


def rag_boost(request: Weigh) -> Boost:
    (unit,) = weighed([request.chunk], request)
    return Boost(boost=unit.score.parts["rag"], parts={"relevance": relevance(unit.items[0].metadata)})


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        name="context_estimate_tokens",
        code="0x3210",
        about="estimate a text's tokens by the density of its type, detected unless given",
        request=Estimate,
        result=Estimated,
        run=estimate_tokens,
    ),
    Operation(
        name="context_estimate_business",
        code="0x3211",
        about="estimate the tokens of business prose: 4.2 characters each",
        request=Estimate,
        result=Estimated,
        run=estimate_business,
    ),
    Operation(
        name="context_estimate_code",
        code="0x3212",
        about="estimate the tokens of code: 3.5 characters each",
        request=Estimate,
        result=Estimated,
        run=estimate_code,
    ),
    Operation(
        name="context_estimate_general",
        code="0x3213",
        about="estimate the tokens of general text: 3.8 characters each",
        request=Estimate,
        result=Estimated,
        run=estimate_general,
    ),
    Operation(
        name="context_calculate_recency_boost",
        code="0x3230",
        about="what a chunk's age adds to its priority",
        request=Weigh,
        result=Boost,
        run=recency_boost,
    ),
    Operation(
        name="context_calculate_business_boost",
        code="0x3231",
        about="what a chunk's business fields add to its priority",
        request=Weigh,
        result=Boost,
        run=business_boost,
    ),
    Operation(
        name="context_calculate_rag_boost",
        code="0x3232",
        about="what a chunk's match in retrieval adds to its priority",
        request=Weigh,
        result=Boost,
        run=rag_boost,
    ),
)
