"""Draw bars of tokens as SVG, in colours for light and for dark pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, LEFT, GAP = 820, 20, 2
TEXT = (
    "text{font-family:ui-sans-serif,system-ui,sans-serif;fill:#57606a}"
    ".t{font-size:15px;font-weight:600}.s{font-size:13px}.n{font-size:10px}.m{text-anchor:middle}"
    ".k rect{stroke:#8c959f;stroke-width:.5}"
)
DARK_TEXT = "text{fill:#9da7b3}"

Palette = Mapping[str, tuple[str, str]]
"""What a bar stands for, as the legend names it, and its colours on light and on dark pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar of a row."""

    look: str
    """A name of the palette."""
    tokens: int
    share: float = 1.0
    """Share of the row's height, from the bottom."""
    label: str = ""
    """Below the bar, if there is room."""


def svg(label: str, height: int, palette: Palette, lines: Sequence[str]) -> str:
    """The whole picture; `label` is read to those who do not see it."""
    light = "".join(f".{_name(palette, look)}{{fill:{pair[0]}}}" for look, pair in palette.items())
    dark = "".join(f".{_name(palette, look)}{{fill:{pair[1]}}}" for look, pair in palette.items())
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 2 * LEFT} {height}" role="img" '
            f'aria-label="{escape(label)}">',
            f"<style>{TEXT}{light}@media (prefers-color-scheme:dark){{{DARK_TEXT}{dark}}}</style>",
            *lines,
            "</svg>\n",
        ]
    )


def text(words: str, top: int, *, style: str = "s", left: float = LEFT) -> str:
    """A line of text with its base line at `top`; `t` is a title, `s` a sentence, `n` a small number."""
    return f'<text x="{left:g}" y="{top}" class="{style}">{escape(words, quote=False)}</text>'


def widths(tokens: Sequence[int], least: float) -> list[float]:
    """The width of each bar, in proportion, none narrower than `least`; together they fill a row."""
    room = WIDTH - GAP * (len(tokens) - 1)
    small: set[int] = set()
    while True:
        large = sum(tokens) - sum(tokens[at] for at in small)
        scale = (room - least * len(small)) / max(1, large)
        found = {at for at, many in enumerate(tokens) if many * scale < least}
        if found <= small:
            return [least if at in small else many * scale for at, many in enumerate(tokens)]
        small |= found


def row(
    bars: Sequence[Bar], palette: Palette, *, top: int, height: int = 30, least: float = 6
) -> Iterator[str]:
    """The bars next to each other, with their labels below."""
    x = float(LEFT)
    for bar, width in zip(bars, widths([bar.tokens for bar in bars], least), strict=True):
        tall = max(2, round(height * bar.share))
        yield rect(palette, bar.look, box=(x, top + height - tall, width, tall))
        if bar.label and width >= 6 * len(bar.label):
            yield text(bar.label, top + height + 12, style="n m", left=round(x + width / 2, 1))
        x += width + GAP


def rect(palette: Palette, look: str, *, box: tuple[float, float, float, float]) -> str:
    """A filled rectangle; `box` is its left, its top, its width and its height."""
    x, y, width, height = box
    return (
        f'<rect x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="{height:g}" rx="2" '
        f'class="{_name(palette, look)}"/>'
    )


def legend(palette: Palette, top: int, looks: Sequence[str] = ()) -> str:
    """What the colours stand for, in one line; all of them by default."""
    shown = list(looks or palette)
    sizes = [18 + _length(look) for look in shown]
    gap = min(20.0, (WIDTH - sum(sizes)) / max(1, len(shown) - 1))
    x, parts = float(LEFT), []
    for look, size in zip(shown, sizes, strict=True):
        parts += [rect(palette, look, box=(x, top, 12, 12)), text(look, top + 10, left=round(x + 18, 1))]
        x += size + gap
    return f'<g class="k">{"".join(parts)}</g>'


def _length(words: str) -> float:
    """Nearly the width of a sentence, in the widest of the fonts that readers may have."""
    return sum(4.6 if letter in "fijlrt' " else 11.6 if letter in "mw" else 8.0 for letter in words)


def _name(palette: Palette, look: str) -> str:
    """The class of a bar."""
    return f"c{list(palette).index(look)}"
