"""Material and room in → notes of ours with what is admitted of it, and for every piece why it is in or not.

At most two notes. What is known stands at the head of the window, where it seldom changes, so that what
follows it stays as it was sent before; the rest stands before the user's newest words. Never over the room.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from foveal.model import Chunk
from foveal.pipeline.compact.beside import BEGINNING, ENDING, beside_note, section
from foveal.pipeline.history import History
from foveal.pipeline.material import Admit, Material
from foveal.pipeline.plan.layers import ENTITY, IDENTITY, PREFERENCES, TOPIC, slot_of
from foveal.pipeline.values import Item, Scene, Slot
from foveal.window import Contributed

KNOWN = (IDENTITY, PREFERENCES, TOPIC, ENTITY)
"""The layers of the note at the head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """The notes, and what they hold."""

    head: Chunk | None = None
    tail: Chunk | None = None
    shown: tuple[Material, ...] = ()
    told: tuple[Contributed, ...] = ()
    items: tuple[Item, ...] = ()
    """The pieces as plans see them: their tokens are those of the notes."""
    slots: tuple[Slot, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(note.tokens for note in (self.head, self.tail) if note)


def placed(
    material: Sequence[Material], admit: Admit | None, history: History, room: int, scene: Scene
) -> Placed:
    """Ask who admits, then leave out the least of what is shown until the notes fit."""
    if not material or admit is None:
        return Placed(told=tuple(out(each, "nobody asked for it") for each in material))
    there = [each for each in material if each.text.strip()]
    empty = tuple(out(each, "there is nothing in it") for each in material if not each.text.strip())
    admission = admit(there, history, room, scene)
    shown, told = fitting(history, admission.shown, room, admission.told)
    head, tail = notes(history, shown)
    return Placed(
        head=head,
        tail=tail,
        shown=tuple(shown),
        told=(*told, *empty),
        items=tuple(map(as_item, shown, charges(shown, (head, tail)))),
        slots=admission.slots,
    )


def fitting(
    history: History, shown: Sequence[Material], room: int, told: Sequence[Contributed]
) -> tuple[list[Material], list[Contributed]]:
    """As many of the pieces as their notes have room for: a note costs more than its pieces."""
    worst_first = sorted(range(len(shown)), key=lambda at: (shown[at].rank, -at))
    gone = 0
    while True:
        left = [shown[at] for at in sorted(worst_first[gone:])]
        over = _tokens(notes(history, left)) - room
        if over <= 0 or not left:
            break
        while gone < len(shown) and over > 0:
            over -= max(1, shown[worst_first[gone]].tokens)
            gone += 1
    because = f"the notes had to fit {max(0, room):,} tokens with their titles, and it is the least of them"
    return left, revoked(told, [shown[at] for at in worst_first[:gone]], because)


def revoked(told: Sequence[Contributed], pieces: Iterable[Material], because: str) -> list[Contributed]:
    """The same reasons, but these pieces are not in."""
    gone = Counter((piece.type, piece.source, piece.tokens) for piece in pieces)

    def after(each: Contributed) -> Contributed:
        names = (each.type, each.source, each.tokens)
        if each.verdict != "kept" or not gone[names]:
            return each
        gone[names] -= 1
        return replace(each, verdict="left out", because=because)

    return list(map(after, told))


def notes(history: History, shown: Iterable[Material]) -> tuple[Chunk | None, Chunk | None]:
    """The note at the head and the one before the user's newest words."""
    pieces = list(shown)
    texts = (beside_note([p for p in pieces if known(p) == side]) for side in (True, False))
    head, tail = (history.note(text) if text else None for text in texts)
    return head, tail


def known(piece: Material) -> bool:
    return layer(piece) in KNOWN


def layer(piece: Material) -> str:
    return slot_of(as_item(piece, 0))


def titled(material: Iterable[Material], count: Callable[[str], int]) -> list[Material]:
    """The pieces with what they cost in a note, their titles included."""
    return [replace(each, tokens=count(f"{section(each)}\n")) for each in material]


def frame(history: History) -> int:
    """Tokens of a note around its pieces."""
    return history.note(f"{BEGINNING}\n{ENDING}").tokens


def charges(shown: Sequence[Material], made: Iterable[Chunk | None]) -> list[int]:
    """What each piece has of its note's tokens; the first of a note has what is around them."""
    tokens = [each.tokens for each in shown]
    for side, note in zip((True, False), made, strict=True):
        places = [at for at, each in enumerate(shown) if known(each) == side]
        if note and places:
            tokens[places[0]] += note.tokens - sum(tokens[at] for at in places)
    return tokens


def as_item(piece: Material, tokens: int) -> Item:
    """The piece as plans see it."""
    return Item(
        index=-1,
        id=f"{piece.type} {piece.source}",
        role="user",
        kind=piece.kind,
        text="",
        tokens=tokens,
        metadata={"layer": piece.layer} if piece.layer else {},
    )


def kept(piece: Material, because: str) -> Contributed:
    return replace(out(piece, because), verdict="kept")


def out(piece: Material, because: str) -> Contributed:
    return Contributed(
        type=piece.type,
        source=piece.source,
        tokens=piece.tokens,
        weight=piece.weight,
        salience=piece.salience,
        verdict="left out",
        because=because,
        title=piece.title,
    )


def _tokens(made: Iterable[Chunk | None]) -> int:
    return sum(note.tokens for note in made if note)
