"""How entries are scored. Read the test names top to bottom: they are the specification."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choosing import item
from foveal.pipeline.values import Scene
from foveal.presets.fifth.levels import FifthNumbers
from foveal.presets.fifth.score import explicit, fifth, references, relevance

NOW = Scene(now=600.0)


def referred(*texts: str) -> list[float]:
    return references([item(n, text=text) for n, text in enumerate(texts)])


def alike(task: str, *texts: str) -> list[float]:
    return relevance([item(n, text=text) for n, text in enumerate(texts)], task)


def test_references_are_later_mentions_among_all_mentions() -> None:
    assert referred("see auth.js", "auth.js and again auth.js", "nothing") == [2 / 3, 0.0, 0.0]


def test_only_the_first_to_name_a_thing_introduced_it() -> None:
    assert referred("open a.py", "a.py imports b.py", "fix b.py") == [0.5, 0.5, 0.0]


def test_what_introduces_nothing_has_no_references() -> None:
    assert referred("hello there", "hello again") == [0.0, 0.0]


def test_a_path_is_met_by_its_file_name() -> None:
    assert referred("src/auth.js is broken", "fixed auth.js")[0] == pytest.approx(1 / 3)


def test_the_same_words_are_fully_relevant_and_other_words_not_at_all() -> None:
    same, other = alike("fix the login bug", "the bug: fix login", "weather in Paris")
    assert (round(same, 9), other) == (1.0, 0.0)


def test_a_rare_word_says_more_than_a_common_one() -> None:
    rare, common, *_ = alike("parser cache", "parser", "cache", "cache x", "cache y")
    assert rare > common


def test_without_a_task_nothing_is_relevant() -> None:
    assert alike("the of and", "parser", "cache") == [0.0, 0.0]


def test_marks_count_wherever_they_stand() -> None:
    marked = [item(0, important=True), item(1, metadata={"important": True}), item(2)]
    assert [explicit(each) for each in marked] == [1.0, 1.0, 0.0]


def test_the_score_is_3_parts_recency_2_references_4_relevance_1_explicit() -> None:
    entries = [
        item(0, text="fix auth.js", timestamp=540.0, important=True),
        item(1, text="auth.js", timestamp=None),
    ]
    first, second = fifth(entries, Scene(now=600.0, task="fix auth.js"))
    assert {name: round(part, 9) for name, part in first.parts.items()} == {
        "recency": 0.15,
        "references": 0.1,
        "relevance": 0.4,
        "explicit": 0.1,
    }
    assert second.parts["recency"] == 0.0


def test_a_time_in_the_future_is_now() -> None:
    assert fifth([item(0, timestamp=900.0)], NOW)[0].parts["recency"] == 0.3


def test_the_weights_can_be_changed() -> None:
    numbers = FifthNumbers(explicit_weight=0.7)
    assert fifth([item(0, important=True)], NOW, numbers=numbers)[0].total == 0.7


texts = st.lists(st.sampled_from(["auth.js", "fix", "bug", "userId", "the", "4815", "parser"])).map(" ".join)
entries = st.tuples(texts, st.none() | st.floats(0, 2_000), st.booleans())


@given(st.lists(entries, max_size=8), texts)
@settings(max_examples=300)
def test_every_score_is_within_0_and_1_and_the_sum_of_its_parts(
    rows: list[tuple[str, float | None, bool]], task: str
) -> None:
    items = [item(n, text=text, timestamp=time, important=mark) for n, (text, time, mark) in enumerate(rows)]
    scores = fifth(items, Scene(now=600.0, task=task))
    assert len(scores) == len(items)
    for score in scores:
        assert 0 <= score.total <= 1 + 1e-9
        assert score.total == pytest.approx(sum(score.parts.values()))
