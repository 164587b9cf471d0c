"""What the four strategies promise. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.errors import BudgetError
from foveal.model import Role
from foveal.pipeline.summarize.extract import extractive_summary
from foveal.pipeline.summarize.values import Ask, Passage, Record, Summary
from foveal.pipeline.summarize.voices import Utterance
from foveal.presets.openscroll.arc import arc_text
from foveal.presets.openscroll.strategies import Compacted, Strategy, compact, strategy_for

LABEL = 4
"""Words of `[Messages 1–2, verbatim]` and a little more."""


def words(text: str) -> int:
    return len(text.split())


def said(seq: int, tokens: int = 10, text: str = "", *, opens: bool = True, rule: str = "") -> Utterance:
    """A message of so many words; the first of them is its number."""
    role: Role = "assistant" if seq % 2 else "user"
    text = text or " ".join([f"number{seq}", *["word"] * (tokens - 1)])
    passage = Passage(first=seq, last=seq, role=role, text=text, digest=f"digest {seq} {text}")
    kept = (Record(kind="constraint", text=rule, seq=seq, digest="", role="user"),) if rule else ()
    return Utterance(seq=seq, role=role, passages=(passage,), tokens=tokens, opens=opens, records=kept)


def talk(messages: int, tokens: int = 10) -> list[Utterance]:
    return [said(seq, tokens) for seq in range(messages)]


def done(
    history: Sequence[Utterance], l6: int, *, l4: int = 100, strategy: Strategy | None = None
) -> Compacted:
    answer = partial(extractive_summary, count=words)
    return compact(history, l4_budget=l4, l6_budget=l6, strategy=strategy, answer=answer, count=words)


def full(result: Compacted) -> list[tuple[int, int]]:
    return [(piece.first, piece.last) for piece in result.pieces if piece.detail == "full"]


# Which strategy


@pytest.mark.parametrize(
    ("tokens", "strategy"),
    [
        (1_000, "full"),
        (1_001, "windowed"),
        (2_500, "windowed"),
        (2_501, "compacted"),
        (8_000, "compacted"),
        (8_001, "multi-level"),
    ],
)
def test_the_strategy_switches_right_above_a_ratio_of_1_and_2_and_a_half_and_8(
    tokens: int, strategy: str
) -> None:
    assert done([said(0, tokens - 30), said(1, 30)], 1_000).strategy == strategy


def test_a_strategy_that_is_given_is_taken() -> None:
    assert done(talk(40), 1_000, strategy="compacted").strategy == "compacted"


def test_no_room_at_all_is_above_every_ratio() -> None:
    assert strategy_for(1, 0) == "multi-level"
    assert strategy_for(0, 0) == "full"


# Full


def test_full_keeps_every_message_as_it_is_without_arc_or_label() -> None:
    result = done(talk(9), 90)
    assert full(result) == [(0, 8)]
    assert (result.tokens, result.pieces[0].label, arc_text(result.arc)) == (90, "", "")


def test_full_by_command_refuses_what_does_not_fit_with_the_numbers() -> None:
    with pytest.raises(BudgetError, match="the history has 100 tokens, `l6_budget` is 99"):
        done(talk(10), 99, strategy="full")


# Windowed


def test_windowed_keeps_the_newest_in_70_percent_and_folds_the_rest_into_30() -> None:
    result = done(talk(200), 1_000)
    older, newer = result.pieces
    assert (older.detail, newer.detail) == ("folded", "full")
    assert (older.first, older.last + 1, newer.last) == (0, newer.first, 199)
    assert older.tokens <= 300 < 700 - 10 - LABEL <= newer.tokens


def test_what_the_summary_leaves_unused_goes_to_the_newest() -> None:
    result = done(
        [*[said(seq, 2, "ok then") for seq in range(600)], *(said(600 + n) for n in range(90))], 1_000
    )
    assert result.pieces[0].tokens < 300
    assert 700 < 1_000 - 100 - LABEL < result.pieces[-1].tokens


def test_windowed_says_which_messages_the_summary_and_the_verbatim_part_cover() -> None:
    older, newer = done(talk(200), 1_000).pieces
    assert f"Messages 1–{older.last + 1}: " in (older.text or "")
    assert newer.label == f"[Messages {newer.first + 1}–200, verbatim]"


# Compacted


def test_compacted_folds_40_percent_quotes_from_35_and_keeps_25_verbatim() -> None:
    result = done(talk(100, 40), 1_000)
    zones = [piece for piece in result.pieces if piece.label or piece.detail == "folded"]
    assert [(piece.first, piece.label) for piece in zones[:2]] == [
        (0, ""),
        (40, "[Key exchanges of messages 41–75]"),
    ]
    assert zones[2].first >= 75
    assert zones[0].tokens <= 100
    assert sum(piece.tokens for piece in result.pieces if 40 <= piece.first < 75) <= 250


@pytest.mark.parametrize(
    ("messages", "early", "late"), [(4, 1, 3), (5, 2, 3), (7, 2, 5), (8, 3, 6), (20, 8, 15)]
)
def test_the_zones_of_compacted_end_at_whole_messages_rounded_down(
    messages: int, early: int, late: int
) -> None:
    result = done(talk(messages, 1_000), 100_000, strategy="compacted")
    firsts = [piece.first for piece in result.pieces]
    assert firsts == [0, early, late]


def test_gaps_between_key_exchanges_are_marked_also_before_the_first() -> None:
    history = talk(100, 40)
    history[60] = said(60, 40, "We decided on Redis because the error is fixed now? " * 4)
    result = done(history, 1_000)
    shown = [piece.text for piece in result.pieces if 40 <= piece.first < 75]
    assert shown[0] is not None
    assert shown[0].startswith("[... ")
    assert sum(piece.messages for piece in result.pieces if 40 <= piece.first < 75) == 35
    assert (60, 60) in full(result)


def test_a_key_exchange_that_does_not_fit_is_trimmed_when_more_than_50_tokens_are_left() -> None:
    history = talk(100, 10)
    history[60] = said(60, 400, "We decided on Redis because the error is fixed now? " * 40)
    assert [p.first for p in done(history, 400, strategy="compacted").pieces if p.detail == "trimmed"] == [60]
    assert not [p for p in done(history, 200, strategy="compacted").pieces if p.detail == "trimmed"]


def test_of_the_newest_zone_the_oldest_are_dropped_first() -> None:
    result = done(talk(100, 70), 1_000, strategy="compacted")
    assert full(result)[-1][1] == 99
    assert [piece.detail for piece in result.pieces if piece.first >= 75] == ["omitted", "full"]


def test_a_newest_message_too_large_by_itself_shows_its_head_and_tail() -> None:
    history = [*talk(99), said(99, 5_000, "begin " + "x " * 4_998 + "end")]
    last = done(history, 1_000).pieces[-1]
    assert last.detail == "trimmed"
    assert last.text is not None
    assert (last.text.startswith("[assistant]: begin"), last.text.endswith("end")) == (True, True)


# Multi-level


def block_turns(messages: int) -> list[Utterance]:
    """Turns of twenty messages, of which the budget of 10,000 holds one."""
    return [said(seq, 300, opens=seq % 20 == 0) for seq in range(messages)]


def test_multi_level_keeps_the_newest_block_verbatim_and_folds_three_levels() -> None:
    result = done(block_turns(1_000), 10_000)
    assert [(piece.first, piece.last, piece.detail) for piece in result.pieces] == [
        (0, 299, "folded"),
        (300, 919, "folded"),
        (920, 979, "folded"),
        (980, 999, "full"),
    ]
    assert [
        piece.tokens <= share for piece, share in zip(result.pieces, (500, 1_000, 1_500), strict=False)
    ] == [True] * 3


@pytest.mark.parametrize(
    ("messages", "firsts"),
    [
        (20, [0]),
        (40, [0, 20]),
        (80, [0, 60]),
        (100, [0, 20, 80]),
        (320, [0, 240, 300]),
        (340, [0, 100, 260, 320]),
    ],
)
def test_the_third_level_begins_with_a_whole_group_of_five_blocks(messages: int, firsts: list[int]) -> None:
    result = done(block_turns(messages), 10_000, strategy="multi-level")
    assert [piece.first for piece in result.pieces] == firsts


@pytest.mark.parametrize("messages", [1_000, 1_001, 1_005, 1_019])
def test_what_the_levels_leave_unused_goes_to_the_newest_wherever_the_last_block_begins(
    messages: int,
) -> None:
    result = done(talk(messages, 140), 10_000)
    *_, recent, last = result.pieces
    assert (recent.detail, last.detail, recent.last + 1) == ("folded", "full", last.first)
    assert recent.last % 20 != 19 or messages % 20 == 0
    assert 10_000 - 140 - LABEL <= result.tokens <= 10_000


def test_a_level_whose_messages_all_stand_verbatim_vanishes() -> None:
    result = done(talk(4_000, 25), 10_000)
    assert [piece.detail for piece in result.pieces] == ["folded", "folded", "full"]
    assert result.pieces[-1].messages > 300
    assert 10_000 - 25 - LABEL <= result.tokens <= 10_000


def test_a_summary_leaves_out_blocks_that_are_verbatim_as_a_whole() -> None:
    *_, recent, last = done(talk(1_005, 140), 10_000).pieces
    whole = range(-(-last.first // 20) * 20, 1_005)
    assert not [seq for seq in whole if f"number{seq} " in (recent.text or "")]
    assert f"Messages 941–{last.first}: " in (recent.text or "")


def test_where_the_newest_zone_begins_asks_for_no_summary_of_its_own() -> None:
    asked: list[Ask] = []

    def answer(ask: Ask) -> Summary:
        asked.append(ask)
        return Summary(text="- fine", tokens=2)

    compact(talk(1_005, 100), l4_budget=0, l6_budget=10_000, answer=answer, count=words)
    assert {len(ask.passages) for ask in asked if ask.level == 1} == {20}


# All of them


def test_a_boundary_inside_a_turn_moves_back_to_its_start() -> None:
    history = [said(seq, 100, opens=seq % 7 == 0) for seq in range(100)]
    for strategy in ("windowed", "compacted", "multi-level"):
        result = done(history, 3_000, strategy=strategy)
        assert {piece.first % 7 for piece in result.pieces} == {0}


def test_the_records_of_what_is_folded_are_carried_as_they_were_written() -> None:
    history = [said(0, 10, rule="Never delete the table orders."), *talk(200)[1:]]
    assert "- constraint by the user: Never delete the table orders." in (
        done(history, 1_000).pieces[0].text or ""
    )


def test_a_summary_covers_exactly_what_it_says() -> None:
    asked: list[Ask] = []

    def answer(ask: Ask) -> Summary:
        asked.append(ask)
        return Summary(text="- fine", tokens=2)

    compact(talk(1_000, 100), l4_budget=0, l6_budget=10_000, answer=answer, count=words)
    blocks = [ask for ask in asked if ask.level == 1]
    assert [[p.first for p in ask.passages] for ask in blocks] == [
        list(range(20 * n, 20 * n + 20)) for n in range(49)
    ]


def test_nothing_at_all_is_compacted_to_nothing() -> None:
    assert done([], 100).pieces == ()


TEXTS = st.sampled_from(
    ["", "We decided on x9. It failed? Never again! " * 3, "日本語です。" * 5, "a\n\nb " * 30]
)
HISTORIES = st.lists(st.tuples(st.integers(0, 60), TEXTS, st.booleans(), st.booleans()), max_size=120)
STRATEGIES: st.SearchStrategy[Strategy | None] = st.sampled_from(
    [None, "windowed", "compacted", "multi-level"]
)


@given(HISTORIES, st.integers(0, 800), st.integers(0, 200), STRATEGIES)
def test_never_over_the_budgets_nothing_lost_no_turn_split_always_the_same(
    shape: list[tuple[int, str, bool, bool]], l6: int, l4: int, strategy: Strategy | None
) -> None:
    history = [
        said(seq, max(tokens, words(text) + 2), text, opens=opens, rule="Never do x." if rule else "")
        for seq, (tokens, text, opens, rule) in enumerate(shape)
    ]
    result = done(history, l6, l4=l4, strategy=strategy)
    assert result.tokens <= l6
    assert words(arc_text(result.arc)) <= l4
    covered = asdict(result.coverage)
    assert covered.pop("total_messages") == len(history) == sum(covered.values())
    assert [seq for p in result.pieces for seq in range(p.first, p.last + 1)] == list(range(len(history)))
    assert all(history[piece.first].opens for piece in result.pieces if piece.first)
    assert done(history, l6, l4=l4, strategy=strategy) == result
