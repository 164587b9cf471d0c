"""Say in a sentence why a message is in the window or not: from a code and its numbers, in one place.

A preset gives a `Reason`; nothing else in the program reads its words. What a table shows in columns of its
own (the score, the slot, the tokens) is kept apart, so that the table can leave it out of the sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from foveal.window import Code

SENTENCES: Mapping[Code, str] = {
    "system_prompt": "system prompt",
    "pinned": "pinned",
    "newest_user": "the user's newest message",
    "standing_request": "the user's request that the work is about",
    "open_turn": "open turn",
    "erased": "erased",
    "left_out": "left out by pruning or on request, until restored",
    "empty": "empty: nothing of it can be sent",
    "replaced": "a summary in place of messages that were left out",
    "selected": "selected",
    "not_selected": "not selected",
    "logged": "it has an entry in the log",
    "excerpted": "quoted in the log",
    "merged": "its entry in the log is one of several in a line",
    "retrieved": "quoted before the message it is relevant to",
    "no_room": "no room",
    "low_value": "low value: nothing in it is worth its tokens",
    "too_old": "older than the log reaches",
    "pruned": "pruned: the least important goes until the rest fits",
}
"""What a code says without numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a turn is in the window or not: a code for programs, and what makes a sentence of it."""

    code: Code
    numbers: Mapping[str, float] = field(default_factory=dict)
    words: str = ""
    """The preset's own words; empty: those of the code and the numbers."""
    columns: str = ""
    """What other fields of the decision also say: score, slot, tokens. The sentence begins with it."""

    @property
    def brief(self) -> str:
        """The sentence without what other fields of the decision also say."""
        return self.words or ("" if self.columns and not self.numbers else _sentence(self.code, self.numbers))

    @property
    def sentence(self) -> str:
        """
        >>> Reason(code="no_room", numbers={"missing": 82}).sentence
        'no room: 82 tokens short'
        >>> no_room(needed=100, left=18, columns="importance 63.0").sentence
        'importance 63.0, needed 100 tokens, 18 were left'
        """
        return self.texts[0]

    @property
    def texts(self) -> tuple[str, str]:
        """The sentence, and the brief one if that is another."""
        brief = self.brief
        if not self.columns:
            return brief, ""
        return (f"{self.columns}, {brief}", brief) if brief else (self.columns, "")


def no_room(*, needed: int, left: int, columns: str = "", words: str = "") -> Reason:
    """Something was too large for the room that was left."""
    numbers = {"needed": needed, "left": left, "missing": max(0, needed - left)}
    return Reason(code="no_room", numbers=numbers, columns=columns, words=words)


def retrieved(position: int) -> Reason:
    """A note before the message at this position quotes it."""
    return Reason(code="retrieved", numbers={"message": position + 1})


def covered(position: int) -> Reason:
    """The note at this position is shown in its place."""
    words = f"the note at message {position + 1:,} covers it, until it is restored"
    return Reason(code="left_out", numbers={"message": position + 1}, words=words)


def _sentence(code: Code, numbers: Mapping[str, float]) -> str:
    match code:
        case "no_room" | "pruned" if "needed" in numbers:
            pruned = "pruned: " if code == "pruned" else ""
            return f"{pruned}needed {numbers['needed']:,} tokens, {numbers['left']:,} were left"
        case "no_room" if "missing" in numbers:
            least = "at least " if numbers.get("messages", 1) > 1 else ""
            return f"no room: {least}{numbers['missing']:,} tokens short"
        case "low_value" if numbers.get("cut"):
            return f"low value: the log ends at {numbers['cut']:.2f} per token, and it has less"
        case "retrieved" if "message" in numbers:
            return f"quoted before message {numbers['message']:,}, to which it is relevant"
        case _ if "cut_from" in numbers:
            what = "its longest results were" if code == "open_turn" else "its middle was"
            return (
                f"{SENTENCES[code]}; {what} cut from {numbers['cut_from']:,} to {numbers['cut_to']:,} tokens"
            )
        case _:
            return SENTENCES[code]
