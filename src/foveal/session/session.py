"""One conversation that remembers everything: add to it, build windows of it, look anything up again.

The shell around the pipeline: it reads the clock and the store, hands plain values to pure stages and
writes down what happened. What is in memory is derived from the store and caught up before each use, so
several processes may share a session; what belongs together happens in one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foveal import presets, wire
from foveal.model import Entry, Format, Kind, Level, Role
from foveal.session.arguments import (
    a_choice,
    a_count,
    a_moment,
    a_name,
    a_text,
    a_whole_number,
    in_thread,
    some_words,
)
from foveal.session.build import billing
from foveal.session.build.build import (
    BuildRequest,
    build_context,
    build_window,
    compare_presets,
    stored_manifest,
)
from foveal.session.build.material import Beside
from foveal.session.history import append, marks
from foveal.session.history.compress import compress_history
from foveal.session.history.mined import session_records
from foveal.session.history.tasks import complete_task, start_task
from foveal.session.inspect.compare import Comparison
from foveal.session.inspect.stats import session_stats
from foveal.session.state import Resources, SessionState
from foveal.session.target import Count
from foveal.session.values import Hit, Recorded, Removal, Stats
from foveal.store import SessionRecord, TaskRecord
from foveal.window import Manifest, Window

if TYPE_CHECKING:
    from foveal.session.build.prompt import Prompt
    from foveal.session.inspect.diff import Diff
    from foveal.session.inspect.why import Why
    from foveal.sources.assemble import SmartContext
    from foveal.sources.contributor import Contributor, Progress
    from foveal.sources.workspace.workspace import Workspace


class Session:
    """One stored conversation. Made by `Foveal.session`."""

    def __init__(self, resources: Resources, record: SessionRecord) -> None:
        self.name = record.name
        self._state = SessionState(resources, record)

    @property
    def model(self) -> str:
        return self._state.model

    @property
    def preset(self) -> str:
        """How its windows are chosen, unless a build names another."""
        return self._state.log.head.preset or presets.DEFAULT

    @property
    def branch(self) -> int:
        """Changes when an edited history became a fork: positions in manifests are those of their branch."""
        return self._state.log.head.branch

    @property
    def format(self) -> Format:
        """The provider format its windows come in: that of the first messages that had one."""
        return self._state.format

    # Writing

    def add(  # noqa: PLR0913 — what may be said of a message, by name
        self,
        role: Role,
        text: str,
        *,
        pinned: bool = False,
        important: bool = False,
        kind: Kind | None = None,
        level: Level | None = None,
        metadata: Mapping[str, object] | None = None,
        timestamp: float | None = None,
        name: str = "",
    ) -> str:
        """Store one message of text and return its id. It is the session's own: `sync` leaves it alone."""
        words = a_text(text, "text")
        message = append.plain_message(role, words, name=name, timestamp=timestamp, metadata=metadata)
        kind, level = a_choice(kind, Kind, "kind"), a_choice(level, Level, "level")
        message = replace(message, pinned=pinned, important=important, kind=kind, level=level)
        return append.add(self._state, message)

    def extend(self, messages: Any, *, format: Format | None = None) -> tuple[str, ...]:
        """Store messages at the end, in any provider's format, and return their ids."""
        return append.extend(self._state, messages, format)

    def sync(self, history: Any, *, format: Format | None = None) -> tuple[str, ...]:
        """Store what is new in a client's whole history and return the new ids.

        The stored prefix is recognised by content; messages that were `add`ed stay where they are. Where
        the history differs from what is stored, the session goes on as a fork that shares the prefix. What
        the old branch held stays in the store; pins and other marks follow the messages.
        """
        return append.sync(self._state, history, format)

    # Building

    def build(  # noqa: PLR0913 — the front door: every option a build has, by name
        self,
        *,
        task: str = "",
        budget: int | None = None,
        model: str = "",
        preset: str = "",
        tools: Any = None,
        system: str | None = None,
        format: Format | None = None,
        now: float | None = None,
        counter: str | Count | None = None,
        workspace: Workspace | str | Path | None = None,
        active_files: Sequence[str] = (),
        contributors: Sequence[Contributor | str] = (),
        progress: Progress | None = None,
    ) -> Window:
        """The best window that fits the budget; it costs what is new, not what is old.

        Where the preset holds still, a window begins with the one before, byte for byte but for the cache
        markers that Anthropic's form carries then.

        `budget`: tokens; by default the model's limit less its longest reply.
        `system`: a system prompt for this window only; to keep one, `add("system", …)`.
        `workspace`: a folder whose files, docs, code, history and test results may stand beside the
        conversation; `active_files` are open in the editor, `contributors` know more about it, and
        `progress` is told how many files were looked at, of how many.
        """
        task, now = some_words(task, "task"), a_moment(now, "now")
        beside = Beside.of(workspace, active_files, contributors, progress)
        wanted = BuildRequest(
            task=task, budget=budget, model=model, preset=preset, tools=tools, system=system
        )
        wanted = replace(wanted, format=format, now=now, counter=counter, beside=beside)
        return build_window(self._state, wanted, self.recall)

    def prompt(  # noqa: PLR0913 — every option of a build that a text can have, by name
        self,
        *,
        task: str = "",
        budget: int | None = None,
        model: str = "",
        tools: Any = None,
        system: str | None = None,
        now: float | None = None,
        workspace: Workspace | str | Path | None = None,
        active_files: Sequence[str] = (),
        contributors: Sequence[Contributor | str] = (),
        progress: Progress | None = None,
    ) -> Prompt:
        """The eight layers as one text, and as the messages of a window with the same content.

        What is known, then the conversation so far, its recent messages, what was found for the task, and
        the user's message. It is a build like any other, of the preset `openscroll`.
        """
        from foveal.session.build.prompt import build_prompt

        task, now = some_words(task, "task"), a_moment(now, "now")
        beside = Beside.of(workspace, active_files, contributors, progress)
        wanted = BuildRequest(task=task, budget=budget, model=model, tools=tools, system=system)
        return build_prompt(self._state, replace(wanted, now=now, beside=beside), self.recall)

    def context(  # noqa: PLR0913 — everything that may be said of it, by name
        self,
        *,
        workspace: Workspace | str | Path,
        task: str = "",
        budget: int | None = None,
        active_files: Sequence[str] = (),
        contributors: Sequence[Contributor | str] = (),
        model: str = "",
        now: float | None = None,
        progress: Progress | None = None,
    ) -> SmartContext:
        """What of a workspace belongs beside the conversation, as one text, with the report on it.

        `task`: what it is for; by default what the user said last. The rest is as in `build`.
        """
        wanted = BuildRequest(
            task=some_words(task, "task"), budget=budget, model=model, now=a_moment(now, "now")
        )
        beside = Beside.of(workspace, active_files, contributors, progress)
        return build_context(self._state, replace(wanted, beside=beside))

    def billed(
        self,
        input_tokens: int,
        *,
        cached_tokens: int | None = None,
        cache_write_tokens: int | None = None,
        build: int | None = None,
    ) -> None:
        """Tell what the provider billed for a build's input: estimates learn from it, `stats` tells of it.

        `input_tokens`: all of them. Of these, as many are the cache's as was predicted, unless said.
        """
        billing.billed(self._state, input_tokens, build, cached=cached_tokens, written=cache_write_tokens)

    def compare(
        self,
        *,
        budget: int | None = None,
        model: str = "",
        task: str = "",
        presets: Sequence[str] | None = None,
        now: float | None = None,
    ) -> Comparison:
        """The windows that presets make of the history, side by side, all of ours unless named."""
        wanted = BuildRequest(
            budget=budget, model=model, task=some_words(task, "task"), now=a_moment(now, "now")
        )
        return compare_presets(self._state, wanted, presets)

    def manifest(self, build: int | None = None) -> Manifest:
        """The manifest of a build, the newest when no number is given."""
        return stored_manifest(self._state, build)

    def why(self, id: str, *, build: int | None = None) -> Why:
        """Why a message was in a build's window or not, the newest build's unless named.

        With what would have changed that: tokens of budget or a score, found by making the build again.
        """
        from foveal.session.inspect.why import explain_decision

        return explain_decision(self._state, some_words(id, "id"), build)

    def diff(self, a: int, b: int) -> Diff:
        """What entered the window, left it or changed its detail from one build to another, and why."""
        from foveal.session.inspect.diff import diff_builds

        return diff_builds(self._state, a, b)

    # Looking back

    def recall(self, handle: str) -> Any:
        """The original behind a handle or an id, exactly as it came in."""
        return self._state.original(some_words(handle, "handle"))

    def search(
        self, query: str, *, limit: int = 10, everywhere: bool = False, now: float | None = None
    ) -> tuple[Hit, ...]:
        """Stored messages that answer the words, best first; `everywhere`: in all of the tenant's sessions.

        `now`: what "yesterday" in the query counts from; by default the newest message.
        """
        from foveal.session.search.search import search_session

        words, limit, now = some_words(query, "query"), a_count(limit, "limit"), a_moment(now, "now")
        return search_session(self._state, words, limit=limit, everywhere=everywhere, now=now)

    def focus(
        self,
        question: str,
        *,
        budget: int,
        model: str = "",
        format: Format | None = None,
        now: float | None = None,
    ) -> Window:
        """A window of the best messages for one question: whole, in order, never over the budget.

        Nothing is fixed and nothing is stored: it is a look back, not the next request.
        """
        from foveal.session.search.focus import focus_window

        question, now = a_text(question, "question"), a_moment(now, "now")
        budget = a_whole_number(budget, "budget")
        return focus_window(
            self._state, question, budget=budget, model=model, format=format, now=now, fetch=self.recall
        )

    def tools(self, format: Format | None = None) -> list[dict[str, Any]]:
        """`foveal_recall` and `foveal_search`, for an agent; windows built with the first show handles."""
        return wire.tool_definitions(format or self.format)

    def answer(self, call: Any, arguments: Any = None, *, budget: int = 2_000) -> dict[str, Any]:
        """The message that answers a model's call of one of `tools`, to be appended with `extend`.

        `call`: as the provider's reply has it, or the tool's name. `budget`: tokens of the answer at most.
        """
        from foveal.session.search.tools import answer_call

        return answer_call(self._state, call, arguments, budget=budget)

    def entries(self) -> tuple[Entry, ...]:
        """Every message of the history without its body: id, handle, role, tokens, marks."""
        with self._state.reading():
            return tuple(self._state.log.history(self._state.target()).entries)

    def export(self) -> list[Any]:
        """The whole history, each message as it came in; erased ones are not in it."""
        found = self._state.store.messages(self._state.id)
        return [json.loads(content.body) for content in found if content]

    def records(self) -> tuple[Recorded, ...]:
        """The decisions, constraints and corrections of the session, word for word, in order.

        Only what the user and the model said themselves: what repeats a tool, a file or the web is none.
        """
        return session_records(self._state)

    def stats(self) -> Stats:
        """The session in numbers."""
        return session_stats(self._state)

    # Marking

    def pin(self, id: str) -> None:
        """Keep a message in every window, at full."""
        marks.mark(self._state, some_words(id, "id"), "pinned", pinned=True)

    def unpin(self, id: str) -> None:
        marks.mark(self._state, some_words(id, "id"), "unpinned", pinned=False)

    def forget(self, id: str, *, erase: bool = True) -> tuple[str, ...]:
        """Erase a message for good and return the ids that went, copies on branches that were left included.

        Equal words in another message of the history stay. With `erase=False` the message is only left out
        of windows until `restore`.
        """
        some_words(id, "id")
        if erase:
            return marks.erase(self._state, id)
        return (marks.mark(self._state, id, "left out", absence="left out"),)

    def restore(self, id: str | None = None) -> tuple[str, ...]:
        """Let a message that was left out be in windows again and return the ids; without an id, all of them.

        Where a note stands for it, the note goes, and every message that it covers comes back.
        """
        return marks.restore(self._state, None if id is None else some_words(id, "id"))

    def archive(self) -> tuple[Entry, ...]:
        """The messages that are left out of windows until they are restored."""
        return tuple(entry for entry in self.entries() if entry.absence == "left out")

    def prune(self, max_tokens: int | None = None) -> Removal:
        """Leave out the least important turns until the rest fits, by default 80% of the model's window."""
        return marks.prune(self._state, max_tokens)

    def summarize(self, keep: int | None = None) -> Removal:
        """Show one note in place of all but the newest `keep` messages, until they are restored."""
        return marks.summarize(self._state, keep)

    def compress(self, max_tokens: int | None = None) -> Removal:
        """Show short notes in place of old messages now, instead of when a window is built.

        The oldest go first, until windows have less than 80% of `max_tokens` to hold, by default what the
        model takes; also what is past its age. A model writes the notes where one is set up, and is waited
        for. Pins, system prompts and the open turn stay as they are. `restore` undoes it.
        """
        return compress_history(self._state, max_tokens)

    # Tasks

    def start_task(self, name: str) -> int:
        """Begin a task with the next message and return its number; the one before is completed.

        What was volatile until now leaves windows: what is marked so, tool output of more than 500 tokens,
        chunks of a search. Pins and what the model still has to answer stay. `restore` undoes it.
        """
        return start_task(self._state, a_name(name, "name"))

    def complete_task(self) -> str:
        """End the open task and return its summary, which windows show in place of its messages from now on.

        A task that is hardly longer than its summary stays in windows as it is, and so do pins and what the
        model still has to answer. `restore` undoes it.
        """
        return complete_task(self._state)

    def tasks(self) -> tuple[TaskRecord, ...]:
        """The tasks of the session, oldest first, with their summaries."""
        return tuple(self._state.store.tasks(self._state.id))

    aadd = in_thread(add)
    aextend = in_thread(extend)
    async_ = in_thread(sync)
    abuild = in_thread(build)
    aprompt = in_thread(prompt)
    acontext = in_thread(context)
    abilled = in_thread(billed)
    arecall = in_thread(recall)
    asearch = in_thread(search)
    afocus = in_thread(focus)
    aanswer = in_thread(answer)
    aentries = in_thread(entries)
    aexport = in_thread(export)
    amanifest = in_thread(manifest)
    awhy = in_thread(why)
    adiff = in_thread(diff)
    astats = in_thread(stats)
    acompare = in_thread(compare)
    apin = in_thread(pin)
    aunpin = in_thread(unpin)
    aforget = in_thread(forget)
    arestore = in_thread(restore)
    aprune = in_thread(prune)
    asummarize = in_thread(summarize)
    acompress = in_thread(compress)
    astart_task = in_thread(start_task)
    acomplete_task = in_thread(complete_task)
    atasks = in_thread(tasks)
    arecords = in_thread(records)
