"""A turn of a history in → its snippets and its names, to be read once for as long as it stays as it is."""

from __future__ import annotations

from collections.abc import Callable

from foveal.model import ToolCall
from foveal.pipeline.compact.naming import names_in
from foveal.pipeline.compact.snippets import Snippet, snippets
from foveal.pipeline.history import History


class Reader:
    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count

    def read(self, history: History, turn: int) -> tuple[Snippet, ...]:
        first, last = history.span(turn)
        if history.stand_in(turn):
            messages = enumerate(history.chunk(turn).messages, last)
        else:
            messages = enumerate(history.read(first, last + 1), first)
        return tuple(each for seq, message in messages for each in snippets(message, seq, self._count))

    def used(self, history: History, turn: int) -> frozenset[str]:
        """The names the model wrote into its calls."""
        first, last = history.span(turn)
        parts = (part for message in history.read(first, last + 1) for part in message.parts)
        calls = (part.arguments for part in parts if isinstance(part, ToolCall))
        return frozenset(name for arguments in calls for name in names_in(arguments))

    def names(self, history: History, turn: int) -> frozenset[str]:
        """The names a turn tells with what stands beside them; a call's arguments are bare."""
        return frozenset(name for each in history.remembered(turn, self.read) for name in each.names)
