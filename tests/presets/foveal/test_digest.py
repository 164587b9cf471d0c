"""What a digest promises: the most valuable snippets within the room, nothing twice."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from foveal.pipeline.signals import weight
from foveal.presets.foveal.digest import LEAST, Digest, DigestNumbers, Surroundings, choose, note_text
from foveal.presets.foveal.snippets import LABEL, Snippet


def snippet(seq: int, *names: str, tokens: int = 10, **more: Any) -> Snippet:
    given: dict[str, Any] = {"number": 0, "voice": "tool", "text": f"{seq} {' '.join(names)}", **more}
    return Snippet(seq=seq, names=names, tokens=tokens, **given)


def chosen(snippets: list[Snippet], room: int = 100, **more: Any) -> Digest:
    numbers = more.pop("worth", DigestNumbers())
    return choose(snippets, room, numbers=numbers, surroundings=Surroundings(**more))


def places(digest: Digest) -> list[int]:
    return [each.seq for each in digest.chosen]


def test_names_that_cannot_be_guessed_come_first() -> None:
    assert places(chosen([snippet(0, "available"), snippet(1, "HAT285")])) == [1, 0]


def test_a_name_that_the_window_has_adds_no_value() -> None:
    assert places(chosen([snippet(0, "HAT285"), snippet(1, "HAT285")])) == [0]
    assert places(chosen([snippet(0, "HAT285")], known=frozenset({"HAT285"}))) == []


def test_a_landmark_has_a_value_without_a_name() -> None:
    assert places(chosen([snippet(0), snippet(1, landmark="failed")])) == [1]


def test_of_equals_the_newer_one_is_chosen() -> None:
    far = {0: 3.0, 1: 0.0}
    found = chosen([snippet(0, "HAT285"), snippet(1, "HAT287")], room=LEAST, distance=far.__getitem__)
    assert places(found) == [1]


def test_names_in_tool_calls_come_before_names_the_model_only_saw() -> None:
    rows = [snippet(0, "HAT285"), snippet(1, "HAT287")]
    assert places(chosen(rows, room=LEAST, used=frozenset({"HAT287"}))) == [1]


def test_requests_of_the_user_come_first_within_their_share() -> None:
    rows = [
        snippet(0, landmark="asked"),
        snippet(1, landmark="asked"),
        *(snippet(n, f"HAT{n}") for n in range(200, 230)),
    ]
    plain = DigestNumbers(asked=0.0)
    assert places(chosen(rows, room=60, worth=plain))[0] == 200
    assert places(chosen(rows, room=60, worth=plain, gists=20))[:2] == [1, 200]
    assert places(chosen(rows, room=60, worth=plain, gists=40))[:3] == [1, 0, 200]


def test_a_repeated_text_is_chosen_once_at_its_newest_position() -> None:
    rows = [snippet(at, landmark="decided", text="It must be stale.") for at in range(5)]
    assert places(chosen(rows, room=100, gists=100)) == [4]


def test_the_digest_reports_the_best_value_that_did_not_fit() -> None:
    found = chosen([snippet(0, "HAT285"), snippet(1, "HAT287", tokens=90)], room=40)
    assert (places(found), found.cut > 0) == ([0], True)


def test_without_room_nothing_is_chosen() -> None:
    assert chosen([snippet(0, "HAT285")], room=LEAST - 1) == Digest()


def test_the_note_is_in_conversation_order_with_a_label_per_speaker() -> None:
    lines = note_text([snippet(7, "b", text="later"), snippet(2, "a", text="sooner", voice="user")]).split(
        "\n"
    )
    assert lines[1:-1] == ["[user 3] sooner", "[tool 8] later"]


@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abcd"), st.integers(1, 60))), st.integers(0, 200)
)
def test_a_digest_is_never_over_its_room(rows: list[tuple[int, str, int]], room: int) -> None:
    found = chosen([snippet(seq, f"{name}_17", tokens=size) for seq, name, size in rows], room=room)
    labels = LABEL * len({each.seq for each in found.chosen})
    assert sum(each.tokens for each in found.chosen) + labels <= room


def value(snippets: tuple[Snippet, ...]) -> float:
    return sum(weight(name) for name in {name for each in snippets for name in each.names})


def best(snippets: list[Snippet], room: int) -> float:
    """The highest value of any choice, by trying them all."""
    every = (each for size in range(len(snippets) + 1) for each in combinations(snippets, size))
    return max(value(each) for each in every if sum(one.tokens + LABEL for one in each) <= room)


@given(
    st.lists(
        st.tuples(st.sets(st.sampled_from("ABCDEF"), min_size=1, max_size=3), st.integers(4, 30)),
        min_size=1,
        max_size=7,
    ),
    st.integers(LEAST, 120),
)
def test_a_digest_has_at_least_half_the_best_value_but_for_one_snippet(
    rows: list[tuple[set[str], int]], room: int
) -> None:
    made = [
        snippet(at, *(f"{name}_1234" for name in sorted(names)), tokens=size)
        for at, (names, size) in enumerate(rows)
    ]
    found = chosen(made, room=room, worth=DigestNumbers(bent=1.0))
    largest = max(value((each,)) for each in made)
    assert value(found.chosen) + largest >= best(made, room) / 2
