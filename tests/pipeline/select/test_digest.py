"""What a digest promises: the most telling snippets within the room, nothing told twice."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from foveal.pipeline.compact.snippets import Snippet
from foveal.pipeline.select.digest import LABEL, LEAST, Digest, Worth, choose, note_text


def snippet(seq: int, *names: str, tokens: int = 10, **more: Any) -> Snippet:
    given: dict[str, Any] = {"number": 0, "voice": "tool", "text": f"{seq} {' '.join(names)}", **more}
    return Snippet(seq=seq, names=names, tokens=tokens, **given)


def chosen(snippets: list[Snippet], room: int = 100, **more: Any) -> Digest:
    given: dict[str, Any] = {"known": frozenset(), "worth": Worth(), "back": lambda _: 0.0, **more}
    return choose(snippets, room, given.pop("known"), **given)


def places(digest: Digest) -> list[int]:
    return [each.seq for each in digest.chosen]


def test_names_that_nobody_can_guess_come_first() -> None:
    assert places(chosen([snippet(0, "available"), snippet(1, "HAT285")])) == [1, 0]


def test_what_is_told_already_is_worth_nothing() -> None:
    assert places(chosen([snippet(0, "HAT285"), snippet(1, "HAT285")])) == [0]
    assert places(chosen([snippet(0, "HAT285")], known=frozenset({"HAT285"}))) == []


def test_a_landmark_is_worth_telling_without_a_name() -> None:
    assert places(chosen([snippet(0), snippet(1, landmark="failed")])) == [1]


def test_of_equals_the_nearer_one_is_told() -> None:
    far = {0: 3.0, 1: 0.0}
    found = chosen([snippet(0, "HAT285"), snippet(1, "HAT287")], room=LEAST, back=far.__getitem__)
    assert places(found) == [1]


def test_what_did_not_fit_says_how_far_out_it_was() -> None:
    found = chosen([snippet(0, "HAT285"), snippet(1, "HAT287", tokens=90)], room=40)
    assert (places(found), found.cut > 0) == ([0], True)


def test_no_room_tells_nothing() -> None:
    assert chosen([snippet(0, "HAT285")], room=LEAST - 1) == Digest()


def test_the_note_tells_messages_in_order_under_whose_words_they_are() -> None:
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
