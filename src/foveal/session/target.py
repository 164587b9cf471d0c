"""Describe the target of a window: how a model's windows are counted, written and limited.

For a provider that caches by markers, it also says where the markers go: at the end of the stable part, and
where a client's own markers were on messages that the window leaves out. Such a provider needs no note
between two turns, so pieces can be counted from the end.
"""

from __future__ import annotations

import warnings as python_warnings
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foveal import catalog, wire
from foveal.catalog import ModelCard
from foveal.errors import InputError, printable
from foveal.model import Chunk, Conversation, Entry, Format, Message, Repair
from foveal.pipeline.history import Frame
from foveal.pipeline.repair import Scribe
from foveal.pipeline.tokens.count import (
    SCALE_SIGN,
    Meter,
    Tokenizer,
    scaled_tokenizer,
    tokenizer,
    tokenizer_names,
)
from foveal.pipeline.values import Scene
from foveal.presets import Preset
from foveal.window import Window

if TYPE_CHECKING:
    from foveal.pipeline.fit import Fitted, Order


def stable_pieces(fitted: Fitted) -> int:
    """The number of leading pieces that belong to the layout's past, which later builds do not change."""
    first = fitted.layout.full_from if fitted.layout else 0
    before = [at for at, chunk in enumerate(fitted.chunks) if 0 <= chunk.first < first]
    return _ends(fitted)[before[-1]] if before else 0


def with_moved_markers(fitted: Fitted, messages: Sequence[Message]) -> tuple[str, ...]:
    """The pieces; a client's marker on an evicted message moves to the nearest earlier one that is in."""
    ends = _ends(fitted)
    shown = [(chunk.first, at) for at, chunk in enumerate(fitted.chunks) if chunk.first >= 0 and chunk.pieces]
    places: dict[int, str] = {}
    for seq, message in enumerate(messages):
        markers = wire.markers_in(message.body) if message.in_place or message.role != "system" else []
        before = bisect_right(shown, (seq, len(ends))) - 1
        if markers and before >= 0 and not _shows(fitted.chunks[shown[before][1]], seq):
            places.setdefault(ends[shown[before][1]] - 1, markers[0])
    return wire.move_markers(fitted.pieces, places) if places else fitted.pieces


def _shows(chunk: Chunk, seq: int) -> bool:
    return seq <= chunk.last and chunk.detail in ("full", "trimmed")


def _ends(fitted: Fitted) -> list[int]:
    """The number of pieces up to the end of each chunk."""
    behind = accumulate((len(chunk.pieces) for chunk in reversed(fitted.chunks)), initial=0)
    return [len(fitted.pieces) - count for count in behind][-2::-1]


PRIVATE = "?"
"""The prefix of a counter's name whose counts are not stored."""
CACHED = 1_024
"""Tokens below which no provider caches a request, unless the model's card has another number."""
Count = Callable[[str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The model and format that a window is for."""

    format: Format
    card: ModelCard
    meter: Meter
    warnings: tuple[str, ...] = ()
    handles: bool = False
    """The agent has the recall tool: its windows show handles."""

    @property
    def tokenizer(self) -> Tokenizer:
        return self.meter.tokenizer

    @property
    def history_key(self) -> str:
        """The name of the way of counting; it starts with `PRIVATE` if only this process knows it."""
        known = self.tokenizer.name.partition(SCALE_SIGN)[0] in tokenizer_names()
        name = self.tokenizer.name if known else f"{PRIVATE}{id(self.meter)}"
        return "/".join((name, self.format, self.card.images))

    @property
    def exact(self) -> bool:
        """Whether our counts are the model's own."""
        return self.tokenizer.exact and self.card.known

    @property
    def most(self) -> int:
        """Tokens that the model takes at most; assumed of a model that is not in the catalogue."""
        return self.card.max_input or self.card.context

    def frame(self, stored: Format, envelope: str = "") -> Frame:
        """How turns stored in a format are repaired, counted and written for this target."""
        scribe = Scribe(
            note=partial(wire.note, format=self.format),
            answer=partial(wire.answer, format=self.format),
            dump=self.dump,
        )
        return Frame(
            rules=wire.rules(self.format, envelope),
            scribe=scribe,
            price=self.meter.message,
            render=partial(wire.rendered, format=self.format),
            chained=wire.rules(stored).item_per_part,
            handles=self.handles,
        )

    def with_tools(self, tools: str) -> Target:
        """The same target for an agent with these tools, a JSON array."""
        handles = wire.offers_recall(tools)
        return self if handles == self.handles else replace(self, handles=handles)

    def dump(self, messages: Sequence[Message]) -> tuple[str, ...]:
        """Messages as this target's JSON; system prompts only if the format has them among the messages."""
        return wire.dump(messages, self.format).pieces

    def price(self, messages: Sequence[Message], tools: str) -> int:
        """Tokens of a whole request."""
        return self.meter.request + self.meter.tools(tools) + sum(map(self.meter.message, messages))

    def warned(self, budget: int) -> tuple[str, ...]:
        """The warnings about the model and about a budget that is more than it takes."""
        most = self.most
        if not self.card.known or budget <= most:
            return self.warnings
        return (
            *self.warnings,
            f"the budget of {budget:,} tokens is over the limit of `{self.card.id}`, which takes {most:,}: a "
            "window that is longer will be refused; lower `budget`, or omit it",
        )

    def order(
        self,
        preset: Preset,
        *,
        budget: int,
        tools: str,
        task: str,
        now: float,
        system: Sequence[Message] = (),
    ) -> Order:
        """The pipeline's input for one window."""
        from foveal.pipeline.fit import Order

        return Order(
            scene=Scene(now=now, task=task, budget=budget, count=self.meter.text),
            framing=self.meter.request,
            tools=self.meter.tools(tools),
            preset=preset.name,
            counter=self.tokenizer.name,
            select=preset.select,
            prelude=self._prelude(system) if system else None,
            warnings=self.warned(budget),
        )

    def _prelude(self, system: Sequence[Message]) -> Chunk:
        return Chunk(
            first=-1,
            last=-1,
            messages=tuple(system),
            pieces=self.dump(system),
            tokens=sum(map(self.meter.message, system)),
        )

    def window(
        self,
        fitted: Fitted,
        given: Conversation,
        *,
        entries: Sequence[Entry],
        fetch: Callable[[str], Any],
        followed: bool = False,
    ) -> Window:
        """The window that the caller gets.

        `followed`: the next window will begin with this one, so it gets the provider's cache markers.
        """
        from foveal.pipeline.explain import explain

        system = [m for chunk in fitted.chunks for m in chunk.messages if m.role == "system"]
        outside = wire.dump(system, self.format).system
        most, manifest = wire.rules(self.format).max_markers, fitted.manifest
        came = (with_moved_markers(fitted, given.messages) if most else fitted.pieces, outside, given.tools)
        texts = wire.cap_markers(*came, most)
        if texts != came:
            surplus = Repair(
                rule="cache markers", seq=0, what="cache markers that the provider refuses were taken off"
            )
            manifest = replace(manifest, repairs=(*manifest.repairs, surplus))
        if followed and most and manifest.tokens >= (self.card.cache_min or CACHED):
            texts = wire.mark_cache(*texts, most=most, stable=stable_pieces(fitted))
        pieces, outside, tools = texts
        return Window(
            format=self.format,
            model=self.card.id,
            tokens=manifest.tokens,
            budget=manifest.budget,
            account=lambda: manifest,
            pieces=pieces,
            system_json=outside,
            tools_json=tools,
            envelope=given.envelope,
            entries=entries,
            fetch=fetch,
            describe=explain,
        )


def check_counter(counter: object) -> None:
    """Refuse a counter that is neither a name nor a function."""
    if counter is not None and not (isinstance(counter, str) or callable(counter)):
        raise InputError(
            f"`counter` is a {type(counter).__name__}, neither a name nor a function",
            remedy="pass the name of a tokenizer, or a function of a text",
            field="counter",
        )


def target_for(
    model: str,
    format: Format,
    *,
    counter: str | Count | None = None,
    catalogue: Path | None = None,
    learned: Callable[[str, str], float] | None = None,
) -> Target:
    """The target for a model; an unknown model gets a cautious guess and a warning.

    `learned`: returns the factor that a model's bills put on an estimate, by model and tokenizer.
    """
    check_counter(counter)
    if catalogue is not None and not isinstance(catalogue, Path):
        raise InputError(
            f"`catalogue` is a {type(catalogue).__name__}, not a path",
            remedy="pass a `pathlib.Path`, or omit it",
            field="catalogue",
        )
    card = catalog.find(model, extra=catalogue)
    doubt = catalog.doubt(model, card, extra=catalogue)
    base = tokenizer(counter or card.tokenizer)
    factor = learned(card.id, base.name) if learned and not base.exact else 1.0
    meter = _meter(counter or card.tokenizer, format, card.images, factor)
    return Target(format=format, card=card, meter=meter, warnings=(doubt,) if doubt else ())


@lru_cache(maxsize=32)
def _meter(counter: str | Count, format: Format, images: str, factor: float) -> Meter:
    """One meter per way of counting, so that a process counts each text once."""
    base = tokenizer(counter)
    return Meter(
        base if factor == 1.0 else scaled_tokenizer(base, factor), wire.framing(format), images=images
    )


def tools_text(tools: object) -> str:
    """Tool definitions as JSON, with their order and fields unchanged."""
    if tools is None:
        return ""
    if not isinstance(tools, list | tuple):
        raise InputError(
            f"`tools` is a {type(tools).__name__}, not a list",
            remedy="pass the definitions as the provider's list",
            field="tools",
        )
    for at, tool in enumerate(tools):
        if isinstance(tool, str | int | float | list | tuple | None):
            raise InputError(
                f"tools[{at}] is a {type(tool).__name__}, not a definition",
                remedy="pass the definitions as the provider's list",
                field="tools",
            )
    return wire.to_json(list(tools), "tools")


def system_messages(system: object) -> tuple[Message, ...]:
    """A system prompt given apart from the messages, as a message."""
    if system is None or system == "":
        return ()
    if not isinstance(system, str):
        raise InputError(
            f"`system` is a {type(system).__name__}, not text",
            remedy="pass text, or put the system prompt into the request body as the provider expects it",
            field="system",
        )
    return (wire.text_message("system", system),)


def warn(warnings: Sequence[str]) -> None:
    """Issue Python warnings."""
    for text in warnings:
        python_warnings.warn(printable(text), stacklevel=3)
