"""Excerpts are whole lines and sentences that can be read on their own."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.presets.foveal.excerpts import GAP, LONGEST, MOST, READ, Excerpts, Voice, divided


def read(text: str, voice: Voice = "tool") -> Excerpts:
    return divided(text, voice, lambda each: len(each) // 4)


def lines(count: int, about: str = "function") -> str:
    return "\n".join(
        f"def {about}_{n}(self, argument, other): return argument + other + self.field + {n}"
        for n in range(count)
    )


def pieces(found: Excerpts) -> list[str]:
    return [found.text[part.start : part.end] for part in found.parts]


VOICES: tuple[Voice, ...] = ("user", "assistant", "tool")


def test_what_a_tool_returned_is_divided_into_whole_lines() -> None:
    text = lines(5)
    assert pieces(read(text)) == text.split("\n")


def test_what_a_person_said_is_divided_into_whole_sentences() -> None:
    said = (
        "The harbour crane lifts 48 tonnes in one go, says the keeper of the quay and of all its many sheds. "
        * 3
    )
    assert [each.strip() for each in pieces(read(said, "user"))] == [said[: len(said) // 3].strip()] * 3


def test_sentences_of_other_languages_are_sentences_too() -> None:
    said = "登録の期限は十一月十八日です。" * 12
    assert all(piece.endswith("。") for piece in pieces(read(said, "user")))


def test_short_lines_are_joined_with_the_next() -> None:
    assert pieces(read("total 12\nfirst.py\nsecond.py")) == ["total 12\nfirst.py\nsecond.py"]


METHODS = "\n".join(
    f"def method_{n}(self, first_argument, second_argument):\n    return the_{n}(argument)" for n in range(9)
)


def test_a_heading_that_can_be_read_alone_is_not_joined_with_a_long_line() -> None:
    heading, line = "Three findings about the release of May 2024", "The pool closes its socket early. " * 4
    assert pieces(read(f"{heading}\n{line}"))[0] == heading


def test_a_line_that_ends_in_a_colon_is_joined_with_what_it_announces() -> None:
    line = "Here are the reservations that you asked about, with their flights and their cabins, all of them:"
    found = divided(
        f"{line}\n1. S61CZX: HAT228, economy\n{'And so on, and so forth. ' * 9}", "assistant", len
    )
    assert found.shown((0,)).split("\n")[:2] == [line, "1. S61CZX: HAT228, economy …"]


def test_the_number_of_a_list_item_is_not_a_sentence() -> None:
    found = divided(
        "1. Trip type, which is a round trip. " * 3 + "\n2. Cabin. " + "Fine. " * 40, "assistant", len
    )
    assert not any(piece.rstrip().endswith("2.") for piece in pieces(found))


def test_an_excerpt_shows_every_line_with_words_that_it_has() -> None:
    assert "    return the_4(argument)" in read(METHODS).shown((4,))


def test_after_a_short_line_the_number_of_omitted_lines_is_stated() -> None:
    assert read(METHODS).shown((0, 4)).split("\n")[2] == "[… 6 lines]"


def test_line_numbers_show_what_is_omitted_after_a_short_line() -> None:
    numbered = "\n".join(f"  {at}→{row}" for at, row in enumerate(METHODS.split("\n"), 1))
    assert read(numbered).shown((0,)).split("\n")[-1] == "2→    return the_0(argument)"


def test_words_from_the_middle_of_a_message_are_known_to_omit_its_beginning() -> None:
    found = divided(
        "This is a whole sentence of a message, which is as long as sentences are. " * 9, "assistant", len
    )
    assert found.omits_beginning((3,))
    assert not found.omits_beginning((0, 3))
    assert not found.shown((3,)).startswith("…")


def test_lines_without_words_belong_to_no_excerpt() -> None:
    found = read("   170→\n   842→ }\n---\n" + lines(2))
    assert pieces(found) == lines(2).split("\n")


def test_a_long_line_is_divided_between_words() -> None:
    found = read("identifier=value, " * 100)
    assert all(len(piece) <= LONGEST for piece in pieces(found))
    assert all(piece.endswith((",", ", ")) for piece in pieces(found)[:-1])


def test_everything_is_shown_as_it_is_and_without_a_gap() -> None:
    text = "class Pool:\n    def close(self) -> None:\n        self.socket.close()\n\n\tself.done = True"
    found = read(text)
    assert found.shown(range(len(found.parts))) == text.replace("\n\n", "\n")


@pytest.mark.parametrize("said", ["No", "OK", "Go.", "Sì", "是", "7"])
def test_an_answer_of_a_word_or_a_number_is_shown(said: str) -> None:
    assert read(said, "user").shown([0]) == said


def test_short_lines_of_code_are_part_of_the_whole() -> None:
    code = "def run(ok):\n    if ok:\n        do(x)\n    return ok"
    assert read(code).shown([0]) == code


def test_a_gap_is_marked_at_the_end_of_the_line_before_it() -> None:
    text = lines(4)
    first, _, third, last = text.split("\n")
    assert read(text).shown([0, 2, 3]) == f"{first} {GAP}\n{third}\n{last}"
    assert read(text).shown([0]) == f"{first} {GAP}"


def test_neighbours_are_one_stretch() -> None:
    text = lines(6)
    assert read(text).shown([2, 1]) == "\n".join(text.split("\n")[1:3]) + f" {GAP}"


def test_a_stretch_inside_a_line_begins_with_a_gap() -> None:
    found = read("key=" + "module.class." * 90)
    assert found.shown([1]).startswith(GAP)


def test_code_keeps_its_indentation_tabs_and_line_numbers() -> None:
    code = "\n".join(
        f"{n:6}→\tdef method_{n:02}(self, argument): return self.field_{n:02} + argument + {n}"
        for n in range(8, 14)
    )
    shown = read(code).shown([0, 1, 3])
    assert shown.split("\n") == [
        "8→\tdef method_08(self, argument): return self.field_08 + argument + 8",
        f"9→\tdef method_09(self, argument): return self.field_09 + argument + 9 {GAP}",
        f"11→\tdef method_11(self, argument): return self.field_11 + argument + 11 {GAP}",
    ]


def test_an_excerpt_of_indented_code_stays_indented() -> None:
    inner = "        return self.revoke_family(token.family, because='it was used twice')"
    code = f"{lines(1)}\n{inner}\n{lines(1)}"
    assert read(code).shown([1]).startswith("        return self.revoke_family(")


@pytest.mark.parametrize("mark", ["\r\n", "\r", "\x0b", "\x0c", "\x1e", "\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize("voice", VOICES)
def test_whatever_ends_a_line_no_mark_of_ours_begins_the_next(voice: Voice, mark: str) -> None:
    found = read(f"The first line of it{mark}[End of log] and the second line", voice)
    assert found.shown(range(len(found.parts))).split("\n") == [
        "The first line of it",
        "| [End of log] and the second line",
    ]


def test_what_the_agent_wrote_into_a_result_for_the_model_is_left_out() -> None:
    reminder = "<system-reminder>\nThe file may be malware. Consider it.\n</system-reminder>"
    assert read(f"{lines(2)}\n\n{reminder}").text == lines(2)
    assert read(f"{lines(1)}\n{reminder}\n{lines(1)}").text == f"{lines(1)}\n{lines(1)}"
    assert read(f"{lines(1)}\n<system-reminder> that never ends").text == lines(1)
    assert "system-reminder" in read(f"Why is there a {reminder}?", "user").text


def test_a_json_result_is_written_as_lines_of_keys_and_values() -> None:
    text = json.dumps({"status": "ok", "order": {"id": "W77", "items": ["cup", "pot"]}, "total": 12.50})
    assert read(text).text == "status ok; total 12.5\norder: id W77; items cup, pot"


def test_an_element_of_a_json_list_begins_a_line() -> None:
    flights = [{"flight": f"HAT{n}", "from": "JFK", "to": "SEA", "price": 100 + n} for n in range(3)]
    assert read(json.dumps(flights)).text.split("\n") == [
        f"flight HAT{n}; from JFK; to SEA; price {100 + n}" for n in range(3)
    ]


def test_a_json_line_with_what_is_nested_in_an_element_names_the_element() -> None:
    flights = [
        {
            "flight": f"HAT{n}",
            "from": "JFK",
            "to": "SEA",
            "status": "late",
            "seats": {"economy": n, "business": 9},
        }
        for n in range(2)
    ]
    found = read(json.dumps(flights))
    assert [row for row in found.text.split("\n") if "economy" in row] == [
        "seats of HAT0: economy 0; business 9",
        "seats of HAT1: economy 1; business 9",
    ]
    names = [name for part in found.parts for name in part.names]
    assert names.count("HAT0") <= 1  # the line that begins the element has the name


def test_json_that_is_broken_is_a_text() -> None:
    assert read('{"status": "ok", "rest').text == '{"status": "ok", "rest'


def test_the_lines_around_the_hits_of_a_search_belong_to_no_excerpt() -> None:
    shown = "\n".join(
        f"src/pool.py{'-:'[n == 3]}{n}{'-:'[n == 3]}    value_{n} = compute(n)" for n in range(1, 6)
    )
    assert pieces(read(shown)) == ["src/pool.py:3:    value_3 = compute(n)"]


def test_times_are_not_taken_for_the_hits_of_a_search() -> None:
    log = (
        "10:01:40 the crane started to lift the first box\n2026-11-16 the crane stopped and was switched off"
    )
    assert "".join(pieces(read(log))).count("the crane") == 2


def test_lines_that_differ_only_in_numbers_and_hashes_are_counted_as_repeated() -> None:
    bulk = [f"2026-11-16T10:{n:02}:40 INFO worker-{n} finished the job, hash={n:032x}" for n in range(50)]
    bulk.insert(25, "2026-11-16T10:25:41 ERROR worker-3 lost its connection to the database")
    repeats = {
        piece: part.repeats
        for piece, part in zip(pieces(read("\n".join(bulk))), read("\n".join(bulk)).parts, strict=True)
    }
    assert repeats[bulk[0]] == 50
    assert repeats[bulk[25]] == 1


def test_what_a_user_said_is_a_landmark_and_what_they_pasted_is_not() -> None:
    words = (
        "Please look at the harbour crane, at the north quay, at the sheds and at all of the remaining rest. "
    )
    pasted = "| 0x7f3a91c2 | 55.2 " * 6
    found = read(f"{words}{words}\n{pasted}\n{words}", "user")
    assert [part.landmark for part in found.parts] == ["asked", "said", "", "said"]


def test_an_error_and_a_conclusion_are_landmarks() -> None:
    assert (
        read("Traceback (most recent call last):\n  File a.py\nKeyError: 'x'").parts[0].landmark == "failed"
    )
    found = read(
        "I looked at the pool and its many methods, one after the other. The cause is the pool.", "assistant"
    )
    assert "decided" in [part.landmark for part in found.parts]


def test_of_an_endless_text_the_beginning_and_the_end_are_divided() -> None:
    found = read(
        "first line of the text\n"
        + "a line of words that says little\n" * 200_000
        + "the last line of the text"
    )
    assert len(found.text) <= 2 * READ + 3
    assert len(found.parts) <= MOST
    assert found.text.startswith("first line")
    assert found.text.endswith("last line of the text")


@given(st.text(max_size=600), st.sampled_from(VOICES))
def test_excerpts_are_ranges_in_order_that_do_not_overlap(text: str, voice: Voice) -> None:
    found = read(text, voice)
    bounds = [at for part in found.parts for at in (part.start, part.end)]
    assert bounds == sorted(bounds)
    assert all(part.start < part.end <= len(found.text) for part in found.parts)


@given(st.text(max_size=600), st.sampled_from(VOICES), st.data())
def test_what_is_shown_is_in_the_text_word_for_word(text: str, voice: Voice, data: st.DataObject) -> None:
    found = read(text, voice)
    numbers = data.draw(st.sets(st.sampled_from(range(len(found.parts))))) if found.parts else set()
    for row in found.shown(sorted(numbers)).split("\n"):
        assert row.removesuffix(f" {GAP}").removeprefix(GAP) in found.text


def test_a_very_long_text_is_read_at_both_ends_without_cutting_a_line() -> None:
    rows = [f"2026-03-01T08:00:00Z INFO worker-{n} handled request id={7919 * n}" for n in range(4_000)]
    assert {*divided("\n".join(rows), "tool", len).text.split("\n")} <= {*rows, "…"}
