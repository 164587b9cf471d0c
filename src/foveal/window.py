"""The result of a build: the window, and the manifest that explains what is in it and what is not."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from foveal.model import MESSAGES_KEY, SYSTEM_KEY, SYSTEM_KEYS, Detail, Entry, Format, Repair

Verdict = Literal["kept", "left out"]
Fixed = Literal["system_prompt", "pinned", "newest_user", "standing_request", "open_turn"]
"""Why a turn is in every window, whatever the preset selects."""
Absence = Literal["erased", "left_out", "empty"]
"""Why a turn is in no window: it was erased, left out until restored, or has nothing that can be sent."""
Logged = Literal["logged", "excerpted", "merged", "retrieved"]
"""How a note has a message: an entry, an entry with quotations, a line for several, a passage."""
Code = Literal[
    Fixed,
    Absence,
    Logged,
    "selected",
    "not_selected",
    "replaced",
    "no_room",
    "low_value",
    "too_old",
    "pruned",
]
"""What was decided. `no_room`: it has value, but too little room was left; `low_value`: nothing in it is
worth its tokens; `too_old`: older than the log reaches; `replaced`: covered by a summary; `pruned`: left out
until restored, by this build itself."""
NoteKind = Literal["log", "retrieved"]
FIXED: frozenset[Code] = frozenset(get_args(Fixed))
ABSENT: frozenset[Code] = frozenset({*get_args(Absence), "pruned"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The score of an item, and its parts."""

    total: float
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A share of the budget: a layer, a category, a level, or the whole."""

    name: str
    floor: int
    ideal: int
    ceiling: int
    allotted: int
    used: int = 0
    borrowed: int = 0
    """Taken from other slots; negative when lent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two units that could not both be in the window."""

    chunk1: int
    chunk2: int
    type: Literal["priority_conflict", "budget_exceeded"]
    resolution: Literal["keep_chunk1", "keep_chunk2", "drop_both"] = "keep_chunk1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A run of messages, its verdict, and the reason: a code for programs, a sentence for people."""

    first: int
    last: int
    verdict: Verdict
    code: Code
    tokens: int
    because: str
    """The sentence, built from the code and the numbers."""
    brief: str = ""
    """The sentence without what other fields say: score, slot, tokens. Empty if that is all of it."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """The numbers in the sentence, by name: `missing` tokens, what it `needed`, what was `left`, …"""
    detail: Detail = "full"
    score: Score | None = None
    """None where the preset does not score."""
    slot: str = ""
    """The slots of the plan that its tokens were charged to."""
    flags: tuple[str, ...] = ()
    """What the preset's design marks its messages as, such as `urgent`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowNote:
    """A note in the window: a log of messages that it does not show in full, or passages of earlier ones."""

    kind: NoteKind
    position: int
    """Position of the message that it precedes."""
    first: int
    last: int
    """Positions of the first and the last message that it covers."""
    tokens: int
    lines: tuple[tuple[int, ...], ...] = ()
    """For each line, the positions of the messages it comes from; empty if that is not known."""

    @property
    def messages(self) -> frozenset[int]:
        """The positions of all messages that its lines come from."""
        return frozenset(seq for line in self.lines for seq in line)

    def lines_of(self, seq: int) -> tuple[int, ...]:
        """The indexes of the lines that come from a message."""
        return tuple(at for at, line in enumerate(self.lines) if seq in line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """A run of earlier messages whose text was retrieved into the window, in a note."""

    first: int
    last: int
    """Positions of its first and last message, both included."""
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributed:
    """A piece of attached material, and whether it is in the window."""

    type: str
    """The type of its contributor: PROJECT_DOCS, WORKING_FILES, …; identity, preferences, topic, …"""
    source: str
    """Its origin: a path in the workspace, the id of a topic or an entity."""
    tokens: int
    weight: float
    salience: float
    verdict: Verdict
    because: str
    brief: str | None = None
    """The reason without its tokens, weight and salience; None if it does not state them."""
    title: str = ""
    """Its name, where that is not its source. It is not stored: the user may want a name forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The cost of one or more requests: predicted by the rules of the provider's cache, or billed."""

    requests: int = 1
    tokens: int
    """Input tokens."""
    cached: int = 0
    """Of these, read from the cache."""
    written: int = 0
    """Of these, written to the cache."""
    dollars: float | None = None
    """US dollars; None where the prices are unknown."""

    def __add__(self, other: Cost) -> Cost:
        known = [amount for amount in (self.dollars, other.dollars) if amount is not None]
        return Cost(
            requests=self.requests + other.requests,
            tokens=self.tokens + other.tokens,
            cached=self.cached + other.cached,
            written=self.written + other.written,
            dollars=sum(known) if known else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """The cost of requests, compared with sending as much of the history as the model accepts."""

    managed: Cost
    """The windows, predicted."""
    unmanaged: Cost
    """The whole history up to the model's limit, under the same rules, predicted."""
    billed: Cost | None = None
    """The windows as the provider billed them, as far as the caller reported it."""

    def __add__(self, other: Costs) -> Costs:
        bills = [bill for bill in (self.billed, other.billed) if bill is not None]
        return Costs(
            managed=self.managed + other.managed,
            unmanaged=self.unmanaged + other.unmanaged,
            billed=bills[0] + bills[1] if len(bills) > 1 else next(iter(bills), None),
        )

    @property
    def saved(self) -> float | None:
        """US dollars, predicted; negative where windows cost more than the whole history would have."""
        managed, unmanaged = self.managed.dollars, self.unmanaged.dollars
        return None if managed is None or unmanaged is None else unmanaged - managed

    @property
    def percent(self) -> float:
        """The saved share of the unmanaged cost: of dollars, or of tokens where prices are unknown."""
        managed, unmanaged = self.managed.dollars, self.unmanaged.dollars
        if not managed or not unmanaged:
            managed, unmanaged = self.managed.tokens, self.unmanaged.tokens
        return 100 * (1 - managed / unmanaged) if unmanaged else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolShare:
    """What a window has of the budget that it shares with the windows of other agents."""

    pool: str
    agents: int
    budget: int
    """Tokens of all of them together; 0 if each has its own budget."""
    tokens: int
    """Tokens of this one at most; 0 if it has its own budget."""
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What is in the window and what is not, and why: every message is covered by one decision."""

    preset: str
    counter: str
    budget: int
    tokens: int
    parts: Mapping[str, int]
    """Tokens by part: framing, tools, system, pinned, requests, open turn, history, log, notes, retrieved and
    material."""
    decisions: tuple[Decision, ...]
    notes: tuple[WindowNote, ...] = ()
    """The log and the retrieved passages, in order: each a part of the window of its own."""
    repairs: tuple[Repair, ...] = ()
    warnings: tuple[str, ...] = ()
    slots: tuple[Slot, ...] = ()
    """The plan: what each slot was allotted, used and borrowed."""
    conflicts: tuple[Conflict, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    """What the preset measures about its selection."""
    record: Mapping[str, str] = field(default_factory=dict)
    """Ids that the preset's design assigns to the build."""
    retrieved: tuple[Retrieved, ...] = ()
    """The contents of the note of retrieved messages."""
    contributed: tuple[Contributed, ...] = ()
    """Attached material, in the window or not, best first."""
    costs: Costs | None = None
    """What sending the window costs; None without a session."""
    share: PoolShare | None = None
    """The window's share of a pool's budget; None for a session in no pool."""

    @property
    def kept(self) -> tuple[Decision, ...]:
        return tuple(d for d in self.decisions if d.verdict == "kept")

    @property
    def left_out(self) -> tuple[Decision, ...]:
        return tuple(d for d in self.decisions if d.verdict == "left out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What to send to the model now, and the manifest that explains it."""

    format: Format
    model: str
    tokens: int
    budget: int
    pieces: tuple[str, ...]
    """The messages, each as JSON."""
    system_json: str = ""
    tools_json: str = ""
    envelope: str = ""
    entries: Sequence[Entry] = field(repr=False, compare=False)
    account: Callable[[], Manifest] = field(repr=False, compare=False)
    """Produces the manifest; called at each use of `manifest`."""
    fetch: Callable[[str], Any] = field(repr=False, compare=False)
    describe: Callable[[Manifest], str] = field(repr=False, compare=False)

    def __repr__(self) -> str:
        """Its size, not its content: a window may have megabytes."""
        model = f" for {self.model}" if self.model else ""
        return (
            f"<Window{model}: {len(self.pieces):,} messages, {self.tokens:,} of {self.budget:,} tokens, "
            f"{self.format}>"
        )

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages in the format that came in; a new copy each time."""
        found: list[dict[str, Any]] = json.loads(f"[{','.join(self.pieces)}]")
        return found

    @property
    def system(self) -> Any:
        """The system prompt, where the format keeps it outside the messages; else None."""
        return json.loads(self.system_json) if self.system_json else None

    @property
    def request(self) -> dict[str, Any]:
        """The request body that came in, with this window in place of its messages."""
        key = MESSAGES_KEY[self.format]
        body: dict[str, Any] = json.loads(self.envelope or "{}")
        body.setdefault(key, None)
        if self.system_json and not SYSTEM_KEYS & body.keys():
            body[SYSTEM_KEY[self.format]] = None
        if self.tools_json:
            body["tools"] = json.loads(self.tools_json)
        for name in SYSTEM_KEYS & body.keys():
            if self.system_json:
                body[name] = self.system
            elif body[name] is None:
                del body[name]
        body[key] = self.messages
        return body

    @property
    def manifest(self) -> Manifest:
        """What is in the window and what is not, and why."""
        return self.account()

    def handles(self, decision: Decision) -> tuple[str, ...]:
        """The handles of the messages a decision is about; `recall` returns the original of each."""
        return tuple(entry.handle for entry in self.entries[decision.first : decision.last + 1])

    def recall(self, handle: str) -> Any:
        """The original message behind a handle, exactly as it came in."""
        return self.fetch(handle)

    def explain(self) -> str:
        """The manifest as readable text."""
        return self.describe(self.manifest)
