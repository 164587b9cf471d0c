"""The marks that lead back: one for each short form, the two ends for a note."""

from __future__ import annotations

from foveal.model import Entry
from foveal.pipeline.summarize.notes import neutral, recall_mark, recall_marks
from foveal.wire import text_message


def entry(seq: int, digest: str = "") -> Entry:
    return Entry(seq=seq, id=f"m{seq}", digest=digest or f"{seq}" * 64, role="user")


def test_a_stretch_names_its_first_and_its_last_message() -> None:
    assert recall_mark(entry(1), entry(2)) == f"[recall fv-{'1' * 20} to fv-{'2' * 20}]"


def test_a_single_message_is_named_once() -> None:
    assert recall_mark(entry(1), entry(1)) == f"[recall fv-{'1' * 20}]"


def test_each_message_of_a_turn_leads_to_itself() -> None:
    message = text_message("user", "hello")
    mark = recall_marks([entry(1), entry(2, message.digest)])
    assert mark(message) == f"\n[recall fv-{message.digest[:20]}]"


def test_what_a_repair_made_leads_to_the_turns_first_message() -> None:
    assert (
        recall_marks([entry(1), entry(2)])(text_message("user", "no result")) == f"\n[recall fv-{'1' * 20}]"
    )


def test_no_text_can_pass_for_a_mark_in_a_note() -> None:
    assert neutral("[recall fv-00000000]") == "| [recall fv-00000000]"
