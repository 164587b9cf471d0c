"""A session and what a build wants beside it in → the material it may show: known, found, contributed.

Nothing here holds the session while files are read or searched for.

A session and what a build says of its workspace in → material beside the conversation, and events on it.

Nothing here holds the session while files are read, searched for or parsed: that may take seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from foveal.errors import InputError
from foveal.events import Event, FileRefused, Warned
from foveal.pipeline.material.categories import DIALOG, PenguinNumbers, shared
from foveal.pipeline.material.values import Material
from foveal.pipeline.scoring import TASK_MOST
from foveal.presets import Preset
from foveal.presets.numbers import overridden
from foveal.search.fusion import SAID_ONCE
from foveal.session.search.search import search_session
from foveal.session.state import SessionState
from foveal.sources.assemble import SmartContext, assemble_smart_context, room_within
from foveal.sources.contributor import PROJECT_DOCS, Contributor, Look, Progress, weight_of
from foveal.sources.contributors.retrieval import Hit, offered, retrieval
from foveal.sources.gather import gather, spelt
from foveal.sources.workspace.values import Refusal
from foveal.sources.workspace.workspace import Workspace
from foveal.window import Contributed

NEWEST = 40
"""Messages of the conversation that contributors are told."""
HITS = 20
"""Messages of other sessions that are offered at most."""
FOUND = 0.25
"""Of 0..1: what answers the task worse has nothing to say to it."""
WORKSPACES = 8
"""Folders that are remembered between builds."""
ROOM = 4_000
"""Tokens of all that is brought back where no workspace takes part."""
LONGEST = 4_000
"""Characters of a task that is searched for."""
JIT = "L5_jit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a build says of what belongs beside the conversation."""

    workspace: Workspace | str | Path
    task: str = ""
    """Empty: what the user said last."""
    budget: int
    count: Callable[[str], int]
    now: float
    active_files: tuple[str, ...] = ()
    contributors: tuple[Contributor | str, ...] = ()
    numbers: PenguinNumbers = field(default_factory=PenguinNumbers)
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievedNote:
    """What was gathered for one build."""

    material: tuple[Material, ...] = ()
    left_out: tuple[Contributed, ...] = ()
    """Contributors that failed and offers that no room could hold: they belong in the manifest."""
    events: tuple[Event, ...] = ()
    """For the build to log: files that were refused, contributors that failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A workspace that stays in memory between builds, and the refusals nobody was told of yet."""

    workspace: Workspace
    refused: list[Refusal]


def contributed(state: SessionState, request: Request) -> RetrievedNote:
    """Everything contributors offer for one build."""
    kept = _kept(state, request.workspace)
    said, asked = _said(state)
    look = _look(kept.workspace, request, said, asked, dialog=_dialog(state))
    hits = retrieval(_hits(state, look.task, request.now))
    found = gather(
        look, (hits, *request.contributors), weights=request.numbers.weights, progress=request.progress
    )
    docs = [each.text for each in found.material if each.type == PROJECT_DOCS]
    state.resources.reader.show_docs(str(kept.workspace.root), "\n".join(docs))
    return RetrievedNote(
        material=found.material, left_out=found.left_out, events=_events(state, kept.refused, found.left_out)
    )


def workspace_context(state: SessionState, request: Request) -> SmartContext:
    """What a workspace and other sessions have to say to a task, as one text; only refusals are stored."""
    kept = _kept(state, request.workspace)
    said, asked = _said(state)
    task = request.task or asked
    found = assemble_smart_context(
        kept.workspace,
        task=task,
        budget=request.budget,
        said=said,
        active_files=request.active_files,
        contributors=(retrieval(_hits(state, task, request.now)), *request.contributors),
        count=request.count,
        now=request.now,
        numbers=request.numbers,
        progress=request.progress,
    )
    if told := _events(state, kept.refused, found.contributed):
        with state.writing() as events:
            events.extend(told)
    return found


def retrieval_material(
    state: SessionState, task: str, count: Callable[[str], int], *, now: float
) -> tuple[Material, ...]:
    """What other sessions have to say to a task, as pieces of just-in-time knowledge, the best first."""
    hits = _hits(state, task or _said(state)[1], now)
    return tuple(
        Material(
            type=offer.type,
            text=offer.text,
            tokens=count(offer.text),
            source=offer.source_path,
            kind="rag_generic_chunk",
            layer=JIT,
            weight=weight_of(offer.type),
            salience=offer.salience or 0.0,
        )
        for offer in offered(hits, ROOM, count)
    )


def _kept(state: SessionState, given: Workspace | str | Path) -> Kept:
    """The workspace as it is remembered: what was read and parsed for one build serves the next."""
    if isinstance(given, Workspace):
        return Kept(workspace=given, refused=[])
    known = state.resources.workspaces
    root = str(Path(given).resolve()) if Path(given).is_dir() else ""
    with state.resources.remembering:
        if root not in known:
            while len(known) >= WORKSPACES:
                known.pop(next(iter(known)), None)
            refused: list[Refusal] = []
            known[root] = Kept(workspace=Workspace(given, refused=refused.append), refused=refused)
        return known[root]


def _said(state: SessionState) -> tuple[tuple[str, ...], str]:
    """The newest texts that windows may show, oldest first; and what the user said last."""
    with state.reading():
        entries = [entry for entry in state.log.entries[-NEWEST:] if not entry.absence]
        messages = [message for message in state.log.read_unerased(entries) if message]
    asked = next((message.text for message in reversed(messages) if message.role == "user"), "")
    return tuple(message.text for message in messages if message.role != "system"), asked


def _dialog(state: SessionState) -> int:
    """Tokens of what the user and the model said: DIALOG lends the rest."""
    with state.reading():
        entries = [entry for entry in state.log.entries if not entry.absence]
    return sum(entry.tokens for entry in entries if entry.role in ("user", "assistant"))


def _look(workspace: Workspace, request: Request, said: tuple[str, ...], asked: str, *, dialog: int) -> Look:
    slots = [
        replace(slot, used=dialog) if slot.name == DIALOG else slot
        for slot in shared(request.budget, request.numbers)
    ]
    look = Look(
        workspace=workspace,
        task=request.task or asked,
        room=room_within(slots),
        count=request.count,
        now=request.now,
        said=said,
        active_files=request.active_files,
    )
    return spelt(look)


def _hits(state: SessionState, task: str, now: float) -> list[Hit]:
    """Messages of other sessions that answer the task."""
    if not task.strip():
        return []
    whole = SAID_ONCE if state.resources.embedder is None else 1.0
    hits = search_session(state, task[:LONGEST], limit=2 * HITS, everywhere=True, now=now)
    found = [
        Hit(
            text=hit.text,
            source=f"{hit.session}/{hit.id}",
            score=min(1.0, hit.score / whole),
            said_at=hit.created_at,
        )
        for hit in hits
        if hit.session != state.name and hit.role != "system"
    ]
    return [hit for hit in found if hit.score >= FOUND][:HITS]


def _events(
    state: SessionState, refused: list[Refusal], left_out: Sequence[Contributed]
) -> tuple[Event, ...]:
    told: list[Event] = []
    while refused:
        refusal = refused.pop(0)
        told.append(FileRefused(session=state.name, path=refusal.path, why=refusal.why))
    # What has tokens was only too large, and stands in the manifest.
    failed = [each for each in left_out if not each.tokens]
    told += [Warned(session=state.name, text=f"{e.type} {e.source}: {e.because}") for e in failed]
    return tuple(told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What a caller may say of what belongs beside the conversation."""

    workspace: Workspace | str | Path | None = None
    active_files: tuple[str, ...] = ()
    contributors: tuple[Contributor | str, ...] = ()
    progress: Progress | None = None
    """Told how many files were looked at, of how many."""

    @classmethod
    def of(
        cls,
        workspace: Workspace | str | Path | None,
        active_files: Sequence[str],
        contributors: Sequence[Contributor | str],
        progress: Progress | None,
    ) -> Beside:
        """As callers give it."""
        return cls(
            workspace=workspace,
            active_files=tuple(active_files),
            contributors=tuple(contributors),
            progress=progress,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the material is for."""

    task: str
    budget: int
    count: Callable[[str], int]
    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """The material, what contributors failed to bring, and what there is to tell of it."""

    material: tuple[Material, ...] = ()
    left_out: tuple[Contributed, ...] = ()
    events: tuple[Event, ...] = ()


def gathered(state: SessionState, preset: Preset, beside: Beside, wish: Wish) -> Gathered:
    """Everything that may be shown beside the conversation."""
    task = wish.task or _asked(state)
    known = _known(state, preset, task, wish) if preset.knows else ()
    found = _contributed(state, beside, task, wish)
    if preset.knows and beside.workspace is None:
        known += _retrieved(state, task, wish)
    return Gathered(material=(*known, *found.material), left_out=found.left_out, events=found.events)


def _contributed(state: SessionState, beside: Beside, task: str, wish: Wish) -> Gathered:
    if beside.workspace is None:
        if beside.active_files or beside.contributors:
            raise InputError(
                "`active_files` or `contributors` were given without a `workspace`",
                remedy="give `workspace`, the folder they are about",
                field="active_files",
            )
        return Gathered()

    found = contributed(state, _request(state, beside, replace(wish, task=task)))
    return Gathered(material=found.material, left_out=found.left_out, events=found.events)


def context(state: SessionState, beside: Beside, wish: Wish) -> SmartContext:
    """What of a workspace belongs beside the conversation, as one text."""

    return workspace_context(state, _request(state, beside, wish))


def _request(state: SessionState, beside: Beside, wish: Wish) -> Request:

    if beside.workspace is None:
        raise InputError(
            "`workspace` is None", remedy="give `workspace`, the folder to look through", field="workspace"
        )
    numbers = state.resources.numbers or {}
    return Request(
        workspace=beside.workspace,
        task=wish.task,
        budget=wish.budget,
        count=wish.count,
        now=wish.now,
        active_files=beside.active_files,
        contributors=beside.contributors,
        numbers=overridden(PenguinNumbers(), numbers.get("penguin", {}), "numbers, preset penguin"),
        progress=beside.progress,
    )


def _known(state: SessionState, preset: Preset, task: str, wish: Wish) -> tuple[Material, ...]:
    from foveal.session.knowledge.profile import known

    return known(state, task=task, depth=preset.depth, count=wish.count, now=wish.now)


def _retrieved(state: SessionState, task: str, wish: Wish) -> tuple[Material, ...]:

    return retrieval_material(state, task, wish.count, now=wish.now)


def _asked(state: SessionState) -> str:
    """What the user said last, the beginning of it."""
    with state.reading():
        for entry in reversed(state.log.entries):
            if entry.role == "user" and not entry.absence:
                (message,) = state.log.read(entry.seq, entry.seq + 1)
                return message.text[:TASK_MOST]
    return ""
