"""Select full detail for the newest turns and a log of earlier ones, with a stable prefix between builds.

    keep     while it fits, keep the layout of the previous build and append new turns in full
    whole    if everything fits, show everything
    refocus  else show the newest turns in full, and a log of the earlier ones with the most valuable excerpts

Between refocuses a window begins with the bytes of the previous one: providers bill a repeated prefix at a
tenth. A refocus reduces the window to the low-water mark in one step, so that it is rare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from foveal.model import Chunk
from foveal.pipeline.account import with_retrieved
from foveal.pipeline.history import History, is_system
from foveal.pipeline.reasons import Reason
from foveal.pipeline.shorten.turn import shortened
from foveal.pipeline.signals import names_in
from foveal.pipeline.summarize.rules import Rule
from foveal.pipeline.values import Layout, LogNote, LogPlan, RetrievedNote, Scene, Selection, cache_expired
from foveal.presets.foveal.digest import SHORT, Digest, DigestNumbers, Surroundings, choose, is_short
from foveal.presets.foveal.log import LogReader
from foveal.presets.foveal.logbook import (
    LABEL,
    Logbook,
    earlier_requests,
    left_out_reasons,
    logged_reasons,
    rule_line,
    standing_rules,
)
from foveal.presets.foveal.retrieve import (
    KEPT_SHARE,
    asks,
    is_chat,
    newest_request,
    passage_room,
    relevant_turns,
    retrieval_query,
    retrieve,
    still_relevant,
    task_hash,
)
from foveal.presets.foveal.watermarks import Course, MarkNumbers, high_mark, marks

ASKED_LEAST = 0.2
"""Share of the message budget that must be left for the passages of a new question in a chat."""
ANSWERING = 3
"""Of the messages relevant to a question, those that the window should have."""
REPLY = 120
"""Tokens of a user's message that may refer to the one before it."""
RELEVANT = 256
"""Messages that may be relevant to the newest request: a layout stores them, and must not grow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FovealNumbers:
    """Every number of the default preset. Shares are of the message budget, unless stated otherwise."""

    marks: MarkNumbers = field(default_factory=MarkNumbers)
    """When a window is refocused, and to which size."""
    near_share: float = 0.2
    """For the newest turns in full; share of the size after a refocus."""
    reach: float = 8.0
    """How far back the log goes, in message budgets."""
    spare_share: float = 0.1
    """Left by the log; if it is more, further turns are shown in full."""
    requests_share: float = 0.1
    """The most for requests of the user that are further back than that; they are read for the log too."""
    rules_share: float = 0.1
    """The most for rules and facts that the user stated and that the log does not quote anyway."""
    state_share: float = 0.25
    """The most of the log for the line that says where the work stands."""
    jitter: float = 0.05
    """A layout is kept for a message budget that differs by at most this share."""
    keep_for: int = 5
    """Builds for which a layout is kept if cutting the newest results is enough for that."""
    cut_to: float = 0.3
    """Share of its tokens that a turn keeps at least when it is cut for that."""
    first_turns: float = 5.0
    """Average turns that the first window of a session leaves room for."""
    task_share: float = 1.0
    """For turns relevant to a task, in full, in a window built for it; share of the size after a refocus."""
    worth: DigestNumbers = field(default_factory=DigestNumbers)


def select_turns(
    history: History, fixed: Mapping[int, Chunk], room: int, scene: Scene, *, numbers: FovealNumbers
) -> Selection:
    """Keep the previous layout and append what is new; if that is too much, refocus."""
    messages = {turn: chunk.tokens for turn, chunk in fixed.items() if not is_system(chunk)}
    build = _Build(
        history=history,
        fixed=fixed,
        room=room,
        scene=scene,
        numbers=numbers,
        open_turn=max(messages),
        message_budget=room + sum(messages.values()) + scene.shared,
    )
    # The entries of a new turn are read at once, so that a refocus finds those of all turns.
    history.cached(build.open_turn, LogReader(scene.count).used)
    return _keep_layout(build) or _keep_everything(build) or _refocus(build)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Build:
    """The input of one build."""

    history: History
    fixed: Mapping[int, Chunk]
    room: int
    """Tokens available beside the fixed turns."""
    scene: Scene
    numbers: FovealNumbers
    open_turn: int
    message_budget: int
    """Tokens available for messages: the room, notes of other agents, and the fixed turns other than system
    prompts."""

    def turns(self, start: int) -> Iterator[int]:
        """The turns between `start` and the open one that are not fixed and can be shown, newest first."""
        for turn in range(self.open_turn - 1, start - 1, -1):
            if turn in self.fixed or self.history.absence(turn) or not self.history.chunk(turn).messages:
                continue
            yield turn

    @property
    def first(self) -> bool:
        """Whether this is the first window of its size."""
        layout = self.scene.layout
        if layout is None:
            return True
        return abs(layout.message_budget - self.message_budget) > self.numbers.jitter * layout.message_budget

    @property
    def course(self) -> Course:
        turns = len(self.history)
        return Course(room=self.message_budget, growth=self.history.tokens / max(1, turns), turns=turns)

    @property
    def high(self) -> int:
        """Tokens above which the window is refocused; the message budget if no window follows."""
        rates, layout = self.scene.rates, self.scene.layout
        if rates is None:
            return self.message_budget
        cold = layout is not None and cache_expired(layout.used_at, self.scene.now, rates.seconds)
        return high_mark(self.course, rates, self.numbers.marks, cold=cold)

    @property
    def low(self) -> int:
        """Tokens that a refocus reduces the window to; the message budget if no window follows.

        The first window of a session leaves less room: whether as many turns follow is not known yet.
        """
        rates = self.scene.rates
        if rates is None:
            return self.message_budget
        found = marks(self.course, rates, self.numbers.marks)
        if not self.first:
            return found.low
        return max(found.low, int(found.high - self.numbers.first_turns * self.course.growth))

    def tokens(self, turns: Mapping[int, Chunk]) -> int:
        """What these turns cost beside the fixed ones, including the notes where turns are left out."""
        chunks = {**self.fixed, **turns}
        joints = sum(self.history.notes_needed([chunks[turn] for turn in sorted(chunks)]))
        beside = sum(chunk.tokens for turn, chunk in turns.items() if turn not in self.fixed)
        return beside + self.history.note_tokens * joints


def _keep_layout(build: _Build) -> Selection | None:
    """The previous layout with new turns appended; None if it does not apply or has become too large."""
    layout = build.scene.layout
    if layout is None or not _applies(build, layout):
        return None
    layout = replace(layout, earlier=layout.earlier or _earlier(build, layout), builds=layout.builds + 1)
    shown = dict(layout.earlier)
    for turn in build.turns(build.history.turn_of(layout.full_from)):
        shown[turn] = _form(build, layout, turn)
    forms = _sent_forms(build, layout, shown)
    if forms is None:
        return None
    longer = sum(form.tokens - build.fixed[turn].tokens for turn, form in forms.items())
    shown |= forms
    left = (
        build.room - (build.message_budget - build.high) - build.tokens(shown) - _note_tokens(layout) - longer
    )
    opened = build.fixed[build.open_turn]
    form: Chunk | None = opened
    if left < 0:
        form, left = _cut_open_turn(build, layout, opened.tokens + left), 0
    if form is None:
        return None
    if _asks_in_vain(build, layout, shown, left):
        return None
    if form.detail == "trimmed":
        layout = replace(layout, trimmed={**layout.trimmed, form.first: form.cut_to})
        shown[build.open_turn] = form
    return _selection(build, shown, _with_passages(build, layout, shown, left))


def _asks_in_vain(build: _Build, layout: Layout, shown: Mapping[int, Chunk], left: int) -> bool:
    """Whether a new question in a chat finds no room for what answers it and is not in the window."""
    history, scene = build.history, build.scene
    new = newest_request(history, layout.length) is not None and asks(history)
    if not new or left >= ASKED_LEAST * build.message_budget or not is_chat(history, build.message_budget):
        return False
    there = {*shown, *build.fixed, *range(history.turn_of(layout.full_from), len(history))}
    quoted = {seq for each in layout.retrieved for seq in each.excerpts}
    return any(history.turn_of(seq) not in there and seq not in quoted for seq in scene.relevant[:ANSWERING])


def _applies(build: _Build, layout: Layout) -> bool:
    """Whether a layout may be kept: the budget is about the same, and nothing else is asked for."""
    history, scene = build.history, build.scene
    if build.first:
        return False
    if layout.length > len(history.entries):  # an earlier build is being repeated
        return False
    # Another task without a new request is another window.
    return task_hash(scene.task) == layout.task_hash or newest_request(history, layout.length) is not None


def _with_passages(build: _Build, layout: Layout, shown: Mapping[int, Chunk], left: int) -> Layout:
    """The layout as of now, with passages before a new request, within a share of the tokens left."""
    history, scene = build.history, build.scene
    request, task = newest_request(history, layout.length), task_hash(scene.task)
    kept = replace(layout, task_hash=task, length=len(history.entries), used_at=scene.now)
    if request is None:
        return kept
    kept = replace(kept, relevant=() if task else scene.relevant[:RELEVANT])
    if not scene.relevant:
        return kept
    most = min(int(KEPT_SHARE * left), passage_room(history, build.message_budget))
    known = frozenset(seq for each in layout.retrieved for seq in each.excerpts)
    there = {**shown, **build.fixed}
    note = retrieve(history, there, scene, relevant=scene.relevant[:RELEVANT], room=most, known=known)
    if note is None:
        return kept
    decisions = with_retrieved(history, layout.decisions, note)
    return replace(kept, retrieved=(*layout.retrieved, note), decisions=decisions)


def _sent_forms(build: _Build, layout: Layout, shown: Mapping[int, Chunk]) -> dict[int, Chunk] | None:
    """The forms in which fixed turns were sent, where this build would show them otherwise.

    None if one is not in the layout, or was sent in full and is cut now: then it is another window.
    """
    forms: dict[int, Chunk] = {}
    for turn, chunk in build.fixed.items():
        if turn == build.open_turn or is_system(chunk) or chunk.first >= layout.length:
            continue
        if chunk.first < layout.full_from and turn not in shown:
            return None
        form = shown.get(turn) or _form(build, layout, turn)
        if form.pieces != chunk.pieces:
            if form.detail != "trimmed":
                return None
            forms[turn] = form
    return forms


def _note_tokens(layout: Layout) -> int:
    notes: tuple[LogNote | RetrievedNote, ...] = (*layout.notes, *layout.retrieved)
    return sum(each.note.tokens for each in notes)


def _earlier(build: _Build, layout: Layout) -> dict[int, Chunk]:
    """By turn, what the layout shows before `full_from`."""
    return {turn: _form(build, layout, turn) for turn in map(build.history.turn_of, layout.kept)}


def _form(build: _Build, layout: Layout, turn: int) -> Chunk:
    """The turn as windows with this layout show it: in full, or cut as it was when it was new."""
    chunk = build.history.chunk(turn)
    room = layout.trimmed.get(chunk.first)
    return chunk if room is None else shortened(build.history, turn, room, build.scene.count) or chunk


def _cut_open_turn(build: _Build, layout: Layout, room: int) -> Chunk | None:
    """The open turn cut so that a young layout can be kept; None if the layout is old or the cut too deep.

    A turn of average size is not cut: its result is what the model works with now. Nor is a message that has
    the user's role.
    """
    whole = build.history.chunk(build.open_turn)
    least = max(build.numbers.cut_to * whole.tokens, build.course.growth)
    output = build.history.is_output(build.open_turn)
    if layout.builds > build.numbers.keep_for or room < least or output:
        return None
    return shortened(build.history, build.open_turn, room, build.scene.count, words=False)


def _keep_everything(build: _Build) -> Selection | None:
    """All turns in full, if they fit."""
    shown: dict[int, Chunk] = {}
    spent = 0
    for turn in build.turns(0):
        shown[turn] = build.history.chunk(turn)
        spent += shown[turn].tokens
        if spent > build.room:
            return None
    if build.tokens(shown) > build.room or any(each.detail == "trimmed" for each in build.fixed.values()):
        return None
    return _selection(build, shown, _layout(build, 0, shown))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A refocused window."""

    shown: Mapping[int, Chunk]
    layout: Layout
    digest: Digest = field(default_factory=Digest)


def _refocus(build: _Build) -> Selection:
    """The newest turns in full and a log of the earlier ones, within the low-water mark."""
    # The first window for a task answers one question and leaves no room for further turns.
    _, new_task = retrieval_query(build.history, build.scene.task, build.scene.layout)
    asked = build.first and build.scene.relevant and is_chat(build.history, build.room)
    low = build.message_budget if new_task or asked else build.low
    # A large open turn may exceed the low-water mark: the log still gets half of the room beside it.
    most = max(build.room - (build.message_budget - low), build.room // 2)
    newest = int(build.numbers.near_share * low)
    draft = _draft(build, newest, most)
    spare = most - build.tokens(draft.shown) - _note_tokens(draft.layout)
    # If the excerpts do not fill the log, use the rest for more turns in full, but not in place of passages.
    more = max(newest, build.fixed[build.open_turn].tokens) + spare
    full = spare <= build.numbers.spare_share * most or draft.layout.retrieved
    if not full and len(_newest_turns(build, more)) > len(_newest_turns(build, newest)):
        draft = _draft(build, more, most)
    return _selection(build, draft.shown, draft.layout, draft.digest)


def _draft(build: _Build, newest: int, most: int) -> _Draft:
    """The newest turns within `newest` tokens, what must be shown, and a log of the other turns."""
    shown = _newest_turns(build, newest)
    first = min(shown, default=build.open_turn)
    shown = _with_relevant(build, shown, most)
    passages = _passages(build, shown, most)
    most -= passages[0].note.tokens if passages else 0
    start = _first_logged(build, first)
    old = [turn for turn in build.turns(start) if turn < first and turn not in shown]
    layout = _layout(build, first, shown)
    if not old:
        return _Draft(shown=shown, layout=replace(layout, retrieved=passages))
    return _logged(build, shown, old[::-1], replace(layout, retrieved=passages), most)


def _newest_turns(build: _Build, most: int) -> dict[int, Chunk]:
    """The newest turns in full without a gap, within `most` tokens together with the open turn."""
    found: dict[int, Chunk] = {}
    spent = build.fixed[build.open_turn].tokens
    for turn in build.turns(0):
        chunk = build.history.chunk(turn)
        spent += chunk.tokens
        if spent > most:
            break
        found[turn] = chunk
    while found and build.tokens(found) > build.room:  # the notes between them do not fit
        del found[min(found)]
    return found


def _with_relevant(build: _Build, shown: dict[int, Chunk], most: int) -> dict[int, Chunk]:
    """The turns shown, and within their share those relevant to the task."""
    relevant = _relevant(build)
    if not relevant or not retrieval_query(build.history, build.scene.task)[1]:
        return shown
    room = min(int(build.numbers.task_share * most), most - build.tokens(shown))
    found = relevant_turns(build.history, {**shown, **build.fixed}, relevant, room)
    while found and build.tokens({**shown, **found}) > most:  # the notes between them do not fit
        found.popitem()
    return {**shown, **found}


def _passages(build: _Build, shown: Mapping[int, Chunk], most: int) -> tuple[RetrievedNote, ...]:
    """A note with what the user's newest request refers to, if there is no task."""
    history, relevant = build.history, _relevant(build)
    if not relevant or retrieval_query(history, build.scene.task)[1]:
        return ()
    said = _said(build, shown)
    first = min((turn for turn in shown), default=build.open_turn)
    rules = _missing_rules(build, shown, history.span(first)[0])
    stated = sum(build.scene.count(rule_line(rule)) + 1 for rule in rules.values())
    room = passage_room(
        history,
        most
        - build.tokens(shown)
        - sum(min(tokens, SHORT + LABEL) for tokens in said.values())
        - min(stated, int(build.numbers.rules_share * build.message_budget)),
    )
    note = retrieve(
        history,
        {**shown, **build.fixed},
        build.scene,
        relevant=relevant,
        room=room,
        known={seq for seq, tokens in said.items() if tokens <= SHORT},
    )
    return (note,) if note else ()


def _said(build: _Build, shown: Mapping[int, Chunk]) -> dict[int, int]:
    """By position, the tokens of the user's messages that the log has where tools are called.

    Passages neither displace them nor repeat those that the log quotes whole.
    """
    history = build.history
    if not history.has_calls:
        return {}
    start = history.span(_first_logged(build, min(shown, default=build.open_turn)))[0]
    return {
        seq: entry.tokens
        for seq, entry in enumerate(history.entries[start:], start)
        if entry.role == "user" and not entry.answers
    }


def _relevant(build: _Build) -> tuple[int, ...]:
    """Positions of messages relevant to the task or the request, whether they fit or not."""
    scene = build.scene
    found = scene.relevant or still_relevant(build.history, scene.layout, scene.task, build.message_budget)
    return found if scene.task.strip() else found[:RELEVANT]


def _first_logged(build: _Build, first: int) -> int:
    """The earliest turn that the log may be about; one that is larger than the window counts as a window."""
    history, whole = build.history, build.message_budget
    room, turn = build.numbers.reach * whole, first
    while turn > 0 and (room := room - min(history.between(*history.span(turn - 1)), whole)) >= 0:
        turn -= 1
    return turn


def _logged(
    build: _Build, shown: Mapping[int, Chunk], old: Sequence[int], layout: Layout, most: int
) -> _Draft:
    """The window with a log of the old turns, within `most` tokens."""
    history, numbers, count = build.history, build.numbers, build.scene.count
    room = max(most, 0) - build.tokens(shown)
    there = {*shown, *build.fixed}
    asked = earlier_requests(history, old[0], int(numbers.requests_share * build.message_budget), there)
    turns, since = [*asked, *old], history.span(old[0])[0]
    spans = [history.span(turn) for turn in there if turn < turns[0]]
    older = history.span(turns[0])[0] - sum(last - first + 1 for first, last in spans)
    book = Logbook.read(history, turns, count, since=since, older=older)
    if count(book.state) > numbers.state_share * room:
        book = replace(book, state="")
    rules = _missing_rules(build, shown, layout.full_from)
    short = {entry.seq for entry in book.entries if is_short(entry)}
    rules_room = min(int(numbers.rules_share * build.message_budget), room)
    reserved = _rules_within([at for at in rules if at[0] not in short], rules, rules_room, count)

    def notes(digest: Digest, stated: Sequence[tuple[int, int]]) -> tuple[LogPlan, tuple[LogNote, ...]]:
        plan = book.plan(digest, stated)
        return plan, book.notes(history, plan, layout.full_from, layout.kept)

    empty = sum(each.note.tokens for each in notes(Digest(), reserved)[1])
    passages = {seq for each in layout.retrieved for seq, pieces in each.excerpts.items() if not pieces}
    digest = choose(
        [entry for entry in book.entries if entry.action or entry.seq not in passages],
        room - empty,
        numbers=numbers.worth,
        surroundings=_surroundings(build, shown, old),
        paths=book.paths,
        count=count,
    )
    quoted = {
        entry.seq
        for line in digest.lines
        for entry in line.entries
        if is_short(entry) and len(digest.shown.get(entry.id, ())) == len(entry.excerpts.parts)
    }
    missing = [at for at in rules if at[0] not in quoted]
    stated = _rules_within(missing, rules, rules_room, count)
    while True:
        plan, made = notes(digest, stated)
        over = sum(each.note.tokens for each in made) - room
        if over <= 0:
            layout = replace(layout, plan=plan, notes=made, excerpts_from=since)
            return _Draft(shown=shown, layout=layout, digest=digest)
        if not digest.lines and not stated:
            return _Draft(shown=shown, layout=layout)
        if not digest.lines:
            stated = stated[1:]
        digest = digest.without(over)


def _missing_rules(build: _Build, shown: Mapping[int, Chunk], end: int) -> dict[tuple[int, int], Rule]:
    """What the user stated before the position `end` in messages that the window does not show in full."""
    chunks = {**build.fixed, **shown}
    full = {turn for turn, chunk in chunks.items() if chunk.detail == "full"}
    return {
        at: rule
        for at, rule in standing_rules(build.history, end).items()
        if build.history.turn_of(at[0]) not in full
    }


def _rules_within(
    ids: Sequence[tuple[int, int]],
    rules: Mapping[tuple[int, int], Rule],
    room: int,
    count: Callable[[str], int],
) -> list[tuple[int, int]]:
    """The weightiest of these rules within `room` tokens, the latest first among equals; weakest first."""
    found: list[tuple[int, int]] = []
    for at in sorted(ids, key=lambda at: (rules[at].weight, at), reverse=True):
        cost = count(rule_line(rules[at])) + 1
        if cost <= room:
            room -= cost
            found.insert(0, at)
    return found


def _surroundings(build: _Build, shown: Mapping[int, Chunk], old: Sequence[int]) -> Surroundings:
    history, reader = build.history, LogReader(build.scene.count)
    known: set[str] = set()
    for turn, chunk in {**build.fixed, **shown}.items():
        if is_system(chunk):
            known.update(name for message in chunk.messages for name in names_in(message.text))
        else:
            known |= history.cached(turn, reader.names)
    used = (name for turn in build.turns(min(old)) for name in history.cached(turn, reader.used))
    end = history.sums[history.span(max(old))[1] + 1]
    return Surroundings(
        known=known,
        distance=lambda seq: (end - history.sums[seq + 1]) / max(1, build.message_budget),
        used=frozenset(used),
        replies=_replies(history, old),
    )


def _replies(history: History, turns: Sequence[int]) -> dict[int, str]:
    """By position of the model's messages that end these turns, what the user said next."""
    found: dict[int, str] = {}
    for turn in turns:
        seq = history.span(turn)[1]
        following = history.entries[seq + 1 : seq + 2]
        replied = history.entries[seq].role == "assistant" and following and following[0].role == "user"
        if replied and following[0].tokens <= REPLY and not history.absence(turn + 1):
            found[seq] = history.read(seq + 1, seq + 2)[0].text
    return found


def _layout(build: _Build, first: int, shown: Mapping[int, Chunk]) -> Layout:
    history = build.history
    fixed = {turn for turn, chunk in build.fixed.items() if not is_system(chunk)}
    return Layout(
        message_budget=build.message_budget,
        full_from=history.span(first)[0],
        kept=tuple(history.span(turn)[0] for turn in sorted({*shown, *fixed}) if turn < first),
        trimmed={chunk.first: chunk.cut_to for chunk in build.fixed.values() if chunk.detail == "trimmed"},
        # Every turn may be relevant to a task: its layout stores those that are shown, in `kept`.
        relevant=() if build.scene.task.strip() else _relevant(build),
        task_hash=task_hash(build.scene.task),
        length=len(history.entries),
        used_at=build.scene.now,
    )


def _selection(
    build: _Build, shown: Mapping[int, Chunk], layout: Layout, digest: Digest | None = None
) -> Selection:
    """The selection for a layout; reasons that are among its decisions are not written again.

    `digest`: what was chosen for the log, if the window was refocused.
    """
    there = {*shown, *build.fixed}
    folded = {} if layout.decisions else logged_reasons(build.history, layout)
    return Selection(
        turns=tuple(sorted(turn for turn in shown if turn not in build.fixed)),
        because_in="in full: sent before, or newest" if layout.full_from else "everything fits",
        because_out=Reason(code="too_old" if layout.plan else "no_room"),
        forms={turn: chunk for turn, chunk in shown.items() if chunk.detail == "trimmed"},
        notes=(*layout.notes, *layout.retrieved),
        folded=folded,
        reasons=left_out_reasons(build.history, layout, digest, {*there, *folded}) if digest else {},
        metrics={"refocused": 1.0, "marginal_value": digest.cut} if digest else {"refocused": 0.0},
        layout=layout,
    )
