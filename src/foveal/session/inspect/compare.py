"""Compare presets on one history: size and content of each window, cost, time, validity.

Nothing is stored. Windows are made as `fit` and `build` make them, and each is checked against the rules of
its provider. For a session's next window nothing new is retrieved or compressed, as a build might.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from foveal import catalog, wire
from foveal.catalog import Prices
from foveal.config import Tables
from foveal.errors import BudgetError, ConfigError, InputError
from foveal.model import Chunk, Conversation, Entry, Format
from foveal.pipeline import fit as pipeline
from foveal.pipeline.history import History
from foveal.pipeline.values import Layout, Rates, Scene, cache_expired
from foveal.presets import PRESETS, Preset, find
from foveal.session.arguments import a_list, a_time, any_text
from foveal.session.budget import asked_reply, budget_for, check_budget
from foveal.session.build.build import HANDLES
from foveal.session.build.layout import current_layout, rates
from foveal.session.build.manifest_json import build_record
from foveal.session.build.values import BuildRequest
from foveal.session.costs import dollars, predicted, repeated_tokens, shared_chunks
from foveal.session.fit import history_of, relevant_to
from foveal.session.search.similarity import similarities_to
from foveal.session.state import SessionState
from foveal.session.target import Count, Target, target_for, warn
from foveal.window import Cost, Window

Progress = Callable[[int, int], None]
"""Called with the number of presets done, and how many there are."""
KINDS = ("system", "user", "assistant", "tool_calls", "tool_output")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The window that one preset makes of the history."""

    preset: str
    tokens: int
    messages: int
    """Messages of the history that are in the window."""
    kinds: Mapping[str, int]
    """Their number by kind: system, user, assistant, tool_calls, tool_output."""
    cached: int
    """Tokens at the start that the window before this one, for the model's last answer, began with too."""
    cost: float | None
    """US dollars for sending the window; None if the price is unknown."""
    cost_cached: float | None
    """The same with a prompt cache that has the window before: `cached` tokens at the price for reading it,
    the others at the price for writing to it, if there is one."""
    milliseconds: float
    """Time to build the window when the one before, if there is one, was built in the same process."""
    invalid: int
    """Rules of the provider that the window breaks; always 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The presets side by side on one history."""

    model: str
    format: Format
    counter: str
    budget: int
    messages: int
    kinds: Mapping[str, int]
    """Messages of the whole history, by kind."""
    tokens: int
    """Tokens of a request with the whole history."""
    cost: float | None
    """US dollars for sending all of it, without a cache."""
    presets: tuple[Compared, ...]
    refused: Mapping[str, str] = field(default_factory=dict)
    """The presets for which no window fits the budget, and why; if none fits, comparing raises an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What all presets are given."""

    target: Target
    entries: Sequence[Entry]
    """Counted for the target."""
    fresh: Callable[[], History]
    """Makes an empty history that reads the same messages."""
    given: Conversation
    budget: int
    task: str = ""
    now: float = 0.0
    prices: Prices | None = None
    rates: Callable[[Preset], Rates | None] = lambda _: None
    """The cache prices by which a preset with a stable prefix decides in a session."""
    layout: Callable[[Preset], Layout | None] = lambda _: None
    """The layout that the session's next window begins with."""
    relevant: Callable[[History, Scene], tuple[int, ...]] = lambda *_: ()
    """Searches for what a task or the user's latest message refers to."""
    similarities: Callable[[Preset, History, str], Mapping[int, float]] = lambda *_: {}
    """How similar messages are to a task, for presets whose scores depend on it."""


def compare(  # noqa: PLR0913 — every option of `fit`, by name
    messages: Any,
    *,
    budget: int | None = None,
    model: str = "",
    task: str = "",
    presets: Sequence[str] | None = None,
    now: float | None = None,
    format: Format | None = None,
    counter: str | Count | None = None,
    catalogue: Path | None = None,
    numbers: Tables | None = None,
) -> Comparison:
    """The windows that presets make of these messages, side by side; by default all built-in presets.

    The arguments are those of `fit`.

    >>> history = [{"role": "user", "content": f"line {n}"} for n in range(100)]
    >>> [(row.preset, row.tokens, row.messages) for row in compare(history, budget=40).presets][:2]
    [('recent', 38, 5), ('omar', 24, 3)]
    """
    check_budget(budget)
    any_text(task, "task")
    model, moment = catalog.checked(model), a_time(now, "now")
    chosen = named(presets, numbers)
    given = wire.load(messages, format=format, model=model)
    target = target_for(model or given.model, given.format, counter=counter, catalogue=catalogue)
    room = budget_for(target.card, budget, reply=asked_reply(given.envelope))
    warn(target.warned(room))
    case = Case(
        target=target,
        entries=history_of(given, target).entries,
        fresh=lambda: History(
            lambda start, stop: given.messages[start:stop], target.frame(given.format, given.envelope)
        ),
        given=given,
        budget=room,
        task=task,
        now=time.time() if moment is None else moment,
        prices=catalog.prices(target.card.id, extra=catalogue),
        relevant=lambda history, scene: relevant_to(history, given.messages[: len(history.entries)], scene),
        similarities=similarities_to,
    )
    return compared(case, chosen)


def named(names: Sequence[str] | None, numbers: Tables | None) -> tuple[Preset, ...]:
    """The presets of these names, all built-in ones if none are given."""
    if isinstance(names, str):
        raise InputError(
            f"`presets` is the text {names!r}, not a list",
            remedy='give the names, as in `["recent", "omar"]`',
            field="presets",
        )
    try:
        return tuple(
            find(name, numbers)
            for name in (PRESETS if names is None else a_list(names, "presets")) or PRESETS
        )
    except ConfigError as error:
        if error.field != "preset":
            raise
        raise ConfigError(error.what, error.remedy, field="presets") from error


def compared(case: Case, presets: Sequence[Preset], progress: Progress | None = None) -> Comparison:
    """Build, check and price a window for each preset; `progress` is called with those done and all."""
    target = case.target
    rows: list[Compared] = []
    refused: dict[str, BudgetError] = {}
    for done, preset in enumerate(presets):
        if progress:
            progress(done, len(presets))
        try:
            rows.append(_row(case, preset))
        except BudgetError as error:
            refused[preset.name] = error
    if refused and not rows:
        raise next(iter(refused.values()))
    tokens = target.meter.request + target.meter.tools(case.given.tools) + sum(e.tokens for e in case.entries)
    return Comparison(
        model=target.card.id,
        format=target.format,
        counter=target.tokenizer.name,
        budget=case.budget,
        messages=len(case.entries),
        kinds=_kinds(case.entries),
        tokens=tokens,
        cost=dollars(Cost(tokens=tokens), case.prices),
        presets=tuple(rows),
        refused={name: error.what for name, error in refused.items()},
    )


def _row(case: Case, preset: Preset) -> Compared:
    before = _before(case, preset)
    history, layout = (before.history, before.layout) if before else (case.fresh(), None)
    started = time.perf_counter()
    built = _build(case, preset, history, len(case.entries), layout=layout, now=case.now)
    seconds = time.perf_counter() - started
    window, prices = built.window, case.prices
    kept = [e for d in window.manifest.kept for e in case.entries[d.first : d.last + 1]]
    cost = predicted(window.tokens, _repeated(case, before, built) if before else 0, case.target.card)
    return Compared(
        preset=preset.name,
        tokens=window.tokens,
        messages=len(kept),
        kinds=_kinds(kept),
        cached=cost.cached,
        cost=dollars(Cost(tokens=window.tokens), prices),
        cost_cached=dollars(cost, prices) if prices and prices.cache_read is not None else None,
        milliseconds=round(1000 * seconds, 1),
        invalid=_invalid(window),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Built:
    window: Window
    chunks: Sequence[Chunk]
    history: History
    layout: Layout | None
    """The layout that a session's next window begins with; None outside of a session."""


def _build(
    case: Case, preset: Preset, history: History, stop: int, *, layout: Layout | None, now: float
) -> _Built:
    """The window of the first `stop` messages, with which the history is extended, and the layout before."""
    history.extend(case.entries[len(history.entries) : stop])
    order = case.target.order(preset, budget=case.budget, tools=case.given.tools, task=case.task, now=now)
    scene = replace(
        order.scene,
        rates=case.rates(preset),
        layout=layout,
        similarities=case.similarities(preset, history, case.task),
    )
    if preset.stable_prefix:
        scene = replace(scene, relevant=case.relevant(history, scene))
    fitted = pipeline.fit(history, replace(order, scene=scene))
    window = case.target.window(fitted, case.given, entries=history.entries, fetch=_no_recall)
    layout = fitted.layout if scene.rates else None
    return _Built(window=window, chunks=fitted.chunks, history=history, layout=layout)


def _no_recall(handle: str) -> NoReturn:
    raise InputError(
        f"a comparison cannot recall {handle!r}",
        remedy="make the window with `fit` or `build`",
    )


def _answered(entries: Sequence[Entry]) -> int:
    """How many messages the last request had that the model answered; 0 if there was none."""
    roles = [entry.role for entry in entries]
    ends = range(len(roles) - 1, 0, -1)
    return next((at for at in ends if roles[at] == "assistant" and roles[at - 1] in ("user", "tool")), 0)


def _before(case: Case, preset: Preset) -> _Built | None:
    """The window that a session sent last, else that of the last request the model answered, if any."""
    own, stop = case.layout(preset), _answered(case.entries)
    try:
        if own:
            sent = _build(case, preset, case.fresh(), own.length, layout=own, now=own.used_at)
            if not sent.window.manifest.metrics.get("refocused"):  # else it was for another budget
                return sent
        return _build(case, preset, case.fresh(), stop, layout=None, now=case.now) if stop else None
    except (BudgetError, InputError):  # the open turn of that time does not fit, or was left out since
        return None


def _repeated(case: Case, before: _Built, now: _Built) -> int:
    """Tokens of the longest beginning that two windows share, as a provider's cache would find it."""
    if before.layout and cache_expired(before.layout.used_at, case.now, case.target.card.cache_ttl):
        return 0
    tokens = repeated_tokens(now.history, before.chunks, now.chunks, shared_chunks(before.chunks, now.chunks))
    return tokens + case.target.price((), case.given.tools) if tokens else 0


def _invalid(window: Window) -> int:
    """Broken rules, except that a history may end with the assistant: some models accept that."""
    return len(set(wire.check(window.request, window.format)) - {"ends_with_assistant"})


def _kinds(entries: Sequence[Entry]) -> dict[str, int]:
    found = Counter(map(_kind, entries))
    return {kind: found[kind] for kind in KINDS}


def _kind(entry: Entry) -> str:
    if entry.answers or entry.role == "tool":
        return "tool_output"
    return "tool_calls" if entry.calls else entry.role


def compare_session(
    state: SessionState,
    request: BuildRequest,
    presets: Sequence[str] | None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare presets on a stored session, as its next window would be built."""
    check_budget(request.budget)
    chosen = named(presets, state.resources.numbers)
    with state.reading():
        latest = state.store.build(state.id)
        handles = latest is not None and HANDLES in build_record(latest)
        target = replace(state.target(request.model), handles=handles)
        room = budget_for(target.card, request.budget)
        warn(target.warned(room))
        case = Case(
            target=target,
            rates=lambda preset: rates(state, target, preset),
            layout=lambda preset: current_layout(state, target, preset),
            similarities=partial(similarities_to, state=state),
            entries=state.log.entries,
            fresh=lambda: History(state.log.read, target.frame(state.format)),
            given=Conversation(format=target.format, messages=()),
            budget=room,
            task=request.task,
            now=request.moment,
            prices=catalog.prices(target.card.id, extra=state.resources.catalogue),
        )
        return compared(case, chosen, progress)
