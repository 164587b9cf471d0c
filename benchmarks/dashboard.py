"""Measure the frames per second of the dashboard's strip, scrolled and zoomed, with 20 000 chunks.

    python benchmarks/dashboard.py [--json FILE] [--chunks 20000]

It uses a real Chromium without a graphics card, a real server and one real window of that many chunks.
`script` is the time that drawing a frame takes in the page, which a busy machine affects less than the frames
per second.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

SECONDS = 4
PAGE = 10_000
"""Messages in a request."""
LEAST = 30
"""Frames a second, while the strip is scrolled."""
MOVES = {
    "scrolling, half in sight": ("strip.zoomBy(2);", "strip.scroller.scrollLeft = (7 * frames) % 1000;"),
    "scrolling, a 20th in sight": ("strip.zoomOut(); strip.zoomBy(20);", "strip.scroller.scrollLeft += 23;"),
    "zooming in and out": ("strip.zoomOut();", "strip.zoomBy(frames % 60 < 30 ? 1.08 : 1 / 1.08);"),
    "walking with the arrow keys": (
        "strip.zoomOut(); strip.select(0);",
        "strip.select((strip.selected + 1) % strip.model.count, { tell: true });",
    ),
    "scrolling the list": ("list.scrollTop = 0;", "list.scrollTop += 173;"),
}
MEASURE = """
({ begin, move, seconds }) => {
  const strip = document.querySelector("#strip");
  const list = document.querySelector("#chunks .rows");
  let frames = 0;
  begin();
  return new Promise((resolve) => {
    const gaps = [];
    let spent = 0;
    let last = performance.now();
    const end = last + 1000 * seconds;
    const paint = strip.painter.paint.bind(strip.painter);
    strip.painter.paint = (...given) => {
      const start = performance.now();
      paint(...given);
      spent += performance.now() - start;
    };
    const step = (now) => {
      gaps.push(now - last);
      last = now;
      frames += 1;
      move();
      if (now < end) return requestAnimationFrame(step);
      delete strip.painter.paint;
      gaps.sort((a, b) => a - b);
      const all = gaps.reduce((sum, gap) => sum + gap, 0);
      const at = (share) => gaps[Math.floor(share * (gaps.length - 1))];
      const fps = (1000 * gaps.length) / all;
      resolve({ fps, median_ms: at(0.5), p95_ms: at(0.95), script_ms: spent / gaps.length });
    };
    requestAnimationFrame(step);
  });
}
"""


def measured(chunks: int) -> Mapping[str, Mapping[str, float]]:
    from playwright.sync_api import sync_playwright

    from server.browser.visits import FLAGS, chromium, serving, until

    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "foveal.db") as service:
        service.post("/sessions", name="long", model="claude-fable-5", preset="recent")
        said = [
            {"role": ("user", "assistant")[n % 2], "content": f"Step {n}: " + "word " * (n % 30)}
            for n in range(chunks)
        ]
        for start in range(0, chunks, PAGE):
            service.post(
                "/sessions/long/messages/import", messages=said[start : start + PAGE], format="openai"
            )
        service.post("/sessions/long/build", budget=900_000)
        with sync_playwright() as playwright:
            page = playwright.chromium.launch(executable_path=chromium(), args=FLAGS).new_page()
            page.goto(service.page("long"))
            until(page, f"document.querySelector('#strip').model?.count >= {chunks}")
            found = {name: page.evaluate(_script(*move)) for name, move in MOVES.items()}
            page.context.browser.close()  # type: ignore[union-attr]  # it was launched above
            return found


def _script(begin: str, move: str) -> str:
    """The measuring with its two acts written into it: the page's policy lets nothing be made of a text."""
    body = MEASURE.strip().replace("({ begin, move, seconds }) => {", "() => {", 1)
    return (
        body.replace("begin();", begin, 1).replace("move();", move, 1).replace("seconds;", f"{SECONDS};", 1)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--chunks", type=int, default=20_000)
    asked = parser.parse_args()
    from server.browser.visits import chromium

    if chromium() is None:
        print("no Chromium on this machine")
        return 0
    found = measured(asked.chunks)
    print(f"{asked.chunks:,} chunks{'':16} frames/s   median   95th %   drawing")
    for name, each in found.items():
        times = f"{each['median_ms']:6.1f} ms{each['p95_ms']:6.1f} ms{each['script_ms']:7.2f} ms"
        print(f"{name:28}{each['fps']:10.1f}  {times}")
    if asked.json:
        asked.json.write_text(
            json.dumps({"chunks": asked.chunks, "moves": found}, indent=2) + "\n", encoding="utf-8"
        )
    return (
        0 if all(each["fps"] >= LEAST for name, each in found.items() if name.startswith("scrolling,")) else 1
    )


if __name__ == "__main__":
    sys.exit(main())
