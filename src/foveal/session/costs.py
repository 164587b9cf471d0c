"""Work out what windows cost by the rules of the provider's cache, and keep a session's totals.

The cache serves a request up to the first message that differs from the request before it, if that prefix is
long enough for the provider; the rest is written to the cache.

A build counts as a request once its answer follows in the history: the latest build before an assistant
message was sent, and those between it and the answer before were only looked at. A build whose usage was
reported counts too. The newest build is pending until then; the build after it decides.

The last request is kept for each target. A stored build has only fingerprints of it, as many for a long
window as for a short one, and the totals of the requests before it: the next process goes on from there.
Money is not stored, because prices change: it is computed when a caller asks. The stored JSON:

    costs    of this build: `managed`, `unmanaged`, `billed`, each [requests, tokens, cached, written]
    book     head      fingerprint of the target, its tools and the system prompt of this build alone
             prefix    [chunks, fingerprint of that many chunks from the start of the window], a few of them
             messages  the length of the history
             sums      the session's costs up to this build, by model
             pending   true while `sums` are without this build
             answered  whether the build before this one was pending and counts
             last      the latest request before this build: its head, prefix, messages and moment
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from hashlib import blake2b
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foveal import catalog
from foveal.catalog import ModelCard, Prices
from foveal.model import Chunk, Entry
from foveal.pipeline.history import History
from foveal.pipeline.values import cache_expired
from foveal.session.target import Target
from foveal.store import BuildRecord, Head
from foveal.store.decode import checked, decoding
from foveal.window import Cost, Costs
from foveal.wire.jsontext import compact

if TYPE_CHECKING:
    from foveal.pipeline.fit import Fitted, Order


def predicted(tokens: int, repeated: int, card: ModelCard) -> Cost:
    """The cost of one request that shares `repeated` tokens of prefix with the one before."""
    least = card.cache_min or 0
    cached = repeated if repeated >= least else 0
    return Cost(tokens=tokens, cached=cached, written=tokens - cached if tokens >= least else 0)


def dollars(cost: Cost, prices: Prices | None) -> float | None:
    """US dollars; None where the price of input is unknown. A part without its own price costs that."""
    if prices is None or prices.input is None:
        return None
    read = prices.input if prices.cache_read is None else prices.cache_read
    write = prices.input if prices.cache_write is None else prices.cache_write
    plain = cost.tokens - cost.cached - cost.written
    return (plain * prices.input + cost.cached * read + cost.written * write) / 1e6


def priced(costs: Costs, model: str, catalogue: Path | None) -> Costs:
    """The same costs with dollars, at today's prices."""
    prices = prices_of(model, catalogue)
    bill = costs.billed
    return Costs(
        managed=replace(costs.managed, dollars=dollars(costs.managed, prices)),
        unmanaged=replace(costs.unmanaged, dollars=dollars(costs.unmanaged, prices)),
        billed=replace(bill, dollars=dollars(bill, prices)) if bill else None,
    )


@lru_cache(maxsize=64)
def prices_of(model: str, catalogue: Path | None) -> Prices | None:
    """A model's prices, looked up once."""
    return catalog.prices(model, extra=catalogue)


def repeated_tokens(history: History, before: Sequence[Chunk], now: Sequence[Chunk], whole: int) -> int:
    """Tokens of the longest beginning in whole messages that two windows share, beside tools and framing.

    It has `whole` chunks, and maybe some messages of the next.
    """
    tokens = prefix_tokens(history, now[:whole])
    if whole < min(len(before), len(now)):
        part = _part(history, before[whole], now[whole])
        joints = (
            sum(history.notes_needed(now[: whole + 1])) - sum(history.notes_needed(now[:whole]))
            if part
            else 0
        )
        tokens += part + history.note_tokens * joints
    return tokens


def prefix_tokens(history: History, chunks: Sequence[Chunk]) -> int:
    """Tokens of the chunks a window begins with, and of the notes between them."""
    notes = history.note_tokens * sum(history.notes_needed(chunks))
    return notes + sum(chunk.tokens for chunk in chunks)


def shared_chunks(before: Sequence[Chunk], now: Sequence[Chunk]) -> int:
    """How many chunks the common prefix of two windows has."""
    pairs = zip(before, now, strict=False)
    differs = (
        at for at, (old, new) in enumerate(pairs) if old is not new and sent_texts(old) != sent_texts(new)
    )
    return next(differs, min(len(before), len(now)))


def sent_texts(chunk: Chunk) -> tuple[str, ...]:
    """A chunk as it is sent. A system prompt outside the messages has no pieces: its text is compared."""
    return chunk.pieces or tuple(message.text for message in chunk.messages)


def _part(history: History, old: Chunk, new: Chunk) -> int:
    """Tokens of the common prefix of two versions of a turn, of which one continued or was cut."""
    frame, least = history.frame, min(len(old.pieces), len(new.pieces))
    same = next((at for at in range(least) if old.pieces[at] != new.pieces[at]), least)
    rendered = frame.render(new.messages) if same else ()
    return sum(map(frame.price, rendered[:same])) if len(rendered) == len(new.pieces) else 0


POINTS = 8
"""Fingerprints of a stored window: the next process finds the repeated prefix to within an eighth of it."""
SENT_MOST = 3
"""Targets whose last request stays in memory."""
NOTHING = Costs(managed=Cost(requests=0, tokens=0), unmanaged=Cost(requests=0, tokens=0))


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingRequest:
    """A window as it is sent, and the history it was built from."""

    target: Target
    order: Order
    fitted: Fitted
    tools: str
    history: History
    length: int
    """Messages of the history at that time."""

    @property
    def head(self) -> str:
        """A fingerprint: requests with different heads share no prefix."""
        prelude = sent_texts(self.order.prelude) if self.order.prelude else ()
        return fingerprint("", (self.target.card.id, self.target.format, self.tools, *prelude))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A request that was sent."""

    moment: float
    length: int
    """Messages of the history at that time."""
    prefix: Mapping[int, str] = field(default_factory=dict)
    """Where it was read from the store: fingerprints of prefixes, by their number of chunks."""
    chunks: tuple[Chunk, ...] = ()
    trail: Sequence[str] = ()
    """Where this process sent it: its chunks, and the fingerprint of the prefix that ends with each."""
    entries: Sequence[Entry] = ()
    """The history's entries; the list has grown since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEntry:
    """The costs of a build that is not a request yet."""

    costs: Costs
    model: str
    head: str
    sent: Sent


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The costs of a session: its requests so far, and its newest build while that is pending."""

    sums: Mapping[str, Costs] = field(default_factory=dict)
    """By model."""
    sent: Mapping[str, Sent] = field(default_factory=dict)
    """The last request for each target, by head, the latest last."""
    pending: CostEntry | None = None
    """The newest build, if neither an answer nor a bill has followed."""
    answered: bool = False
    """Whether the build before was pending, and an answer followed."""

    def settled(self, entries: Sequence[Entry]) -> Tally:
        """With the pending build among the requests if an answer follows it, else without it."""
        entry = self.pending
        if entry is None or not _answered(entry.sent, entries):
            return Tally(sums=self.sums, sent=self.sent)
        others = {head: sent for head, sent in self.sent.items() if head != entry.head}
        sent = dict([*others.items(), (entry.head, entry.sent)][-SENT_MOST:])
        return Tally(sums=_with(self.sums, entry.model, entry.costs), sent=sent, answered=True)


@dataclass(slots=True)
class CostTotals:
    """What a session has cost, as far as this process knows. Callers hold the session's lock."""

    number: int = 0
    """The latest build included."""
    amended: int = 0
    """The store's count of amended builds at that time."""
    known: Tally = field(default_factory=Tally)

    def catch_up(self, head: Head, read: Callable[[], BuildRecord | None]) -> None:
        """Include builds and bills of other processes; `read` returns the latest build."""
        if (head.builds, head.amended) == (self.number, self.amended):
            return
        latest = read()
        found = read_totals(latest) if latest else Tally()
        if head.builds == self.number:  # only bills are new, and this process knows more of what it built
            own = self.known.pending
            sent = self.known.sent if found.pending or not own else {**self.known.sent, own.head: own.sent}
            found = replace(found, sent=sent, pending=own if found.pending else None)
        self.known, self.number, self.amended = found, head.builds, head.amended

    def entry(self, request: OutgoingRequest, moment: float) -> tuple[CostEntry, Tally]:
        """The costs of a build, and the requests before it; `commit` keeps them once the build is stored."""
        before = self.known.settled(request.history.entries)
        head, chunks, last = request.head, request.fitted.chunks, before.sent.get(request.head)
        whole = shared_chunks(last.chunks, chunks) if last else 0
        trail = _trail(head, chunks, last.trail[:whole] if last else ())
        cached = None if last and cache_expired(last.moment, moment, request.target.card.cache_ttl) else last
        costs = Costs(managed=_managed(request, cached, whole, trail), unmanaged=_unmanaged(request, cached))
        entries = request.history.entries
        sent = Sent(moment=moment, length=request.length, chunks=chunks, trail=trail, entries=entries)
        entry = CostEntry(costs=costs, model=request.target.card.id, head=head, sent=sent)
        return entry, replace(before, pending=entry)

    def commit(self, known: Tally, number: int) -> None:
        """Keep the totals with a build that is stored."""
        self.number, self.known = number, known

    def total(self, entries: Sequence[Entry], catalogue: Path | None) -> Costs | None:
        """The requests so far with dollars; None before the first."""
        sums = self.known.settled(entries).sums
        found = [priced(costs, model, catalogue) for model, costs in sums.items()]
        return reduce(add, found) if found else None

    def pending(self, entries: Sequence[Entry]) -> bool:
        """Whether the newest build is no request yet."""
        entry = self.known.pending
        return entry is not None and not _answered(entry.sent, entries)


def _answered(sent: Sent, entries: Sequence[Entry]) -> bool:
    return any(entry.role == "assistant" for entry in entries[sent.length :])


def _with(sums: Mapping[str, Costs], model: str, costs: Costs) -> Mapping[str, Costs]:
    return {**sums, model: sums.get(model, NOTHING) + costs}


def _managed(request: OutgoingRequest, before: Sent | None, whole: int, trail: Sequence[str]) -> Cost:
    chunks, shared = request.fitted.chunks, 0
    if before and before.chunks:
        shared = repeated_tokens(request.history, before.chunks, chunks, whole)
    elif before:
        known = [at for at, mark in before.prefix.items() if trail[at - 1 : at] == [mark]]
        shared = prefix_tokens(request.history, chunks[: max(known, default=0)])
    around = request.order.framing + request.order.tools
    return predicted(request.fitted.manifest.tokens, around + shared if shared else 0, request.target.card)


def _unmanaged(request: OutgoingRequest, before: Sent | None) -> Cost:
    """The cost of sending the whole history, or as much of it as the model accepts.

    What exceeds the model's limit could not have been sent, so leaving it out saves nothing. The cache is
    assumed to serve as much as it could: the saving is rather too low than too high.
    """
    sums, around, shared = request.history.sums, request.order.overhead, 0
    if before:
        shared = min(before.length, request.length)
        if before.entries and before.entries is not request.history.entries:
            shared = _shared_messages(
                before, request, shared
            )  # the history was read again, perhaps because it was edited
    card = request.target.card
    most = card.max_input or card.context if card.known else around + sums[request.length]
    repeated = around + sums[shared] if shared else 0
    return predicted(min(most, around + sums[request.length]), min(most, repeated), card)


def _shared_messages(before: Sent, request: OutgoingRequest, most: int) -> int:
    """Messages in the common prefix of two versions of a history."""
    pairs = zip(before.entries[:most], request.history.entries[:most], strict=True)
    return next((at for at, (old, new) in enumerate(pairs) if old.digest != new.digest), most)


def _trail(head: str, chunks: Sequence[Chunk], known: Sequence[str]) -> list[str]:
    """The fingerprint of every prefix; those of `known` are reused."""
    trail = list(known)
    mark = trail[-1] if trail else head
    for chunk in chunks[len(trail) :]:
        mark = fingerprint(mark, sent_texts(chunk))
        trail.append(mark)
    return trail


def fingerprint(before: str, texts: Sequence[str]) -> str:
    content = "\x1f".join((before, *texts)).encode("utf-8", "surrogatepass")
    return blake2b(content, digest_size=8).hexdigest()


def charged(costs: Costs | None, input_tokens: int, cached: int | None, written: int | None) -> Cost:
    """A bill. Cache numbers that the provider did not report are taken from the prediction."""
    expected = costs.managed if costs else Cost(tokens=0)
    read = min(expected.cached, input_tokens) if cached is None else cached
    if written is None:
        written = input_tokens - read if expected.cached or expected.written else 0
    return Cost(tokens=input_tokens, cached=read, written=written)


def with_bill(record: BuildRecord, bill: Cost) -> str:
    """A build's record with its bill added; a request that was sent twice is billed twice."""
    with decoding(f"the record of build {record.number}"):
        stored = json.loads(record.manifest)
        if "costs" in stored:
            stored["costs"] = write_costs(read_costs(stored["costs"]) + replace(NOTHING, billed=bill))
        if "book" in stored:
            stored["book"]["pending"] = False
        return compact(stored)


def with_sums(latest: BuildRecord, model: str, costs: Costs) -> str:
    """The latest build's record with costs added to its totals."""
    with decoding(f"the record of build {latest.number}"):
        stored = json.loads(latest.manifest)
        if "book" in stored:
            sums = _with(read_totals(latest).sums, model, costs)
            stored["book"]["sums"] = {name: write_costs(each) for name, each in sums.items()}
        return compact(stored)


def bill_of(record: BuildRecord, after: BuildRecord | None, bill: Cost) -> Costs:
    """What a bill adds to the totals: a build that was not among the requests is one now."""
    billed, pending = replace(NOTHING, billed=bill), read_totals(record).pending
    return pending.costs + billed if pending and not is_request(record, after, ()) else billed


def is_request(record: BuildRecord, after: BuildRecord | None, entries: Sequence[Entry]) -> bool:
    """Whether a build counts as a request, given the build after it and, for the newest, the history."""
    pending = read_totals(record).pending
    if pending is None:
        return True
    return read_totals(after).answered if after else _answered(pending.sent, entries)


def write_totals(entry: CostEntry, before: Tally) -> dict[str, object]:
    last = next(reversed(list(before.sent.items())), None)
    return {
        **_point(entry.head, entry.sent),
        "sums": {model: write_costs(costs) for model, costs in before.sums.items()},
        "pending": True,
        "answered": before.answered,
        "last": {**_point(*last), "moment": last[1].moment} if last else None,
    }


def _point(head: str, sent: Sent) -> dict[str, object]:
    trail = sent.trail
    points = sorted({len(trail) * part // POINTS for part in range(1, POINTS + 1)} - {0})
    prefix = [[at, trail[at - 1]] for at in points] if trail else [list(mark) for mark in sent.prefix.items()]
    return {"head": head, "prefix": prefix, "messages": sent.length}


def read_totals(record: BuildRecord) -> Tally:
    """The totals up to a stored build, and its request; empty for a build without them."""
    with decoding(f"the record of build {record.number}"):
        stored = json.loads(record.manifest)
        book = stored.get("book")
        if book is None:
            return Tally()
        sums = {str(model): read_costs(row) for model, row in book["sums"].items()}
        head, sent = _read_point(book, record.created_at)
        if not book.get("pending"):  # also in records of versions that counted every build
            return Tally(sums=sums, sent={head: sent}, answered=bool(book.get("answered")))
        last = book["last"]
        costs = replace(read_costs(stored["costs"]), billed=None)
        return Tally(
            sums=sums,
            sent=dict([_read_point(last, float(last["moment"]))]) if last else {},
            pending=CostEntry(costs=costs, model=record.model, head=head, sent=sent),
            answered=bool(book["answered"]),
        )


def _read_point(row: Mapping[str, Any], moment: float) -> tuple[str, Sent]:
    prefix = {int(chunks): str(mark) for chunks, mark in row["prefix"]}
    return str(row["head"]), Sent(moment=moment, length=int(row["messages"]), prefix=prefix)


def write_costs(costs: Costs) -> dict[str, list[int]]:
    kinds = {"managed": costs.managed, "unmanaged": costs.unmanaged, "billed": costs.billed}
    return {name: [c.requests, c.tokens, c.cached, c.written] for name, c in kinds.items() if c}


def read_costs(row: Mapping[str, Any]) -> Costs:
    def cost(requests: int, tokens: int, cached: int, written: int) -> Cost:
        return Cost(requests=requests, tokens=tokens, cached=cached, written=written)

    billed = cost(*row["billed"]) if "billed" in row else None
    return checked(Costs(managed=cost(*row["managed"]), unmanaged=cost(*row["unmanaged"]), billed=billed))
