"""A blocking call in → the same call for async callers, off the event loop. There is no second copy."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def in_thread(call: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """The async form of a function that may wait for a disk."""

    @wraps(call)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        import asyncio

        return await asyncio.to_thread(call, *args, **kwargs)

    return run
