"""What is said of a wrong request: one thing, in plain words, with its place; however much of it is wrong."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from foveal import operations
from foveal.errors import MOST, ConfigError, FovealError, InputError
from foveal.server import schemas
from foveal.server.problems import Problem
from foveal.server.schemas import Body

MANY = 20_000
NAMES = [each.name for each in operations.REGISTRY.operations]
BODIES = [each for _, each in inspect.getmembers(schemas, inspect.isclass) if Body in each.__bases__]
WRONG: list[Any] = [[0] * MANY, [{}] * MANY, [[]] * MANY, {f"field {n}": 0 for n in range(MANY)}]
"""Values of which every item, or every field, is wrong."""


def changed(request: Any, wrong: Any) -> Iterator[Any]:
    """The request with a wrong value in place of one of its values, for each of them."""
    if isinstance(request, dict):
        yield {**request, **wrong} if isinstance(wrong, dict) else wrong
        for key, value in request.items():
            yield from ({**request, key: each} for each in changed(value, wrong))
    elif isinstance(request, list):
        yield wrong
        yield from ([each, *request[1:]] for each in changed(request[0], wrong) if request)
    else:
        yield wrong


def errors_of(name: str, request: Any) -> int:
    try:
        operations.run(name, request)
    except FovealError as error:
        cause = error.__context__
        return cause.error_count() if isinstance(cause, ValidationError) else 1
    return 0


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_reports_few_errors_of_a_request_that_is_wrong_throughout(name: str) -> None:
    for wrong in WRONG:
        for request in changed(operations.example(name), wrong):
            if isinstance(request, dict):
                assert errors_of(name, request) <= 30, str(request)[:200]


SITUATION = operations.example("layers_negotiate")
FREE = ("metadata", "business_context")
"""Fields that may have any values."""
NO_NUMBERS: list[Any] = ["7", True, 10**400, -(10**400), math.inf, math.nan, [], {}]


def with_another_number(request: Any, value: Any) -> Iterator[Any]:
    """The request with the value in place of one of its numbers, for each of them."""
    if isinstance(request, dict):
        for key, each in request.items():
            if key not in FREE:
                yield from ({**request, key: other} for other in with_another_number(each, value))
    elif isinstance(request, list):
        for at, each in enumerate(request):
            yield from ([*request[:at], new, *request[at + 1 :]] for new in with_another_number(each, value))
    elif isinstance(request, int | float) and not isinstance(request, bool):
        yield value


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_takes_nothing_for_a_number_that_is_none(name: str) -> None:
    for value in NO_NUMBERS:
        for request in with_another_number(operations.example(name), value):
            with pytest.raises(FovealError):
                pytest.fail(str((str(value)[:9], operations.run(name, request))))


@pytest.mark.parametrize("body", BODIES, ids=lambda each: each.__name__)
def test_a_body_reports_few_errors_if_it_is_wrong_throughout(body: type[Body]) -> None:
    fields = body.model_fields
    for wrong in WRONG:
        for request in ({**dict.fromkeys(fields, wrong)}, wrong):
            with pytest.raises((ValidationError, Problem)) as failure:
                TypeAdapter(body).validate_python(request)
            if isinstance(failure.value, ValidationError):
                assert failure.value.error_count() <= 2 * len(fields) + 1


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"available_tokens": "many"}, "`available_tokens` is not an integer"),
        ({"available_tokens": -1}, "`available_tokens` is less than 0"),
        ({"chunks": [{"id": "a"}, 3]}, "`chunks[0].content` is missing (and more)"),
        ({"chunks": 3}, "`chunks` is not an array"),
        (
            {"chunks": [{"id": "a", "content": "", "type": "current_user_prompt", "timestamp": "soon"}]},
            "`chunks[0].timestamp` is refused: a time is seconds since 1970 or an ISO 8601 text such as "
            "2025-01-31T09:30:00Z",
        ),
        ({"constraints": {"solver": "magic"}}, "`constraints.solver` is not one of 'greedy' or 'exact'"),
        (
            {"business_context": {}, "constraints": dict.fromkeys(map(str, range(101)))},
            "`constraints` has 101 fields; at most 100 are read",
        ),
    ],
)
def test_what_is_wrong_is_said_in_plain_words(change: dict[str, Any], what: str) -> None:
    request = {"chunks": [], "available_tokens": 1, "user_id": "u"}
    with pytest.raises(InputError) as failure:
        operations.run("context_optimize", request | change)
    assert failure.value.what == f"context_optimize: {what}"


def test_a_name_that_is_quoted_is_shortened() -> None:
    with pytest.raises(InputError) as failure:
        operations.run("tokens_count", {"text": "", "x" * 500_000: 1})
    assert failure.value.what.startswith("tokens_count: `xxx")
    assert failure.value.what.endswith("xxx` is not a field of this request")
    assert (len(failure.value.what), len(failure.value.field)) == (MOST, 200)


def test_a_remedy_lists_every_name_that_is_known() -> None:
    with pytest.raises(ConfigError) as failure:
        operations.run("layers_negotiate", SITUATION, numbers={"openscroll": {"zzzzqqq": 1}})
    assert "…" not in failure.value.remedy
