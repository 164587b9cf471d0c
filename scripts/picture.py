"""Draw `docs/images/window.svg`: the session of the demo and the last window sent for it, to scale."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path

from drawing import Bar, legend, row, svg, text
from foveal.cli.demo.rehearsal import BUDGET, Rehearsal, rehearse
from foveal.window import Decision

PAGE = Path(__file__).parents[1] / "docs" / "images" / "window.svg"
COLOURS = {
    "system prompt": ("#7c5cff", "#9b82ff"),
    "the user's request": ("#e0a100", "#e0a100"),
    "log": ("#bf3989", "#db61a2"),
    "newest turns": ("#2f81f7", "#4493f8"),
    "open turn": ("#1a7f37", "#3fb950"),
    "logged, or one search away": ("#c9ced6", "#4b535d"),
    "free": ("#eaeef2", "#2a313a"),
}
CAPTION = (
    "the request and the newest turns in full, and a log of the others: what was said, done and decided, "
    "and how it ended"
)


def page() -> str:
    """The picture as SVG."""
    found = rehearse()
    label = f"A session of {found.tokens:,} tokens and the window of {BUDGET:,} that Foveal sends of it"
    whole = f"Everything the agent saw: {found.messages:,} messages, {found.tokens:,} tokens, stored"
    sent = f"What the model is sent now: {found.window.tokens:,} of {BUDGET:,} tokens, valid, explained"
    return svg(
        label,
        236,
        COLOURS,
        [
            text(whole, 26, style="t"),
            text("drawn to scale in tokens", 46),
            *row(_session(found), COLOURS, top=58),
            text(sent, 122, style="t"),
            text(CAPTION, 142),
            *row(_window(found), COLOURS, top=150),
            legend(COLOURS, 206),
        ],
    )


def _session(found: Rehearsal) -> list[Bar]:
    """Runs of messages that look the same, and their tokens."""
    looks = [
        _look(each) for each in found.window.manifest.decisions for _ in range(each.first, each.last + 1)
    ]
    runs = groupby(zip(looks, found.sizes, strict=True), key=lambda pair: pair[0])
    return [Bar(look=look, tokens=sum(size for _, size in run)) for look, run in runs]


def _look(decision: Decision) -> str:
    if decision.verdict == "left out" or decision.detail == "folded":
        return "logged, or one search away"
    looks: Mapping[str, str] = {
        "system_prompt": "system prompt",
        "standing_request": "the user's request",
        "newest_user": "the user's request",
        "open_turn": "open turn",
    }
    return looks.get(decision.code, "newest turns")


def _window(found: Rehearsal) -> list[Bar]:
    """The parts of the window in their order, and their tokens."""
    parts = dict(found.window.manifest.parts)
    tokens = {
        "system prompt": parts.pop("system", 0),
        "the user's request": parts.pop("requests", 0),
        "log": sum(parts.pop(name, 0) for name in ("log", "notes", "retrieved")),
        "newest turns": 0,
        "open turn": parts.pop("open turn", 0),
    }
    tokens["newest turns"] = sum(parts.values())
    tokens["free"] = BUDGET - found.window.tokens
    return [Bar(look=look, tokens=many) for look, many in tokens.items() if many]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
