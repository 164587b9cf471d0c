"""What the tree of summaries promises: each is made once, and a message more makes few new ones."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from foveal.pipeline.summarize.values import Ask, Passage, Summary
from foveal.pipeline.summarize.voices import Utterance
from foveal.presets.openscroll.strategies import Strategy, blocks, compact, summary_size

SOAK = os.environ.get("FOVEAL_SOAK") == "1"


class Memo:
    """Answers as a store does: what it made once, it gives again."""

    def __init__(self) -> None:
        self.known: dict[str, Summary] = {}
        self.made: Counter[int] = Counter()

    def __call__(self, ask: Ask) -> Summary:
        if ask.key not in self.known:
            self.made[ask.level] += 1
            self.known[ask.key] = Summary(text=f"- model said: part {len(self.known)}", tokens=5)
        return self.known[ask.key]


def said(seq: int, *, opens: bool = True, moved: int = 0) -> Utterance:
    at = seq + moved
    passage = Passage(first=at, last=at, role="user", text="ten words", digest=f"{seq}")
    return Utterance(seq=at, role="user", passages=(passage,), tokens=10, opens=opens)


def talk(messages: int) -> list[Utterance]:
    return [said(seq) for seq in range(messages)]


def made(history: list[Utterance], memo: Memo, *, strategy: Strategy | None = None) -> Counter[int]:
    """How many summaries of each level this compaction adds."""
    memo.made.clear()
    compact(
        history, l4_budget=0, l6_budget=4_000, strategy=strategy, answer=memo, count=lambda t: len(t.split())
    )
    return memo.made


def test_sizes_are_powers_of_two_and_64_at_least() -> None:
    assert [summary_size(tokens) for tokens in (-5, 0, 63, 64, 127, 128, 1_000)] == [
        64,
        64,
        64,
        64,
        64,
        128,
        512,
    ]


def test_a_second_compaction_of_20_000_messages_makes_nothing_and_one_more_at_most_one_a_level() -> None:
    memo, history = Memo(), talk(20_000)
    assert made(history, memo)[1] == 999
    assert made(history, memo).total() == 0
    added = made([*history, said(20_000)], memo)
    assert 1 <= max(added.values()) == added[1] == 1


@pytest.mark.soak
def test_however_long_the_history_one_message_more_makes_at_most_one_summary_a_level() -> None:
    memo, history = Memo(), talk(20)
    for blocks_there in range(1, 300 if SOAK else 130):
        history += [said(seq) for seq in range(len(history), 20 * blocks_there + 1)]
        assert max(made(history, memo, strategy="multi-level").values(), default=0) <= 1


@pytest.mark.parametrize("length", [1_661, 3_321, 4_981, 8_321])
def test_so_it_is_where_nothing_was_compacted_before(length: int) -> None:
    memo = Memo()
    made(talk(length - 1), memo, strategy="multi-level")
    assert max(made(talk(length), memo, strategy="multi-level").values()) <= 1


def test_blocks_start_at_every_twentieth_message_or_at_its_turn() -> None:
    history = [said(seq, opens=seq not in (20, 21, 40)) for seq in range(50)]
    assert blocks(history, Memo(), tokens=64).bounds == (0, 19, 39, 50)


def test_a_turn_longer_than_a_block_leaves_an_empty_block_and_no_question() -> None:
    memo = Memo()
    history = [said(seq, opens=seq in (0, 10, 70)) for seq in range(80)]
    assert blocks(history, memo, tokens=64).bounds == (0, 10, 10, 10, 80)
    assert made(history, memo, strategy="multi-level") == Counter({1: 1})


def test_whole_groups_are_taken_as_large_as_they_come_and_the_rest_as_a_smaller_one() -> None:
    tree = blocks(talk(20 * 60), Memo(), tokens=64)
    spans = [(each.first // 20, (each.last + 1) // 20) for each in tree.cover(20, 58, level=2)]
    assert spans == [(20, 25), (25, 50), (50, 55), (55, 58)]


def test_the_same_content_at_another_place_of_a_history_is_not_summarised_again() -> None:
    memo = Memo()
    assert made(talk(400), memo, strategy="multi-level").total() > 0
    assert made([said(seq, moved=1_000) for seq in range(400)], memo, strategy="multi-level").total() == 0
