"""Where the evaluation data and its harness are, and Foveal as that harness drives it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import foveal
from foveal.config import Tables
from foveal.pipeline.tokens.count import tokenizer

BENCH = Path(os.environ.get("FOVEAL_BENCH", Path(__file__).parents[2] / "shared" / "bench"))
ABSENT = (
    f"no trajectory harness at {BENCH / 'trajectories'}: name its folder with FOVEAL_BENCH. "
    "The recordings are public: tau-bench, entireio/cli checkpoints, SWE-smith, InterCode."
)


def trajectories() -> bool:
    """Make the trajectory harness importable, counting with our exact o200k; False where it is absent."""
    place = BENCH / "trajectories"
    if not (place / "trajbench").is_dir():
        return False
    sys.path.insert(0, str(place))
    sys.dont_write_bytecode = True
    from trajbench import tokens

    if tokens._raw_count is None:
        tokens._raw_count = tokenizer("o200k_base").count
    return True


class Stored:
    """A session: each message appended as it happens, a window built before every model call."""

    extra_llm_tokens = 0
    chosen = ""
    """The preset; the default one when empty."""
    numbers: Tables | None = None
    """The presets' own, where they should differ."""

    def open(self, model: str, budget: int) -> None:
        self.budget = budget
        # No window here uses vectors, so they need not be computed during the measurement.
        store = foveal.Foveal(":memory:", numbers=self.numbers, embedder="none")
        self.session = store.session("bench", model=model)

    def append(self, message: dict[str, Any]) -> None:
        self.session.extend([message])

    def build(self) -> list[dict[str, Any]]:
        return self.session.build(budget=self.budget, preset=self.chosen).messages


class Stateless:
    """`fit` over the whole history, every time."""

    extra_llm_tokens = 0
    chosen = ""
    """The preset; the default one when empty."""

    def open(self, model: str, budget: int) -> None:
        self.model, self.budget = model, budget
        self.messages: list[dict[str, Any]] = []

    def append(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    def build(self) -> list[dict[str, Any]]:
        return foveal.fit(self.messages, model=self.model, budget=self.budget, preset=self.chosen).messages


SYSTEMS = {"session": Stored, "fit": Stateless}
