"""Build a window's content from a history and a budget. This is the whole program: read it first.

    fix      the system prompt, pins, the user's newest words and standing requests, and the open turn are in
    retrieve past messages that the caller found, within their share of the budget
    admit    attached context, in notes, as far as the preset's plan has room for it
    select   the preset's selector spends the rest
    arrange  in the order of the conversation, with a note where the provider needs one
    account  one decision for every message, and the tokens by part

The promise: `manifest.tokens <= budget`, or `BudgetError` says by part why not.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from foveal.errors import BudgetError
from foveal.events import Reports
from foveal.model import Chunk
from foveal.pipeline.account import Account, WindowContent, account
from foveal.pipeline.fixed import FixedTurns, fixed_turns, open_turn
from foveal.pipeline.history import History, is_system
from foveal.pipeline.material.placement import PlacedMaterial, place_material
from foveal.pipeline.material.values import Admit, Material
from foveal.pipeline.shorten.turn import least_form_tokens
from foveal.pipeline.summarize.notes import retrieved_note
from foveal.pipeline.values import Layout, LogNote, RetrievedNote, Scene, Selector, SharedNote
from foveal.window import Contributed, Manifest, Retrieved, WindowNote

RETRIEVED_SHARE = 0.2
"""Of the budget: the most that retrieved messages may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Everything that determines one window, apart from the history."""

    scene: Scene
    """What selectors see of the request."""
    framing: int
    """Tokens of the request without any message."""
    tools: int
    """Tokens of the tool definitions."""
    preset: str
    counter: str
    select: Selector
    prelude: Chunk | None = None
    """A system prompt for this build only."""
    retrieved: tuple[tuple[Retrieved, str], ...] = ()
    """Past messages to show again, with their texts, best first."""
    shared: tuple[SharedNote, ...] = ()
    """Notes of what other agents share, in order."""
    material: tuple[Material, ...] = ()
    """Attached context that the window may show."""
    admit: Admit | None = None
    """Chooses what of the material is shown; without it, none is."""
    warnings: tuple[str, ...] = ()

    @property
    def budget(self) -> int:
        return self.scene.budget

    @property
    def overhead(self) -> int:
        return self.framing + self.tools + (self.prelude.tokens if self.prelude else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A window's content, and the manifest that explains it."""

    chunks: tuple[Chunk, ...]
    pieces: tuple[str, ...]
    """The chunks as the provider's JSON, in order, notes included."""
    manifest: Manifest
    layout: Layout | None = None
    """The layout that the next window keeps, for presets with a stable prefix."""
    reports: Reports = ()
    """Events that the preset's design defines."""
    shared: tuple[SharedNote, ...] = ()
    """The notes of what other agents share that are in."""
    placed: PlacedMaterial = field(default_factory=PlacedMaterial)
    """The material that is in, and its notes."""
    arcs: Mapping[int, str] = field(default_factory=dict)
    """The conversation arcs that notes begin with, by position of the note's first message."""


def fit(history: History, order: Order) -> Fitted:
    """Select, arrange and account for one window."""
    always = _fixed(history, order)
    fixed, opened = always.chunks, always.opened
    room = order.budget - order.overhead - sum(chunk.tokens for chunk in fixed.values())
    shared = _shared(history, order.shared, room)
    room -= _tokens(shared)
    retrieved, note = _retrieved(history, order, fixed, room)
    room -= note.tokens if note else 0
    scene = replace(order.scene, overhead=order.overhead, shared=_tokens(shared))
    material = PlacedMaterial()
    if order.material:
        joints = history.note_tokens * sum(history.notes_needed([fixed[turn] for turn in sorted(fixed)]))
        material = place_material(order.material, order.admit, history, room - joints, scene)
    if material.items:
        scene = replace(scene, material=material.items, slots=material.slots)
    selection = order.select(history, fixed, room - material.tokens, scene)
    window = {turn: selection.forms.get(turn) or history.chunk(turn) for turn in selection.turns}
    window |= {turn: selection.forms.get(turn) or chunk for turn, chunk in fixed.items()}
    shown = {**window, **selection.markers}
    asked = _asked(history, opened)
    before = _by_turn(history, selection.notes)
    before = _with_shared(history, before, shared, sorted(shown))
    chunks = _arranged(history, shown, asked, material=material, retrieved=note, before=before)
    notes = history.notes_needed(chunks)
    choice = WindowContent(window=window, fixed=always, selection=selection, notes=sum(notes))
    costs = {"retrieved": note.tokens if note else 0, "material": material.tokens + _tokens(shared)}
    accounted = account(history, choice, _costs(order, costs))
    accounted["notes"] += _passages(retrieved, note, history.span(asked)[0])
    contributed = (*material.contributed, *_contributed(order.shared, shared))
    manifest = _manifest(order, accounted, always.warnings, retrieved, contributed)
    assert manifest.tokens <= order.budget, f"{manifest.tokens} tokens for a budget of {order.budget}"
    prelude = (order.prelude,) if order.prelude else ()
    return Fitted(
        chunks=(*prelude, *chunks),
        pieces=tuple(_pieces(history, (*prelude, *chunks), [*(False for _ in prelude), *notes])),
        manifest=manifest,
        layout=_settled(selection.layout, manifest, history.span(opened)[0]),
        reports=selection.reports,
        shared=tuple(note for note, _ in shared),
        placed=material,
        arcs={shown[turn].first: arc for turn, arc in selection.arcs.items()},
    )


def _shared(history: History, notes: Iterable[SharedNote], room: int) -> list[tuple[SharedNote, Chunk]]:
    """The notes of what other agents share, with their chunks: the first ones that fit half of the room."""
    found: list[tuple[SharedNote, Chunk]] = []
    for each in notes:
        chunk = history.note(each.text)
        if _tokens(found) + chunk.tokens > room // 2:
            break
        found.append((each, chunk))
    return found


def _tokens(notes: Iterable[tuple[SharedNote, Chunk]]) -> int:
    return sum(chunk.tokens for _, chunk in notes)


def _with_shared(
    history: History,
    before: Mapping[int, tuple[Chunk, ...]],
    notes: Iterable[tuple[SharedNote, Chunk]],
    shown: Sequence[int],
) -> Mapping[int, tuple[Chunk, ...]]:
    """The same with the notes of what other agents share, before the next turn that is shown."""
    found = dict(before)
    for each, chunk in notes:
        at = bisect_left(shown, history.turn_of(each.position))
        turn = shown[min(at, len(shown) - 1)]
        found[turn] = (*found.get(turn, ()), chunk)
    return found


def _contributed(
    offered: Iterable[SharedNote], notes: Sequence[tuple[SharedNote, Chunk]]
) -> Iterator[Contributed]:
    """The entries of the notes that are in, and of those that found no room."""
    for number, each in enumerate(offered):
        there = number < len(notes)
        yield Contributed(
            type="POOL",
            source=each.source,
            tokens=notes[number][1].tokens if there else 0,
            weight=1.0,
            salience=1.0,
            verdict="kept" if there else "left out",
            because=each.because if there else "too little room was left",
        )


def _by_turn(history: History, notes: Iterable[LogNote | RetrievedNote]) -> Mapping[int, tuple[Chunk, ...]]:
    """The notes by the turn that they precede."""
    found: dict[int, tuple[Chunk, ...]] = {}
    for each in notes:
        turn = history.turn_of(each.position)
        found[turn] = (*found.get(turn, ()), each.note)
    return found


def _passages(retrieved: Sequence[Retrieved], note: Chunk | None, position: int) -> tuple[WindowNote, ...]:
    """The entry of the note that has the retrieved messages, if there is one."""
    if note is None:
        return ()
    first, last = min(each.first for each in retrieved), max(each.last for each in retrieved)
    return (WindowNote(kind="retrieved", position=position, first=first, last=last, tokens=note.tokens),)


def _settled(layout: Layout | None, manifest: Manifest, opened: int) -> Layout | None:
    """The layout with the decisions about everything before the open turn."""
    if layout is None:
        return None
    until = bisect_left(manifest.decisions, opened, key=attrgetter("first"))
    return replace(layout, decisions=manifest.decisions[:until], decided_until=opened)


def _arranged(
    history: History,
    shown: Mapping[int, Chunk],
    asked: int,
    *,
    material: PlacedMaterial,
    retrieved: Chunk | None,
    before: Mapping[int, tuple[Chunk, ...]],
) -> list[Chunk]:
    """The turns in order; what is known of the user before them, other notes before the newest question."""
    placed = [(t, chunk) for t in sorted(shown) for chunk in (*before.get(t, ()), shown[t])]
    places, chunks = [turn for turn, _ in placed], [chunk for _, chunk in placed]
    first = next((at for at, chunk in enumerate(chunks) if not is_system(chunk)), len(chunks))
    head = max(first, bisect_left(places, min(_pinned_at_start(history), asked)))
    tail = max(head, bisect_left(places, asked))
    chunks[tail:tail] = [note for note in (material.tail, retrieved) if note]
    chunks[head:head] = [material.head] if material.head else []
    return chunks


def _pinned_at_start(history: History) -> int:
    """The first turn that is not fixed; what precedes it never moves."""
    pinned, turn = history.pinned, 0
    while turn in pinned:
        turn += 1
    return turn


def _retrieved(
    history: History, order: Order, fixed: Mapping[int, Chunk], room: int
) -> tuple[tuple[Retrieved, ...], Chunk | None]:
    """The retrieved messages that fit their share of the budget, and the note that shows them."""
    if not order.retrieved:
        return (), None
    room -= history.note_tokens * sum(history.notes_needed([fixed[turn] for turn in sorted(fixed)]))
    most = min(room, int(RETRIEVED_SHARE * order.budget))
    for stop in range(len(order.retrieved), 0, -1):
        stretches = order.retrieved[:stop]
        ways = [history.recall_mark(what.first, what.last) for what, _ in stretches]
        note = history.note(retrieved_note(stretches, ways))
        if note.tokens <= most:
            return tuple(what for what, _ in stretches), note
    return (), None


def _asked(history: History, opened: int) -> int:
    """The newest user turn, before which retrieved messages are placed; else the open turn."""
    asked = history.latest_request(opened)
    return opened if asked is None else asked


def _costs(order: Order, costs: Mapping[str, int]) -> Mapping[str, int]:
    """Tokens of the parts that are not turns."""
    system = order.prelude.tokens if order.prelude else 0
    return {"framing": order.framing, "tools": order.tools, "system": system, **costs}


def _manifest(
    order: Order,
    account: Account,
    warnings: tuple[str, ...],
    retrieved: tuple[Retrieved, ...],
    contributed: tuple[Contributed, ...],
) -> Manifest:
    return Manifest(
        preset=order.preset,
        counter=order.counter,
        budget=order.budget,
        warnings=(*order.warnings, *warnings),
        retrieved=retrieved,
        contributed=contributed,
        **account,
    )


def _pieces(history: History, chunks: Sequence[Chunk], notes: Sequence[bool]) -> Iterator[str]:
    for chunk, noted in zip(chunks, notes, strict=True):
        if noted:
            yield from history.note_pieces
        yield from chunk.pieces


def _fixed(history: History, order: Order) -> FixedTurns:
    """The turns that must be in."""
    reserved = sum(each.tokens for each in order.material)
    reserved += _tokens([(each, history.note(each.text)) for each in order.shared])
    reserved += int(RETRIEVED_SHARE * order.budget) if order.retrieved else 0
    found = fixed_turns(history, order.budget - order.overhead, order.scene.count, reserved=reserved)
    if found is None:
        raise _too_small(history, order)
    return found


def _too_small(history: History, order: Order) -> BudgetError:
    opened = open_turn(history)
    fixed = {turn: chunk for turn in (*history.pinned, opened) if (chunk := history.chunk(turn)).messages}
    notes = history.note_tokens * sum(history.notes_needed([fixed[turn] for turn in sorted(fixed)]))
    least = least_form_tokens(history, opened, order.scene.count, words=True)
    system = sum(c.tokens for c in fixed.values() if is_system(c))
    system += order.prelude.tokens if order.prelude else 0
    pinned = sum(c.tokens for t, c in fixed.items() if t != opened and not is_system(c))
    floor = order.framing + order.tools + system + pinned + notes + least
    numbers = [
        ("system prompt", system),
        ("tools", order.tools),
        ("pinned", pinned),
        ("open turn", least),
        ("framing and notes", order.framing + notes),
    ]
    return BudgetError(
        f"the budget is {order.budget:,} tokens, the smallest possible window has {floor:,}: "
        + ", ".join(f"{name} {tokens:,}" for name, tokens in numbers),
        remedy=_remedy(floor, numbers),
        field="budget",
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
