"""What a log has, where not everything fits: words and actions first, then the most useful excerpts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveal.presets.foveal.digest import SHORT, Digest, DigestNumbers, Surroundings, choose, referred
from foveal.presets.foveal.log import LogEntry, LogReader
from foveal.presets.foveal.log_note import written
from foveal.presets.foveal.paths import Paths
from tool_runs import history_with, said, step

JSON = dict[str, Any]
NUMBERS = DigestNumbers()


def count(text: str) -> int:
    return len(text) // 4 + 1


def entries(messages: list[JSON]) -> list[LogEntry]:
    history, reader = history_with(messages), LogReader(count)
    return [entry for turn in range(len(history)) for entry in reader.entries(history, turn)]


def digest(messages: list[JSON], room: int, **surroundings: Any) -> Digest:
    return choose(
        entries(messages),
        room,
        numbers=NUMBERS,
        surroundings=Surroundings(**surroundings),
        paths=Paths(),
        count=count,
    )


def text(found: Digest) -> str:
    return "\n".join(line.text for line in written(found.lines, found.shown, Paths()))


def page(number: int, rows: int = 12) -> str:
    return "\n".join(
        f"def method_{n}_{number}(self, argument): return self.field_{n}_{number} + argument"
        for n in range(rows)
    )


def reads(start: int, stop: int) -> list[JSON]:
    return [
        message
        for number in range(start, stop)
        for message in step(number, "Read", page(number), file_path=f"module_{number}.py")
    ]


def edit(number: int, file: str, result: str = "ok") -> list[JSON]:
    return step(
        number, "Edit", result, file_path=file, old_string="x = 1", new_string=f"timeout = {number}00"
    )


def test_bulk_output_never_displaces_a_person_s_words() -> None:
    words = [f"Our CI machine number {n} has only 2 GB of memory." for n in range(5)]
    messages = [each for n, word in enumerate(words) for each in (said(word), *reads(9 * n, 9 * n + 9))]
    shown = text(digest(messages, 150))
    assert [word for word in words if word not in shown] == []


def test_a_short_message_is_quoted_whole_and_of_a_long_one_what_the_user_said_before_what_they_pasted() -> (
    None
):
    short = "Look at the pool first. Then look at the store. Do not touch the migrations folder."
    begin = "Please find out why the refresh of tokens fails for some of the users since May."
    middle = (
        "Those with two devices are thrown out right after they sign in, and the others never are, they say."
    )
    pasted = "\n".join(
        f"| 0x7f3a91{n:02x} | 55.2 | 18:22:{n:02} | [0x11, 0x12] | {{3: 4}} |" for n in range(40)
    )
    long = f"{begin}\n{pasted}\n{middle}\n{pasted}\nAnswer in French."
    shown = text(digest([said(short), said(long), *reads(0, 40)], 200))
    assert count(short) <= SHORT < count(long)
    assert short in shown
    assert begin in shown
    assert middle in shown
    assert "Answer in French." in shown
    assert shown.count("55.2") < 10


LIST = (
    "I found three causes:\n1. The pool is too small, so clients wait.\n2. The clock is read as local time.\n"
)
MORE = "All of it is explained in the document. " * 9
PROPOSAL = f"{LIST}3. Two tabs refresh at once.\n{MORE}\nShall I fix the clock?"


def answered(reply: str) -> str:
    """What a log quotes of the proposal that this replies to."""
    messages = [said("Why?"), {"role": "assistant", "content": PROPOSAL}, said(reply), *reads(0, 40)]
    found = digest(messages, 900, replies={1: reply})
    return "\n".join(row for row in text(found).split("\n") if row[:1] != "[" or "assistant" in row)


def test_the_question_that_a_short_reply_answers_is_quoted() -> None:
    assert "Shall I fix the clock?" in answered("yes")


def test_the_item_that_a_reply_names_by_number_is_quoted() -> None:
    assert "2. The clock is read as local time." in answered("Let's make a new branch from main and fix 2")
    assert "The pool is too small" not in referred_text(
        "Let's make a new branch from main and fix 3 there, please"
    )


def referred_text(reply: str) -> str:
    (entry,) = [each for each in entries([{"role": "assistant", "content": PROPOSAL}]) if each.answers]
    return entry.excerpts.shown(referred(entry, reply))


def test_a_long_reply_speaks_for_itself() -> None:
    assert not referred_text(
        "Please look at the store, then at the pool, and tell me what you think of both."
    )


def test_an_offer_of_help_is_no_answer_worth_quoting() -> None:
    offer = (
        "I can assist you with that, and I will be glad to do so at any time if you tell me which one it is."
    )
    answer = "The clock of the server runs in local time, and nobody noticed until the summer, as it seems."
    for words, quoted in ((offer, False), (answer, True)):
        messages = [said("Why?"), {"role": "assistant", "content": words}, *reads(0, 40)]
        assert (words[:40] in text(digest(messages, 900))) == quoted


def test_actions_come_before_excerpts() -> None:
    edits = [message for number in range(10) for message in edit(number, f"file_{number}.py")]
    messages = [said("Go."), *edits, *reads(10, 40)]
    shown = text(digest(messages, 250))
    assert [number for number in range(10) if f"Edit file_{number}.py → ok" not in shown] == []


def test_where_room_is_short_repeated_actions_become_one_line() -> None:
    edits = [message for number in range(60) for message in edit(number, f"file_{number % 3}.py")]
    roomy, tight = digest([said("Go."), *edits], 3_000), digest([said("Go."), *edits], 400)
    assert sum(line.acts for line in roomy.lines) == 60
    assert sum(line.acts for line in tight.lines) < 30
    assert "×" in text(tight)
    assert all(f"file_{number}.py" in text(tight) for number in range(3))


def test_of_too_many_actions_the_latest_are_kept() -> None:
    edits = [message for number in range(200) for message in edit(number, f"file_{number}.py")]
    shown = text(digest([said("Go."), *edits], 300))
    assert "file_199.py" in shown
    assert "file_0.py" not in shown


def test_what_was_used_later_is_quoted_before_what_was_not() -> None:
    messages = [said("Go."), *reads(0, 20)]
    room = 120
    assert "method_7_11(" not in text(digest(messages, room))
    assert "method_7_11(" in text(digest(messages, room, used=frozenset({"method_7_11"})))


def test_what_the_window_has_already_is_not_quoted_again() -> None:
    messages = [said("Go."), *step(0, "Read", page(0, 2), file_path="a.py")]
    names = {name for entry in entries(messages) for part in entry.excerpts.parts for name in part.names}
    assert "method_0_0" in text(digest(messages, 400))
    assert "method_0_0" not in text(digest(messages, 400, known=names))


def test_lines_of_which_there_are_many_lose_against_others() -> None:
    bulk = "\n".join(
        f"2026-11-16T10:{n // 60:02}:{n % 60:02} INFO worker-{n} finished its job, hash={n * 99991:032x}"
        for n in range(200)
    )
    fact = "The connection to db-replica-7 was lost because of its certificate, see ticket FOV-2231"
    messages = [said("Go."), *step(0, "fetch_logs", f"{bulk}\n{fact}\n{bulk}")]
    shown = text(digest(messages, 120))
    assert "FOV-2231" in shown


def test_a_line_that_was_used_later_counts_however_many_there_are() -> None:
    bulk = "\n".join(
        f"2026-11-16 INFO worker-{n} finished request-{n * 7919} without a problem" for n in range(200)
    )
    messages = [said("Go."), *step(0, "fetch_logs", bulk)]
    assert f"request-{150 * 7919} " in text(digest(messages, 60, used=frozenset({f"request-{150 * 7919}"})))


def test_what_is_far_back_is_worth_less_than_what_is_near() -> None:
    messages = [said("Go."), *reads(0, 2)]
    shown = text(digest(messages, 90, distance=lambda seq: 12.0 if seq < 3 else 0.0))
    assert "method_0_1(" in shown
    assert "method_0_0(" not in shown


def test_without_room_there_is_no_log() -> None:
    assert digest([said("Go."), *reads(0, 3)], 10) == Digest()


def test_an_excerpt_that_is_taken_out_again_is_the_one_taken_last() -> None:
    found = digest([said("Go."), *reads(0, 20)], 400)
    less = found.without(1)
    assert found.order[: len(less.order)] == less.order
    assert len(found.order) - len(less.order) == 1


def test_taking_out_more_and_more_ends_with_an_empty_log() -> None:
    found, times = digest([said("Go."), *reads(0, 20), *edit(20, "a.py")], 400), 0
    while found.lines:
        found, times = found.without(100), times + 1
        assert times < 50


@settings(max_examples=40)
@given(st.integers(24, 2_000), st.integers(0, 12), st.booleans())
def test_the_chosen_excerpts_are_within_the_room(room: int, files: int, long: bool) -> None:
    words = "Please look at the pool, the store and the keeper of the north quay. " * (20 if long else 1)
    messages = [said(words), *reads(0, files), *edit(90, "a.py"), said("Again."), *reads(20, 20 + files)]
    found = digest(messages, room)
    # Gaps, line breaks and indentation are not counted, so a log may be slightly larger than it was planned.
    assert count(text(found)) <= 1.35 * room + 10


@pytest.mark.parametrize("room", [24, 100, 1_000, 100_000])
def test_every_line_has_an_excerpt_or_is_about_a_call(room: int) -> None:
    found = digest([said("Go."), *reads(0, 20), *edit(20, "a.py")], room)
    assert all(
        line.last.action or any(found.shown.get(each.id) for each in line.entries) for line in found.lines
    )


def test_calls_that_only_looked_at_something_are_named_where_excerpts_leave_room() -> None:
    bodies = [message for n in range(9) for message in step(n, "Read", "x = 1", file_path=f"file_{n}.py")]
    named = [f"Read file_{n}.py" in text(digest([said("Go."), *bodies], 400)) for n in range(9)]
    assert named[-2:] == [True, True]


def test_of_lines_that_differ_only_in_numbers_a_few_are_quoted() -> None:
    rows = "\n".join(f"INFO worker-{n % 9} handled request id={7919 * n} took {n} ms" for n in range(600))
    found = text(digest([said("Go."), *step(1, "run", rows, command="cat app.log")], 20_000))
    assert 1 <= found.count("handled request") <= 6


def test_of_the_latest_replies_the_whole_proposal_is_quoted_if_there_is_room() -> None:
    messages = [said("Why?"), {"role": "assistant", "content": PROPOSAL}, said("yes"), *reads(0, 40)]
    assert "1. The pool is too small" in text(digest(messages, 6_000, replies={1: "yes"}))


def test_an_item_may_be_named_by_a_letter() -> None:
    options = (
        f"What do you prefer? {MORE}\nA. Keep the cookie for a whole month, as the shop does now. {MORE}\n"
    )
    options += f"B. Ask again at every visit, as the bank does it, which is safer. {MORE}\n{MORE}"
    (entry,) = [each for each in entries([{"role": "assistant", "content": options}]) if each.answers]
    quoted = entry.excerpts.shown(referred(entry, "I'd like it to do B"))
    assert "Ask again at every visit" in quoted
    assert "Keep the cookie" not in quoted
