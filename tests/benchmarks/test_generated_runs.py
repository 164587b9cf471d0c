"""What the generated runs and their judge promise: the same run every time, and a judge that can say no."""

from __future__ import annotations

import runpy
from itertools import pairwise
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
GENERATED, JUDGE = (runpy.run_path(str(BENCHMARKS / f"{name}.py")) for name in ("generated_runs", "judge"))
RUN = GENERATED["run"](3, 6)


class Everything:
    """A system that leaves nothing out; `first` is where its windows begin after the system prompt."""

    def __init__(self, first: int = 1) -> None:
        self.first = first

    def open(self, _model: str, _budget: int) -> None:
        self.messages: list[dict[str, Any]] = []

    def append(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    def build(self) -> list[dict[str, Any]]:
        return [self.messages[0], *self.messages[self.first :]]


def scored(system: object, *, fraction: float) -> Any:
    score = JUDGE["Score"]()
    JUDGE["replay"](system, JUDGE["Case"]("run", RUN, fraction=fraction), score)
    return score


def test_a_seed_makes_the_same_run_every_time_and_another_seed_another() -> None:
    assert GENERATED["run"](3, 6) == RUN
    assert GENERATED["run"](4, 6) != RUN


def test_a_window_with_everything_is_valid_and_over_its_budget_and_counts_for_nothing() -> None:
    score = scored(Everything(), fraction=0.5)
    assert (score.invalid, score.usable) == (0, 0)
    assert score.over > 0
    assert score.needed > 0


def test_the_newest_turns_that_fit_keep_some_facts_and_never_all() -> None:
    score = scored(JUDGE["Newest"](), fraction=0.25)
    assert (score.invalid, score.over) == (0, 0)
    assert 0 < score.usable < score.needed


def test_an_answer_without_its_call_is_refused() -> None:
    call, answer = next(pair for pair in pairwise(RUN) if pair[1]["role"] == "tool")
    user = {"role": "user", "content": "hello"}
    assert JUDGE["valid"]([user, call, answer], answer)
    assert not JUDGE["valid"]([user, answer], answer)
    assert not JUDGE["valid"]([user, call], call)


def test_a_prefix_that_repeats_is_billed_at_a_tenth() -> None:
    still, moved = scored(Everything(), fraction=1.0), scored(Everything(first=-1), fraction=1.0)
    assert still.cost["anthropic"] < 0.3 * still.cost["tokens"]
    assert moved.cost["anthropic"] >= moved.cost["tokens"]
