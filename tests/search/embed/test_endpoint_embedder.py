"""What an embedder behind an endpoint promises."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from foveal.errors import UpstreamError
from foveal.search.embed.endpoint import EndpointEmbedder


class Far:
    """Answers with vectors of a given length, and remembers what it was asked."""

    def __init__(self, width: int = 2, value: float = 3.0) -> None:
        self.width, self.value, self.asked = width, value, list[str]()

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += texts
        return [[self.value] + [0.0] * (self.width - 1) for _ in texts]


def asking(far: Far) -> EndpointEmbedder:
    return EndpointEmbedder(name="https://far.example/v1", ask=far)


def test_rows_come_in_order_and_of_length_1() -> None:
    assert asking(Far()).embed(["a", "b"]).tolist() == [[1, 0], [1, 0]]


def test_a_text_that_says_nothing_is_not_sent() -> None:
    far = Far()
    assert asking(far).embed(["a", " ", "b"]).tolist() == [[1, 0], [0, 0], [1, 0]]
    assert far.asked == ["a", "b"]


def test_its_dimensions_are_known_with_the_first_answer() -> None:
    embedder = asking(Far(width=5))
    assert embedder.dimensions == 0
    assert embedder.embed(["a"]).shape == (1, embedder.dimensions)
    assert embedder.dimensions == 5


def test_nothing_to_ask_asks_nothing() -> None:
    far = Far()
    assert asking(far).embed([]).shape == (0, 0)
    assert far.asked == []


def test_a_model_that_changes_its_dimensions_is_refused() -> None:
    far = Far(width=2)
    embedder = asking(far)
    embedder.embed(["a"])
    far.width = 3
    with pytest.raises(UpstreamError, match=r"of \[3\] numbers where 2 were expected"):
        embedder.embed(["b"])


@pytest.mark.parametrize("answer", [[], [[1.0]], [[1.0], [1.0, 2.0]], [[], []]])
def test_an_answer_that_does_not_match_its_texts_is_refused(answer: list[list[float]]) -> None:
    with pytest.raises(UpstreamError, match="for 2 texts"):
        EndpointEmbedder(name="far", ask=lambda _: answer).embed(["a", "b"])


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused(value: float) -> None:
    with pytest.raises(UpstreamError, match="not all of their numbers are finite"):
        asking(Far(value=value)).embed(["a"])


def test_a_vector_of_zeros_stays_one() -> None:
    assert not np.any(asking(Far(value=0.0)).embed(["a"]))
