"""What fusing two searches promises: strong signals lead, whichever search they come from."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foveal.search.fusion import AGREEMENT, FLOOR, SAID_ONCE, fused
from foveal.store import Found

CLEAR_WORDS, POOR_WORDS = SAID_ONCE, 0.1
CLEAR_VECTOR, POOR_VECTOR = 0.8, 0.55

scores = st.dictionaries(st.integers(0, 30), st.floats(0, 1), max_size=20)


def hit(seq: int, score: float, *, session: str = "work") -> Found:
    return Found(
        session=session,
        seq=seq,
        id=f"m{seq}",
        digest=f"{seq:064}",
        role="user",
        score=score,
        body="{}",
        format="plain",
    )


def hits(found: dict[int, float]) -> list[Found]:
    return sorted((hit(seq, score) for seq, score in found.items()), key=lambda each: -each.score)


def places(found: list[Found]) -> list[int]:
    return [each.seq for each in found]


def test_a_clear_keyword_hit_survives_bad_vectors() -> None:
    noise = [hit(seq, POOR_VECTOR) for seq in range(1, 21)]
    assert places(fused([hit(0, CLEAR_WORDS)], noise, 5))[0] == 0


def test_a_clear_vector_hit_survives_bad_keywords() -> None:
    noise = [hit(seq, POOR_WORDS) for seq in range(1, 21)]
    assert places(fused(noise, [hit(0, CLEAR_VECTOR)], 5))[0] == 0


def test_what_is_poor_both_ways_never_beats_what_is_clear_one_way() -> None:
    poor = dict.fromkeys(range(2, 12), POOR_WORDS), dict.fromkeys(range(2, 12), POOR_VECTOR)
    words, near = poor[0] | {0: CLEAR_WORDS}, poor[1] | {1: CLEAR_VECTOR}
    assert set(places(fused(hits(words), hits(near), 2))) == {0, 1}


def test_of_equals_the_one_that_both_found_leads() -> None:
    assert places(fused([hit(0, 0.3), hit(1, 0.3)], [hit(1, 0.5)], 2)) == [1, 0]


def test_a_vector_below_the_floor_says_nothing() -> None:
    assert fused([], [hit(0, FLOOR)], 1)[0].score == 0


def test_equal_contents_of_two_sessions_are_two_hits() -> None:
    found = fused([hit(0, 0.3), hit(0, 0.3, session="other")], [hit(0, 0.9)], 9)
    assert [each.session for each in found] == ["work", "other"]


def test_nothing_found_is_nothing() -> None:
    assert fused([], [], 5) == []


@given(scores, scores, st.integers(0, 10))
def test_every_hit_comes_once_and_the_best_come_first(
    words: dict[int, float], near: dict[int, float], limit: int
) -> None:
    found = fused(hits(words), hits(near), limit)
    assert len(set(places(found))) == len(found) == min(limit, len(words.keys() | near.keys()))
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert all(0 <= each.score <= 1 for each in found)


@given(scores, scores, st.integers(0, 30))
def test_nothing_weaker_than_the_agreement_can_pass_a_strong_hit(
    words: dict[int, float], near: dict[int, float], strong: int
) -> None:
    weak = {seq: score * SAID_ONCE / 2 for seq, score in words.items()}
    found = fused(hits(weak | {strong: SAID_ONCE * (0.5 + AGREEMENT)}), hits(dict.fromkeys(near, 0.7)), 1)
    assert places(found) == [strong]
