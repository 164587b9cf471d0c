"""Define what summaries are made from and what they consist of: passages, records, asks and summaries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

from foveal.model import Role

Writer = Literal["extractive", "llm"]
Form = Literal["summary", "arc"]
RecordKind = Literal["decision", "constraint", "correction"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One message, or one summary of a lower level, as a summarizer reads it."""

    first: int
    last: int
    """Positions of the messages it covers, both included."""
    role: Role
    text: str
    digest: str
    """The hash of the content it was made from."""
    author: str = ""
    called: str = ""
    """The tool, if this is a call: the model made it, but its arguments may repeat what a tool said."""
    outside: tuple[str, ...] = ()
    """Sentences in it that repeat what a tool, a file or the web said before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One sentence that is kept word for word, whatever is summarized around it."""

    kind: RecordKind
    text: str
    seq: int
    digest: str
    """Of the message it is from."""
    role: Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A request for a summary: of what, and how long at most."""

    passages: tuple[Passage, ...]
    tokens: int
    level: int = 1
    """1: of messages; 2 and 3: of the summaries one level below."""
    form: Form = "summary"
    """`arc`: the course of the conversation, as JSON. Only a model writes one."""
    whole: bool = field(default=True, compare=False)
    """Its range will not grow. Otherwise it is asked for again, a little longer, and not worth writing."""

    @property
    def key(self) -> str:
        """Equal for equal content, form, level and size, so that a stored summary is found again."""
        words = (word for passage in self.passages for word in (passage.digest, *passage.outside))
        form = () if self.form == "summary" else (self.form,)
        content = "\n".join((*form, str(self.level), str(self.tokens), *words))
        return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The answer to an `Ask`: its text, without the note that a window shows it in."""

    text: str
    tokens: int
    by: Writer = "extractive"


Answer = Callable[[Ask], Summary]
"""Makes a summary, or finds a stored one."""
