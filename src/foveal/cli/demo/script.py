"""Generate a long coding session, the same every time: an agent hunts a bug in a login service.

It has what real ones have: a rule stated once at the start, a decision made early, and then hundreds of
files, logs and test runs, each read once and hardly ever needed again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

MODEL = "gpt-5"
STEPS = 150
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
ASIDES = {
    24: "Good. While you are there, check that the admin console uses the same code path.",
    52: "CI is red on the Windows runner. Is that ours?",
    83: "Support says it got worse at 09:00 UTC. Look at this morning's gateway log, please.",
    117: "The reviewer asks for a test with two devices. Add one.",
    139: "Nearly there. Run everything once more, and the linters.",
}
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
    "This looks right, so the {0} must be stale by the time the {1} is checked.",
    "Let me rule out the {0} first: it is the only other place that touches the {1}.",
    "The test passes alone and fails in the suite, so the {0} leaks into the {1}.",
)


def messages() -> Iterator[dict[str, Any]]:
    """The session as OpenAI chat messages; it ends with a question about its beginning."""
    yield {"role": "system", "content": SYSTEM}
    yield {"role": "user", "content": RULE}
    for step in range(STEPS):
        if step in ASIDES:
            yield {"role": "user", "content": ASIDES[step]}
        if step == 9:
            yield {"role": "assistant", "content": DECISION}
            yield {"role": "user", "content": "Agreed. Go ahead."}
        yield from _step(step)
    yield {
        "role": "assistant",
        "content": "All 214 tests pass, the linters are clean, and nothing logs a token.",
    }
    yield {"role": "user", "content": QUESTION}


def _step(step: int) -> Iterator[dict[str, Any]]:
    """A thought, one or two calls, and their results."""
    thought = _THOUGHTS[step % 4].format(_word(step), _word(step + 5))
    # Some steps look at two things at once, as models do.
    calls = [_call(step, part) for part in range(2 if step % 3 == 0 else 1)]
    yield {"role": "assistant", "content": thought, "tool_calls": calls}
    for part, call in enumerate(calls):
        yield {"role": "tool", "tool_call_id": call["id"], "content": _result(step + 7 * part)}


def _call(step: int, part: int) -> dict[str, Any]:
    seed = step + 7 * part
    name, arguments = (
        ("read_file", {"path": _FILES[seed % len(_FILES)]}),
        ("run_tests", {"pattern": f"{_word(seed)} and not slow"}),
        ("read_log", {"service": "gateway", "lines": 60}),
        ("search", {"regex": rf"def \w*{_word(seed)}\w*"}),
    )[seed % 4]
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"call_{step:03}_{part}", "type": "function", "function": function}


def _result(seed: int) -> str:
    return (_file, _tests, _log, _found)[seed % 4](seed)


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


def _tests(seed: int) -> str:
    lines = ["============================= test session starts ============================="]
    for n in range(26):
        verdict = "FAILED" if (seed * 31 + n) % 17 == 0 else "PASSED"
        lines.append(
            f"tests/test_{_word(n)}.py::test_{_word(n + seed)}_{_word(n)}_{n} {verdict} [{4 * n:3}%]"
        )
    return "\n".join([*lines, f"E   AssertionError: {_word(seed)} expired {seed % 50} ms too early", ""])


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
