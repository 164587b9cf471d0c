"""A short session of a coding agent, the same for the picture of every preset."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from foveal import Foveal, Session, Window

MODEL, BUDGET = "gpt-5", 1_200
START = 4_102_476_000.0
"""In 2100: no message is old enough for work in the background, which goes by the clock."""
TASK = "which grace period did we settle on"
RULE = (
    "Since release 4.2 one login in fifty fails with an error. Find the cause and fix it. "
    "Never change the signatures in `auth/session.py`: the mobile app depends on them."
)


def messages() -> list[dict[str, Any]]:
    """The session as OpenAI chat messages with timestamps; it ends with a question about its middle."""
    return [{**message, "timestamp": START + 60 * minute} for minute, message in _timed()]


def window(preset: str) -> Window:
    """The last window of the session, built as an agent does: one window for every call of the model."""
    with Foveal(":memory:") as fov:
        session = fov.session("login-service", model=MODEL, preset=preset)
        for message in messages():
            if message["role"] == "assistant":
                _build(fov, session, message["timestamp"])
            session.extend([message])
        return _build(fov, session, message["timestamp"] + 5)


def _build(fov: Foveal, session: Session, now: float) -> Window:
    fov.settle()  # what is read in the background is there, however fast the machine
    return session.build(budget=BUDGET, task=TASK, now=now)


def _timed() -> Iterator[tuple[float, dict[str, Any]]]:
    yield 0, _said("system", "You are a careful engineer in the repository `login-service`.")
    yield 0, _said("user", RULE)
    yield from _step(0.2, "read_file", {"path": "auth/refresh.py"}, _code("refresh", 14))
    yield from _step(1, "run", {"command": "pytest tests/test_refresh.py"}, _tests("test_two_tabs"))
    yield (
        3,
        _said(
            "assistant",
            "Two tabs refresh at once, and the second presents a token that was just rotated. Decision: a "
            "rotated token stays valid for a grace period of 90 seconds, for the slowest client needed 71.",
        ),
    )
    yield 6, _said("user", "Agreed. Go ahead.")
    yield from _step(
        6.2, "edit_file", {"path": "auth/refresh.py", "new": "if within_grace(token):"}, "Updated."
    )
    yield from _step(7, "run", {"command": "pytest tests/test_refresh.py"}, _tests())
    yield 8, _said("assistant", "The fix is in: a rotated token is accepted once within the grace period.")
    yield 15, _said("user", "Check that the admin console uses the same code path.")
    yield from _step(15.2, "search", {"regex": "def refresh"}, _found(8))
    yield from _step(16, "read_file", {"path": "admin/console.py"}, _code("console", 17))
    yield (
        17,
        _said("assistant", "It does: `admin/console.py` calls `auth/refresh.py`, so nothing has to change."),
    )
    yield 28, _said("user", "It got worse at 09:00 today. Look at the log of the gateway, please.")
    yield from _step(28.2, "read_log", {"service": "gateway"}, _log(8))
    yield (
        30,
        _said(
            "assistant",
            "The gateway restarts at 09:00 and 40 clients refresh at once. The grace period covers that.",
        ),
    )
    yield 32, _said("user", "Nearly there. Run the linters once more.")
    yield from _step(32.2, "run", {"command": "ruff check ."}, "All checks passed!")
    yield 33, _said("assistant", "The linters are clean.")
    yield 34, _said("user", "Before we ship: which grace period did we settle on, and why that long?")


def _said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def _step(
    minute: float, tool: str, arguments: dict[str, Any], result: str
) -> Iterator[tuple[float, dict[str, Any]]]:
    """A call and its result."""
    id = f"call_{int(10 * minute):03}"
    call = {"id": id, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    yield minute, {"role": "assistant", "content": None, "tool_calls": [call]}
    yield minute + 0.1, {"role": "tool", "tool_call_id": id, "content": result}


def _code(name: str, functions: int) -> str:
    return "\n".join(
        f"def {name}_{n}(token: str, device: str) -> bool:\n    return families.find(token, within={30 + n})"
        for n in range(functions)
    )


def _tests(failing: str = "") -> str:
    passed = "\n".join(f"tests/test_refresh.py::test_rotation_{n} PASSED" for n in range(8))
    if not failing:
        return f"{passed}\n==== 8 passed in 0.41s ===="
    failure = f"tests/test_refresh.py::{failing} FAILED\nAssertionError: family revoked after rotation"
    return f"{passed}\n{failure}\n==== 1 failed, 8 passed in 0.52s ===="


def _found(many: int) -> str:
    return "\n".join(
        f"admin/views_{n}.py:{11 + 17 * n}: def refresh_{n}(session, device):" for n in range(many)
    )


def _log(many: int) -> str:
    return "\n".join(
        f"09:00:{3 * n:02} gateway request={4000 + n} status={401 if n % 7 == 0 else 200} ms={37 * n % 90}"
        for n in range(many)
    )
