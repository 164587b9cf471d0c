"""The whole program, and the file to read first: a history and a budget in → a window's content.

    fixed    the system prompt, the pins and the open turn are in, whatever the selector says
    retrieve what the past has to say to this, within its share of the room that is left
    admit    material beside the conversation, in notes of ours, as the preset's plan has room for it
    select   the preset's selector spends the rest
    arrange  in conversation order, with a note of ours where the provider needs one
    account  one decision for every message, and the tokens by part

The promise: `manifest.tokens <= budget`, or `BudgetError` says by part why not.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter

from foveal.errors import BudgetError, InputError
from foveal.model import Chunk
from foveal.pipeline.account import Account, Choice, account
from foveal.pipeline.history import History, is_system
from foveal.pipeline.material.notes import PlacedMaterial, place_material
from foveal.pipeline.material.values import Admit, Material
from foveal.pipeline.shorten.turn import least_tokens, shorten_results
from foveal.pipeline.summarize.notes import retrieved_note
from foveal.pipeline.summarize.values import Answer
from foveal.pipeline.values import Layout, Rates, Scene, Selector
from foveal.window import Contributed, Manifest, Retrieved

RETRIEVED_SHARE = 0.2
"""Of the budget: what the past may take at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is wanted of one build."""

    budget: int
    framing: int
    """Tokens of the request before any message."""
    tools: int
    """Tokens of the tool definitions."""
    preset: str
    counter: str
    count: Callable[[str], int]
    select: Selector
    task: str = ""
    """What the window is for; selectors that do not look at content pass over it."""
    now: float = 0.0
    answer: Answer | None = None
    """Who makes summaries; without one they are extracts, made anew."""
    prelude: Chunk | None = None
    """A system prompt given with this build only."""
    retrieved: tuple[tuple[Retrieved, str], ...] = ()
    """Stretches of the past and their words, the most wanted first."""
    material: tuple[Material, ...] = ()
    """What was never said and may be in the window."""
    admit: Admit | None = None
    """Who says what of the material is shown; without one, nothing is."""
    layout: Layout | None = None
    """The layout of the build before, for presets that hold still."""
    relevant: tuple[int, ...] = ()
    """Positions of messages that have to do with what the window is for, the most wanted first."""
    rates: Rates | None = None
    """What the provider charges, where another window will follow that should begin with this one."""
    warnings: tuple[str, ...] = ()

    @property
    def overhead(self) -> int:
        return self.framing + self.tools + (self.prelude.tokens if self.prelude else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A window's content, and the manifest that explains it."""

    chunks: tuple[Chunk, ...]
    pieces: tuple[str, ...]
    """The chunks as the provider's JSON, in order, notes of ours included."""
    manifest: Manifest
    layout: Layout | None = None
    """The layout to begin the next window with, where the preset holds still."""
    reports: tuple[tuple[str, Mapping[str, object]], ...] = ()
    """Events of the preset's own design: name and payload."""
    placed: PlacedMaterial = field(default_factory=PlacedMaterial)
    """The material that is in, and its notes."""
    arcs: Mapping[int, str] = field(default_factory=dict)
    """By position of its first message: how the conversation got here, where a note begins with that."""


def fit(history: History, order: Order) -> Fitted:
    """Choose, arrange and account for one window."""
    forced = history.pinned
    fixed, opened = _fixed(history, order, forced)
    room = order.budget - order.overhead - sum(chunk.tokens for chunk in fixed.values())
    brought, note = _brought(history, order, fixed, room)
    room -= note.tokens if note else 0
    scene = Scene(
        now=order.now,
        task=order.task,
        budget=order.budget,
        count=order.count,
        answer=order.answer,
        overhead=order.overhead,
        layout=order.layout,
        relevant=order.relevant,
        rates=order.rates,
    )
    beside = PlacedMaterial()
    if order.material:
        joints = history.note_tokens * sum(history.joints([fixed[turn] for turn in sorted(fixed)]))
        beside = place_material(order.material, order.admit, history, room - joints, scene)
    if beside.items:
        scene = replace(scene, material=beside.items, slots=beside.slots)
    selection = order.select(history, fixed, room - beside.tokens, scene)
    window = {turn: selection.forms.get(turn) or history.chunk(turn) for turn in selection.turns} | fixed
    shown = {**window, **selection.markers}
    asked, before = _asked(history, opened), selection.before
    chunks = _arranged(history, shown, asked, beside=beside, past=note, before=before)
    notes = history.joints(chunks)
    choice = Choice(window=window, forced=forced, opened=opened, selection=selection, notes=sum(notes))
    past = sum(each.tokens for each in (note, *before.values()) if each)
    costs = {"retrieved": past, "material": beside.tokens}
    manifest = _manifest(order, account(history, choice, _costs(order, costs)), brought, beside.contributed)
    assert manifest.tokens <= order.budget, f"{manifest.tokens} tokens for a budget of {order.budget}"
    prelude = (order.prelude,) if order.prelude else ()
    return Fitted(
        chunks=(*prelude, *chunks),
        pieces=tuple(_pieces(history, (*prelude, *chunks), [*(False for _ in prelude), *notes])),
        manifest=manifest,
        layout=_settled(selection.layout, manifest, history.span(opened)[0]),
        reports=selection.reports,
        placed=beside,
        arcs={shown[turn].first: arc for turn, arc in selection.arcs.items()},
    )


def _settled(layout: Layout | None, manifest: Manifest, opened: int) -> Layout | None:
    """The layout with what was decided of everything before the open turn."""
    if layout is None:
        return None
    until = bisect_left(manifest.decisions, opened, key=attrgetter("first"))
    return replace(layout, decided=manifest.decisions[:until], settled=opened)


def _arranged(
    history: History,
    shown: Mapping[int, Chunk],
    asked: int,
    *,
    beside: PlacedMaterial,
    past: Chunk | None,
    before: Mapping[int, Chunk],
) -> list[Chunk]:
    """The turns in their order; what is known before them, the rest of ours before the newest question."""
    placed = [(t, chunk) for t in sorted(shown) for chunk in (before.get(t), shown[t]) if chunk]
    places, chunks = [turn for turn, _ in placed], [chunk for _, chunk in placed]
    first = next((at for at, chunk in enumerate(chunks) if not is_system(chunk)), len(chunks))
    head = max(first, bisect_left(places, min(_pinned_at_start(history), asked)))
    tail = max(head, bisect_left(places, asked))
    chunks[tail:tail] = [note for note in (beside.tail, past) if note]
    chunks[head:head] = [beside.head] if beside.head else []
    return chunks


def _pinned_at_start(history: History) -> int:
    """The first turn that need not be in every window: what is before it never moves."""
    pinned, turn = history.pinned, 0
    while turn in pinned:
        turn += 1
    return turn


def _brought(
    history: History, order: Order, fixed: Mapping[int, Chunk], room: int
) -> tuple[tuple[Retrieved, ...], Chunk | None]:
    """The retrieved stretches that fit their share and the room beside what is fixed, and their note."""
    if not order.retrieved:
        return (), None
    room -= history.note_tokens * sum(history.joints([fixed[turn] for turn in sorted(fixed)]))
    most = min(room, int(RETRIEVED_SHARE * order.budget))
    for stop in range(len(order.retrieved), 0, -1):
        stretches = order.retrieved[:stop]
        ways = [history.way_back(what.first, what.last) for what, _ in stretches]
        note = history.note(retrieved_note(stretches, ways))
        if note.tokens <= most:
            return tuple(what for what, _ in stretches), note
    return (), None


def _asked(history: History, opened: int) -> int:
    """The newest turn of the user's, before which the past is put; the open turn where there is none."""
    asked = history.asked(opened)
    return opened if asked is None else asked


def _costs(order: Order, costs: Mapping[str, int]) -> Mapping[str, int]:
    """Tokens of the parts that are no turns."""
    system = order.prelude.tokens if order.prelude else 0
    return {"framing": order.framing, "tools": order.tools, "system": system, **costs}


def _manifest(
    order: Order, told: Account, brought: tuple[Retrieved, ...], contributed: tuple[Contributed, ...]
) -> Manifest:
    return Manifest(
        preset=order.preset,
        counter=order.counter,
        budget=order.budget,
        warnings=order.warnings,
        retrieved=brought,
        contributed=contributed,
        **told,
    )


def _pieces(history: History, chunks: Sequence[Chunk], notes: Sequence[bool]) -> Iterator[str]:
    for chunk, noted in zip(chunks, notes, strict=True):
        if noted:
            yield from history.note_pieces
        yield from chunk.pieces


def _fixed(history: History, order: Order, forced: Mapping[int, str]) -> tuple[dict[int, Chunk], int]:
    """The turns that must be in, and which of them is the open one, cut to fit if it has to be."""
    opened = _open_turn(history)
    fixed = {turn: chunk for turn in forced if (chunk := history.chunk(turn)).messages}
    fixed[opened] = chunk = history.chunk(opened)
    others = sum(c.tokens for c in fixed.values()) - chunk.tokens
    notes = history.note_tokens * sum(history.joints([fixed[turn] for turn in sorted(fixed)]))
    room = order.budget - order.overhead - others - notes
    if chunk.tokens > room:
        cut = partial(
            shorten_results,
            chunk.messages,
            room,
            history.frame.price,
            order.count,
            render=history.frame.render,
        )
        # Where there is no room for the ways back, the words still fit.
        shorter = cut(mark=history.marks(chunk)) or cut()
        if shorter is None:
            raise _too_small(history, order, fixed, opened, notes)
        fixed[opened] = history.reword(chunk, shorter)
    return fixed, opened


def _open_turn(history: History) -> int:
    for turn in range(len(history) - 1, -1, -1):
        if history.absence(turn):
            continue
        chunk = history.chunk(turn)
        if chunk.messages and not is_system(chunk):
            return turn
    raise InputError(
        f"there is no message to answer among {len(history.entries)}",
        remedy="add a user message before asking for a window",
    )


def _too_small(
    history: History, order: Order, fixed: Mapping[int, Chunk], opened: int, notes: int
) -> BudgetError:
    frame = history.frame
    open_least = least_tokens(fixed[opened].messages, frame.price, order.count, render=frame.render)
    system = sum(c.tokens for c in fixed.values() if is_system(c))
    system += order.prelude.tokens if order.prelude else 0
    pinned = sum(c.tokens for t, c in fixed.items() if t != opened and not is_system(c))
    floor = order.framing + order.tools + system + pinned + notes + open_least
    numbers = [
        ("system prompt", system),
        ("tools", order.tools),
        ("pinned", pinned),
        ("open turn", open_least),
        ("framing and notes", order.framing + notes),
    ]
    return BudgetError(
        f"the budget is {order.budget:,} tokens, the smallest possible window has {floor:,}: "
        + ", ".join(f"{name} {tokens:,}" for name, tokens in numbers),
        remedy=_remedy(floor, numbers),
    )


def _remedy(floor: int, numbers: Sequence[tuple[str, int]]) -> str:
    ways = {
        "system prompt": "shorten the system prompt",
        "tools": "offer fewer tools",
        "pinned": "unpin something",
        "open turn": "shorten the newest message",
    }
    largest = max(numbers[:4], key=lambda pair: pair[1])[0]
    return f"raise `budget` to {floor:,} or more, or {ways[largest]}"
