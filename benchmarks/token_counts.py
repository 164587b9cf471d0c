"""Measure how the time to count tokens grows with hostile input, and compare it with tiktoken.

    python benchmarks/token_counts.py [--json FILE] [--name o200k_base]

Growth is the time for 8 MB over the time for 1 MB: 8 is linear. All times are processor time of all threads,
the best of five runs: on a busy machine, wall-clock time also measures other processes, which interrupt a
long run more often than a short one.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from foveal.pipeline.tokens.count import tokenizer

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

MB = 1 << 20
SIZES = (1, 2, 4, 8)
LIMIT = 10
RUNS = 5
WORDS = "the eye keeps full detail where it looks and less further out it can look back at any time"


def hostile(size: int) -> Mapping[str, str]:
    """Inputs that have made tokenizers quadratic, `size` bytes each."""
    source = random.Random(8)
    return {
        "one letter": "a" * size,
        "spaces": " " * size,
        "newlines": "\n" * size,
        "base64": base64.b64encode(source.randbytes(size * 3 // 4)).decode(),
        "random letters": "".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=size)),
        "dots": "." * size,
        "one hanzi": "好" * (size // 3),
        "one emoji": "😀" * (size // 4),
    }


def ordinary() -> Mapping[str, str]:
    """A megabyte of each kind of text, none of it repeated line by line."""
    source = random.Random(9)
    words = WORDS.split()
    files = sorted(Path(__file__).parents[1].glob("src/**/*.py"))
    code = "\n".join(path.read_text(encoding="utf-8") for path in files)
    prose = " ".join(source.choice(words) + source.choice(["", "", ",", ".", "s"]) for _ in range(230_000))
    records = ({"id": source.randrange(10**9), "ok": source.random() < 0.5, "name": w} for w in words * 1300)
    hanzi = "".join(chr(source.randrange(0x4E00, 0x9FA5)) for _ in range(MB // 3))
    return {
        "prose": prose[:MB],
        "code": (code * (MB // len(code) + 1))[:MB],
        "JSON": json.dumps(list(records))[:MB],
        "CJK": hanzi,
    }


def seconds(count: Callable[[str], int], text: str) -> float:
    """Processor seconds of one run."""
    start = time.process_time()
    count(text)
    return time.process_time() - start


def growth(count: Callable[[str], int]) -> dict[str, list[float]]:
    """For each input the best time at each size; sizes take turns, so that each gets its quiet moment."""
    texts = [hostile(size * MB) for size in SIZES]
    rows: dict[str, list[float]] = {}
    for kind in texts[0]:
        rounds = [[seconds(count, text[kind]) for text in texts] for _ in range(RUNS)]
        rows[kind] = [min(times) for times in zip(*rounds, strict=True)]
    return rows


def reference(name: str) -> Callable[[str], int] | None:
    """tiktoken's count, where it and its vocabulary are to be had."""
    try:
        from reference import encoding

        encode = encoding(name).encode_ordinary
    except (ImportError, OSError, KeyError, ValueError) as error:
        print(f"no comparison with tiktoken: {type(error).__name__}: {error}")
        return None
    return lambda text: len(encode(text))


def throughput(name: str) -> dict[str, dict[str, float]]:
    """Megabytes a second of each, first for us, then for tiktoken."""
    count, theirs = tokenizer(name).count, reference(name)
    rows: dict[str, dict[str, float]] = {}
    for kind, text in ordinary().items():
        size = len(text.encode()) / MB
        rows[kind] = {"foveal": round(size / min(seconds(count, text) for _ in range(RUNS)), 1)}
        if theirs is not None:
            rows[kind]["tiktoken"] = round(size / min(seconds(theirs, text) for _ in range(RUNS)), 1)
            assert count(text) == theirs(text), f"{kind}: counts differ"
    return rows


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--json", type=Path, help="write the figures to this file")
    options.add_argument("--name", default="o200k_base", help="o200k_base or cl100k_base")
    asked = options.parse_args()
    count = tokenizer(asked.name).count
    count("load the vocabulary")
    rows = growth(count)
    print(f"{asked.name:16}" + "".join(f"{size:>8} MB" for size in SIZES) + "   8 MB / 1 MB")
    for kind, times in rows.items():
        print(f"{kind:16}" + "".join(f"{each:>9.3f} s" for each in times) + f"{times[-1] / times[0]:>12.1f}")
    speeds = throughput(asked.name)
    for kind, speed in speeds.items():
        print(f"{kind:16}" + "   ".join(f"{who} {rate:.1f} MB/s" for who, rate in speed.items()))
    worst = max(times[-1] / times[0] for times in rows.values())
    print(f"worst growth {worst:.1f} (limit {LIMIT})")
    if asked.json:
        figures = {
            "name": asked.name,
            "seconds": rows,
            "worst_growth": round(worst, 2),
            "mb_per_second": speeds,
        }
        asked.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return int(worst >= LIMIT)


if __name__ == "__main__":
    sys.exit(main())
