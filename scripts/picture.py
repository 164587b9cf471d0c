"""Draw `docs/images/window.svg`: the session of the demo and the last window sent for it, to scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

from foveal.cli.demo.rehearsal import BUDGET, Rehearsal, rehearse
from foveal.window import Decision

PAGE = Path(__file__).parents[1] / "docs" / "images" / "window.svg"
WIDTH, LEFT, GAP, LEAST = 820, 20, 2, 6
COLOURS = {
    "system prompt": "#7c5cff",
    "the user's request": "#e0a100",
    "log": "#bf3989",
    "newest turns": "#2f81f7",
    "open turn": "#1a7f37",
    "logged, or one search away": "#c9ced6",
    "free": "#eaeef2",
}
CAPTION = (
    "the request and the newest turns in full, and a log of the others: what was said, done and decided, "
    "and how it ended"
)
STYLE = (
    "text{font-family:ui-sans-serif,system-ui,sans-serif;fill:#57606a}"
    ".t{font-size:15px;font-weight:600}.s{font-size:13px}"
)


def page() -> str:
    """The picture as SVG."""
    found = rehearse()
    label = f"A session of {found.tokens:,} tokens and the window of {BUDGET:,} that Foveal sends of it"
    whole = f"Everything the agent saw: {found.messages:,} messages, {found.tokens:,} tokens, stored"
    sent = f"What the model is sent now: {found.window.tokens:,} of {BUDGET:,} tokens, valid, explained"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 236" role="img" aria-label="{label}">',
            f"<style>{STYLE}</style>",
            f'<text x="20" y="26" class="t">{whole}</text>',
            '<text x="20" y="46" class="s">drawn to scale in tokens</text>',
            *_bars(_session(found), 58),
            f'<text x="20" y="122" class="t">{sent}</text>',
            f'<text x="20" y="142" class="s">{CAPTION}</text>',
            *_bars(_window(found), 150),
            "".join(_legend()),
            "</svg>\n",
        ]
    )


def _session(found: Rehearsal) -> list[tuple[str, int]]:
    """Runs of messages that look the same, and their tokens."""
    looks = [
        _look(each) for each in found.window.manifest.decisions for _ in range(each.first, each.last + 1)
    ]
    runs = groupby(zip(looks, found.sizes, strict=True), key=lambda pair: pair[0])
    return [(look, sum(size for _, size in run)) for look, run in runs]


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


def _window(found: Rehearsal) -> list[tuple[str, int]]:
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
    return [*tokens.items(), ("free", BUDGET - found.window.tokens)]


def _bars(parts: list[tuple[str, int]], top: int) -> Iterator[str]:
    """The parts next to each other, in proportion, none too narrow to be seen."""
    parts = [(look, tokens) for look, tokens in parts if tokens]
    room, total = WIDTH - GAP * (len(parts) - 1), sum(tokens for _, tokens in parts)
    small = [tokens for _, tokens in parts if room * tokens / total < LEAST]
    scale = (room - LEAST * len(small)) / (total - sum(small))
    x = float(LEFT)
    for look, tokens in parts:
        width = max(LEAST, tokens * scale)
        yield f'<rect x="{x:.1f}" y="{top}" width="{width:.1f}" height="30" rx="2" fill="{COLOURS[look]}"/>'
        x += width + GAP


def _legend() -> Iterator[str]:
    x = LEFT
    for look, colour in COLOURS.items():
        yield (
            f'<rect x="{x}" y="206" width="12" height="12" rx="2" fill="{colour}" stroke="#8c959f" '
            f'stroke-width="0.5"/><text x="{x + 18}" y="216" class="s">{look}</text>'
        )
        x += 38 + int(6.6 * len(look))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
