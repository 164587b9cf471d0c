"""Generate a long coding session, the same every time: an agent hunts a bug in a login service.

It has what real ones have: rules stated once at the start, a decision made early, edits and test runs that
fail and pass, and then hundreds of files and logs, each read once and hardly ever needed again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

MODEL = "gpt-5"
STEPS = 130
RULE = (
    "Since release 4.2 about one login in fifty fails: people are thrown out right after signing in. "
    "Find the cause and fix it. Two rules: never change the signatures in `auth/session.py`, the mobile "
    "app depends on them, and never write a token to a log, not even in a test."
)
DECISION = (
    "Found it: two tabs refresh at once, the second one presents a token that was rotated a moment ago, and "
    "we revoke the whole family. Decision: a rotated refresh token stays valid for a grace period of "
    "90 seconds, once, and only from the same device. I chose 90 over 30 because the slowest client in "
    "`metrics/refresh.csv` needed 71 seconds."
)
QUESTION = "Before we ship: what grace period did we settle on for rotated refresh tokens, and why that long?"
EXCHANGES = {
    9: (DECISION, "Agreed. Go ahead."),
    24: (
        "The fix is in: `auth/refresh.py` accepts a rotated token once within the grace period, and "
        "`test_two_tabs` passes.",
        "Good. While you are there, check that the admin console uses the same code path.",
    ),
    48: (
        "It does: `admin/console.py` refreshes through `auth/refresh.py`, so nothing has to change there.",
        "CI is red on the Windows runner. Is that ours?",
    ),
    74: (
        "It was ours: the clock of that runner has steps of 16 ms. `store/clock.py` uses the monotonic clock "
        "now, and CI is green.",
        "Support says it got worse at 09:00 UTC. Look at this morning's gateway log, please.",
    ),
    100: (
        "At 09:00 UTC the gateway restarts and 40 clients refresh at once. With the grace period none of "
        "them is thrown out any more.",
        "The reviewer asks for a test with two devices. Add one.",
    ),
    122: (
        "Added `test_two_devices`: the second device is refused, as it should be.",
        "Nearly there. Run everything once more, and the linters.",
    ),
}
"""By step, how the model ends its turn before it, and what the user says then."""
EDITS = {
    11: (
        "auth/refresh.py",
        "    if token.rotated:\n        families.revoke(token.family)",
        "    if token.rotated and not within_grace(token, device):\n        families.revoke(token.family)",
    ),
    54: ("store/clock.py", "    return time.time()", "    return time.monotonic()"),
    102: (
        "tests/test_devices.py",
        "def test_one_device(client):",
        "def test_two_devices(client, other):\n    assert other.refresh(client.token).status == 401\n\n\n"
        "def test_one_device(client):",
    ),
    105: (
        "auth/devices.py",
        "    return token.family == device.family",
        "    return token.device == device.id",
    ),
}
"""By step, the file that is changed, what is replaced, and by what."""
FAILURES = (
    (range(12), "tests/test_refresh.py::test_two_tabs", "AssertionError: family revoked"),
    (
        range(48, 55),
        "tests/test_clock.py::test_expiry_to_the_millisecond",
        "AssertionError: expired 16 ms early",
    ),
    (range(102, 106), "tests/test_devices.py::test_two_devices", "AssertionError: 200 == 401"),
)
"""The steps in which a test fails, its name, and how."""
SYSTEM = (
    "You are a careful software engineer working in the repository `login-service`. Read before you write, "
    "run the tests after every change, and explain each change in one sentence."
)
_FILES = (
    "auth/session.py", "auth/refresh.py", "auth/tokens.py", "auth/devices.py", "gateway/middleware.py",
    "gateway/limits.py", "store/families.py", "store/clock.py", "admin/console.py", "tests/test_refresh.py",
    "tests/test_devices.py", "deploy/values.yaml",
)  # fmt: skip
_WORDS = (
    "family", "device", "expiry", "rotation", "issuer", "audience", "cookie", "nonce", "tenant", "replica",
    "cache", "quota", "header", "claim", "session", "lease",
)  # fmt: skip
_THOUGHTS = (
    "The {0} is compared before the {1} is loaded; I want to see who calls this.",
    "This looks right, so the {0} is probably stale by the time the {1} is checked.",
    "Let me rule out the {0} first: it is the only other place that touches the {1}.",
    "The test passes alone and fails in the suite, so the {0} leaks into the {1}.",
)


def messages() -> Iterator[dict[str, Any]]:
    """The session as OpenAI chat messages; it ends with a question about its beginning."""
    yield {"role": "system", "content": SYSTEM}
    yield {"role": "user", "content": RULE}
    for step in range(STEPS):
        if step in EXCHANGES:
            answer, words = EXCHANGES[step]
            yield {"role": "assistant", "content": answer}
            yield {"role": "user", "content": words}
        yield from _step(step)
    yield {
        "role": "assistant",
        "content": "All 214 tests pass, the linters are clean, and nothing logs a token.",
    }
    yield {"role": "user", "content": QUESTION}


def _step(step: int) -> Iterator[dict[str, Any]]:
    """A thought, one or two calls, and their results."""
    thought = _THOUGHTS[step % 4].format(_word(step), _word(step + 5))
    made = list(_calls(step))
    calls = [
        {
            "id": f"call_{step:03}_{at}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for at, (name, arguments, _) in enumerate(made)
    ]
    yield {"role": "assistant", "content": thought, "tool_calls": calls}
    for call, (_, _, result) in zip(calls, made, strict=True):
        yield {"role": "tool", "tool_call_id": call["id"], "content": result}


def _calls(step: int) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The calls of a step: the tool, its arguments, what it returns."""
    if step in EDITS:
        path, old, new = EDITS[step]
        yield "edit_file", {"path": path, "old_string": old, "new_string": new}, f"Updated {path}."
    elif step == STEPS - 1:
        yield "run", {"command": "pytest -q"}, _tests(step, 214)
        yield "run", {"command": "ruff check ."}, "All checks passed!"
    else:
        # Some steps look at two things at once, as models do.
        for seed in (step, step + 7)[: 2 if step % 3 == 0 else 1]:
            yield _call(seed, step)


def _call(seed: int, step: int) -> tuple[str, dict[str, Any], str]:
    file, word = _FILES[seed % len(_FILES)], _word(seed)
    match seed % 4:
        case 0:
            return "read_file", {"path": file}, _file(seed)
        case 1:
            return "run", {"command": f"pytest -v -k {word}"}, _tests(step, 26)
        case 2:
            return "read_log", {"service": "gateway", "lines": 60}, _log(seed)
        case _:
            return "search", {"regex": rf"def \w*{word}\w*"}, _found(seed)


def _file(seed: int) -> str:
    lines = [f'"""{_FILES[seed % len(_FILES)]}: the {_word(seed)} side of a login."""', ""]
    for n in range(seed, seed + 14):
        one, two = _word(n), _word(n + 3)
        lines += [
            f"def check_{one}_{n}({one}: str, {two}: float) -> bool:",
            f'    """Whether the {one} may still be used with this {two}."""',
            f"    known = families.find({one}, within={30 + n % 60})",
            f"    if known is None or known.{two} < clock.now() - {n % 90}:",
            f'        raise Refused("{one}", code={4000 + n})',
            f"    return known.{two} == {two}",
            "",
        ]
    return "\n".join(lines)


def _tests(step: int, many: int) -> str:
    failing = [(name, error) for steps, name, error in FAILURES if step in steps]
    lines = ["============================= test session starts ============================="]
    for n in range(min(many, 26) - len(failing)):
        lines.append(f"tests/test_{_word(n)}.py::test_{_word(n + step)}_{_word(n)}_{n} PASSED [{4 * n:3}%]")
    lines += [f"{name} FAILED [100%]" for name, _ in failing]
    lines += [f"FAILED {name} - {error}" for name, error in failing]
    failed = f"{len(failing)} failed, " if failing else ""
    return "\n".join(
        [*lines, f"======= {failed}{many - len(failing)} passed in {3 + step % 5}.{step % 10}s ======="]
    )


def _log(seed: int) -> str:
    return "\n".join(
        f"2025-03-{1 + seed % 28:02}T09:{n % 60:02}:{seed * 7 % 60:02}.{n * 37 % 1000:03}Z "
        f"{'WARN' if n % 9 == 0 else 'INFO'} gateway request={seed * 1000 + n:08x} {_word(n + seed)}="
        f"{(seed * 7919 + n * 104729) % 99991} status={401 if n % 11 == 0 else 200} ms={n * 13 % 240}"
        for n in range(32)
    )


def _found(seed: int) -> str:
    return "\n".join(
        f"{_FILES[(seed + n) % len(_FILES)]}:{11 + n * 17}: def {_word(n)}_{_word(seed)}({_word(n + 2)}):"
        for n in range(20)
    )


def _word(n: int) -> str:
    return _WORDS[n % len(_WORDS)]
