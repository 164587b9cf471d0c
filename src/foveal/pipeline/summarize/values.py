"""What compaction asks for, and what it is answered: plain frozen values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

from foveal.model import Role

Writer = Literal["extractive", "llm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One message, or one summary of a lower level, as a summarizer reads it."""

    first: int
    last: int
    """Positions of the messages it stands for, both included."""
    role: Role
    text: str
    digest: str
    """The address of the content it was made from."""
    author: str = ""
    outside: tuple[str, ...] = ()
    """Sentences in it that repeat what a tool, a file or the web said before: nobody's own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A summary that is needed: of what, and how long at most."""

    passages: tuple[Passage, ...]
    tokens: int
    level: int = 1
    """1: of messages; 2 and 3: of the summaries one level below."""
    whole: bool = field(default=True, compare=False)
    """Its stretch will not grow. What is not whole is asked for again, a little longer: not worth keeping."""

    @property
    def key(self) -> str:
        """Equal for equal content, level and size: whoever has an answer under it need not make another."""
        words = (word for passage in self.passages for word in (passage.digest, *passage.outside))
        said = "\n".join((str(self.level), str(self.tokens), *words))
        return sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The answer to an `Ask`: the words alone, without the envelope that a window puts around them."""

    text: str
    tokens: int
    by: Writer = "extractive"


Answer = Callable[[Ask], Summary]
"""Whoever makes summaries, or remembers them."""
