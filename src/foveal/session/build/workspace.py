"""Collect what a workspace and other sessions contribute to a build.

Nothing here locks the session while files are read or searched.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

from foveal.errors import InputError
from foveal.events import Event, FileRefused, Warned
from foveal.pipeline.kinds import RETRIEVAL
from foveal.pipeline.material.categories import DIALOG, PenguinNumbers, category_slots
from foveal.pipeline.material.values import Material
from foveal.presets.numbers import overridden
from foveal.search.fusion import SAID_ONCE
from foveal.session.arguments import a_path
from foveal.session.build.values import BuildRequest, Gathered
from foveal.session.knowledge.memories import ShownDocs
from foveal.session.resources import Resources
from foveal.session.search.search import search_session
from foveal.session.state import SessionState
from foveal.sources.assemble import SmartContext, assemble_smart_context, room_within
from foveal.sources.contributor import PROJECT_DOCS, ContextRequest, weight_of
from foveal.sources.contributors.retrieval import Hit, hit_offers, retrieval
from foveal.sources.gather import gather, resolve_active_files
from foveal.sources.workspace.values import Refusal
from foveal.sources.workspace.workspace import Workspace
from foveal.window import Contributed

RECENT_MESSAGES = 40
"""Messages of the conversation that contributors see."""
HITS = 20
"""Messages of other sessions that are offered at most."""
LEAST_SCORE = 0.25
"""Of 0..1: hits below it are not offered."""
WORKSPACES = 8
"""Workspaces that stay in memory between builds."""
RETRIEVED_ROOM = 4_000
"""Tokens for messages of other sessions in a build without a workspace."""
QUERY_LONGEST = 4_000
"""Characters of a task that are searched for."""


def contributions(state: SessionState, request: BuildRequest, count: Callable[[str], int]) -> Gathered:
    """Everything that contributors offer for one build."""
    opened = state.resources.part(OpenWorkspaces).open(_workspace(request))
    recent, question = _recent(state)
    numbers = _numbers(state)
    asked = _context_request(
        opened.workspace, request, count, recent, question, room=_room(state, request, numbers)
    )
    hits = retrieval(_hits(state, asked.task, request.moment))
    found = gather(asked, (hits, *request.contributors), numbers=numbers, progress=request.progress)
    docs = [each.text for each in found.material if each.type == PROJECT_DOCS]
    state.resources.part(ShownDocs).show(str(opened.workspace.root), "\n".join(docs))
    events = _events(state, opened.refused, found.left_out)
    return Gathered(material=found.material, left_out=found.left_out, events=events)


def workspace_context(
    state: SessionState, request: BuildRequest, count: Callable[[str], int]
) -> SmartContext:
    """What a workspace and other sessions hold on a task, as one text. Only refused files are stored."""
    opened = state.resources.part(OpenWorkspaces).open(_workspace(request))
    recent, question = _recent(state)
    task = request.task or question
    found = assemble_smart_context(
        opened.workspace,
        task=task,
        budget=request.budget or 0,
        said=recent,
        active_files=request.active_files,
        contributors=(retrieval(_hits(state, task, request.moment)), *request.contributors),
        count=count,
        now=request.moment,
        numbers=_numbers(state),
        progress=request.progress,
    )
    if new := _events(state, opened.refused, found.contributed):
        with state.writing() as events:
            events.extend(new)
    return found


def from_other_sessions(
    state: SessionState, task: str, count: Callable[[str], int], *, now: float
) -> tuple[Material, ...]:
    """What other sessions hold on a task, best first."""
    hits = _hits(state, task or _recent(state)[1], now)
    weights = _numbers(state).weights
    return tuple(
        Material(
            type=offer.type,
            text=offer.text,
            tokens=count(offer.text),
            source=offer.source_path,
            kind="rag_generic_chunk",
            layer=RETRIEVAL,
            weight=weight_of(offer.type, weights),
            salience=offer.salience or 0.0,
        )
        for offer in hit_offers(hits, RETRIEVED_ROOM, count)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """An open workspace, and the refused files that no event has reported yet."""

    workspace: Workspace
    refused: list[Refusal]


class OpenWorkspaces:
    """The workspaces of recent builds: what was read and parsed for one build serves the next."""

    def __init__(self, _resources: Resources) -> None:
        self._opened: dict[str, _Opened] = {}
        self._lock = Lock()  # sessions build at the same time

    def open(self, given: Workspace | str | Path) -> _Opened:
        if isinstance(given, Workspace):
            return _Opened(workspace=given, refused=[])
        folder = a_path(given, "workspace")
        root = os.path.realpath(folder) if os.path.isdir(folder) else ""  # `is_dir` raises for long names
        with self._lock:
            if root not in self._opened:
                while len(self._opened) >= WORKSPACES:
                    self._opened.pop(next(iter(self._opened)), None)
                refused: list[Refusal] = []
                self._opened[root] = _Opened(
                    workspace=Workspace(given, refused=refused.append), refused=refused
                )
            return self._opened[root]


def _workspace(request: BuildRequest) -> Workspace | str | Path:
    if request.workspace is None:
        raise InputError(
            "`workspace` is None", remedy="pass `workspace`, the folder to read", field="workspace"
        )
    return request.workspace


def _numbers(state: SessionState) -> PenguinNumbers:
    given = (state.resources.numbers or {}).get("penguin", {})
    return overridden(PenguinNumbers(), given, "numbers, preset penguin")


def _recent(state: SessionState) -> tuple[tuple[str, ...], str]:
    """The latest texts that windows may show, oldest first; and the user's latest message."""
    with state.reading():
        entries = [entry for entry in state.log.entries[-RECENT_MESSAGES:] if not entry.absence]
        messages = [message for message in state.log.read_unerased(entries) if message]
    question = next((message.text for message in reversed(messages) if message.role == "user"), "")
    return tuple(message.text for message in messages if message.role != "system"), question


def _room(state: SessionState, request: BuildRequest, numbers: PenguinNumbers) -> int:
    """The room for contributors: DIALOG lends what the conversation does not use."""
    with state.reading():
        entries = [entry for entry in state.log.entries if not entry.absence]
    dialog = sum(entry.tokens for entry in entries if entry.role in ("user", "assistant"))
    slots = category_slots(request.budget or 0, numbers)
    return room_within([replace(slot, used=dialog) if slot.name == DIALOG else slot for slot in slots])


def _context_request(
    workspace: Workspace,
    request: BuildRequest,
    count: Callable[[str], int],
    recent: tuple[str, ...],
    question: str,
    *,
    room: int,
) -> ContextRequest:
    asked = ContextRequest(
        workspace=workspace,
        task=request.task or question,
        room=room,
        count=count,
        now=request.moment,
        said=recent,
        active_files=request.active_files,
    )
    return resolve_active_files(asked)


def _hits(state: SessionState, task: str, now: float) -> list[Hit]:
    """Messages of other sessions that match the task, best first."""
    if not task.strip():
        return []
    whole = SAID_ONCE if state.resources.embedder is None else 1.0
    hits = search_session(state, task[:QUERY_LONGEST], limit=2 * HITS, everywhere=True, now=now)
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
    return [hit for hit in found if hit.score >= LEAST_SCORE][:HITS]


def _events(
    state: SessionState, refused: list[Refusal], left_out: Sequence[Contributed]
) -> tuple[Event, ...]:
    events: list[Event] = []
    while refused:
        refusal = refused.pop(0)
        events.append(FileRefused(session=state.name, path=refusal.path, why=refusal.why))
    # An offer with tokens did not fail: it was too large, and the manifest says so.
    failed = [each for each in left_out if not each.tokens]
    events += [Warned(session=state.name, text=f"{e.type} {e.source}: {e.because}") for e in failed]
    return tuple(events)
