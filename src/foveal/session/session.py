"""One stored conversation: add messages, build windows, search and recall.

A session reads the clock and the store, passes plain values to the pure pipeline and stores what happened.
Its state in memory is derived from the store and catches up before each use, so several processes may share
a session. Changes that belong together happen in one transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foveal import presets, wire
from foveal.model import Entry, Format, Kind, Level, Role
from foveal.session.arguments import (
    a_choice,
    a_count,
    a_function,
    a_list,
    a_name,
    a_priority,
    a_text,
    a_time,
    a_yes_or_no,
    an_id,
    an_integer,
    any_text,
    in_thread,
)
from foveal.session.build.values import BuildRequest
from foveal.session.resources import Resources
from foveal.session.state import SessionState
from foveal.session.values import Hit, Recorded, Removal, Stats
from foveal.store import SessionRecord, TaskRecord
from foveal.window import Manifest, Window

if TYPE_CHECKING:
    from foveal.session.build.prompt import Prompt
    from foveal.session.inspect.compare import Comparison
    from foveal.session.inspect.diff import Diff
    from foveal.session.inspect.why import Why
    from foveal.session.target import Count
    from foveal.sources.assemble import SmartContext
    from foveal.sources.contributor import Contributor, Progress
    from foveal.sources.workspace.workspace import Workspace


class Session:
    """One stored conversation. `Foveal.session` opens it."""

    def __init__(self, resources: Resources, record: SessionRecord) -> None:
        self.name = record.name
        self._state = SessionState(resources, record)

    @property
    def model(self) -> str:
        return self._state.model

    @property
    def preset(self) -> str:
        """The preset of its windows, unless a build names another."""
        return self._state.log.head.preset or presets.DEFAULT

    @property
    def pool(self) -> str:
        """The name of the pool that it is in; empty if it is in none."""
        found = self._state.store.pools.of(self._state.id)
        return found.name if found else ""

    @property
    def branch(self) -> int:
        """Counts up whenever an edited history makes the session continue as a fork."""
        return self._state.log.head.branch

    @property
    def format(self) -> Format:
        """The provider format of its windows: that of the first messages that had one."""
        return self._state.format

    # Writing

    def add(  # noqa: PLR0913 — what may be said of a message, by name
        self,
        role: Role,
        text: str,
        *,
        pinned: bool = False,
        important: bool = False,
        private: bool = False,
        kind: Kind | None = None,
        level: Level | None = None,
        priority: float | None = None,
        metadata: Mapping[str, object] | None = None,
        timestamp: float | None = None,
        name: str = "",
    ) -> str:
        """Store one text message and return its id. `sync` leaves messages added this way in place.

        `private`: no other session sees it, in windows, searches, pools or what is known of the user.
        `priority`: from 0 to 1,000; the presets `omar` and `fifth` select by it.
        """
        from foveal.session.history import append

        message = append.plain_message(
            role,
            a_text(text, "text"),
            name=name,
            timestamp=timestamp,
            priority=a_priority(priority, "priority"),
            private=a_yes_or_no(private, "private"),
            metadata=metadata,
        )
        kind, level = a_choice(kind, Kind, "kind"), a_choice(level, Level, "level")
        pinned, important = a_yes_or_no(pinned, "pinned"), a_yes_or_no(important, "important")
        message = replace(message, pinned=pinned, important=important, kind=kind, level=level)
        return append.add(self._state, message)

    def extend(self, messages: Any, *, format: Format | None = None) -> tuple[str, ...]:
        """Append messages in any provider's format and return their ids."""
        from foveal.session.history import append

        return append.extend(self._state, messages, format)

    def sync(self, history: Any, *, format: Format | None = None) -> tuple[str, ...]:
        """Store what is new in a client's whole history and return the new ids.

        The stored prefix is recognised by content; messages stored with `add` stay where they are. If the
        history differs from the stored one, the session continues as a fork that shares the common prefix.
        The old branch stays in the store; pins and other marks follow the messages.
        """
        from foveal.session.history import append

        return append.sync(self._state, history, format)

    def resume(
        self, history: Any, *, format: Format | None = None, progress: Progress | None = None
    ) -> tuple[str, ...]:
        """Store what of a recorded history is not stored yet, at the end, and return the new ids.

        For transcripts that grow: the longest beginning that the session has is not stored again, and nothing
        that is stored is left out, unless the latest message was recorded in part. `progress` is called with
        the number of messages that are stored and of all.
        """
        from foveal.session.history import append

        return append.resume(self._state, history, format, a_function(progress, "progress"))

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
        """The best window that fits the budget. A build costs what is new, not what is old.

        With a preset that has a stable prefix, a window begins with the previous one byte for byte, apart
        from the cache markers of Anthropic's format. With the preset `fifth`, old messages become notes first
        if more than 80% of the window or of its working memory is used; `restore` undoes it.

        `budget`: tokens; by default the model's limit less its longest reply.
        `system`: a system prompt for this window only; to keep one, `add("system", …)`.
        `workspace`: a folder whose files, docs, code, git history and test results may be attached;
        `active_files` are open in the editor, `contributors` add context of their own, and `progress` is
        called with the number of files read and the number of all.
        """
        request = BuildRequest(
            task=any_text(task, "task"),
            budget=budget,
            model=model,
            preset=preset,
            tools=tools,
            system=system,
            format=format,
            now=a_time(now, "now"),
            counter=counter,
            workspace=workspace,
            active_files=a_list(active_files, "active_files"),
            contributors=a_list(contributors, "contributors"),
            progress=a_function(progress, "progress"),
        )
        from foveal.session.build.build import build_window

        return build_window(self._state, request, self.recall)

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

        In order: what is known of the user, the conversation so far, its recent messages, what was retrieved
        for the task, and the user's message. This is a build of the preset `openscroll`.
        """
        from foveal.session.build.prompt import build_prompt

        request = BuildRequest(
            task=any_text(task, "task"),
            budget=budget,
            model=model,
            tools=tools,
            system=system,
            now=a_time(now, "now"),
            workspace=workspace,
            active_files=a_list(active_files, "active_files"),
            contributors=a_list(contributors, "contributors"),
            progress=a_function(progress, "progress"),
        )
        return build_prompt(self._state, request, self.recall)

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
        """The context that a workspace contributes, as one text with a report.

        `task`: by default the user's latest message. The other options are as in `build`.
        """
        request = BuildRequest(
            task=any_text(task, "task"),
            budget=budget,
            model=model,
            now=a_time(now, "now"),
            workspace=workspace,
            active_files=a_list(active_files, "active_files"),
            contributors=a_list(contributors, "contributors"),
            progress=a_function(progress, "progress"),
        )
        from foveal.session.build.material import build_context

        return build_context(self._state, request)

    def billed(
        self,
        input_tokens: int,
        *,
        cached_tokens: int | None = None,
        cache_write_tokens: int | None = None,
        build: int | None = None,
    ) -> None:
        """Record what the provider billed for a build's input. It corrects estimates and appears in `stats`.

        `input_tokens`: all input tokens. Cache numbers that are not given are taken from the prediction.
        """
        from foveal.session.build import bill

        bill.record_bill(self._state, input_tokens, build, cached=cached_tokens, written=cache_write_tokens)

    def compare(
        self,
        *,
        budget: int | None = None,
        model: str = "",
        task: str = "",
        presets: Sequence[str] | None = None,
        now: float | None = None,
        progress: Progress | None = None,
    ) -> Comparison:
        """The windows of several presets side by side, by default of all built-in ones.

        `progress` is called with the number of presets done and of all.
        """
        request = BuildRequest(
            budget=budget, model=model, task=any_text(task, "task"), now=a_time(now, "now")
        )
        from foveal.session.inspect.compare import compare_session

        return compare_session(self._state, request, presets, a_function(progress, "progress"))

    def manifest(self, build: int | None = None) -> Manifest:
        """The manifest of a build, by default of the latest."""
        from foveal.session.build.build import stored_manifest

        return stored_manifest(self._state, build)

    def why(self, id: str, *, build: int | None = None, progress: Progress | None = None) -> Why:
        """Why a message was in a build's window or not; by default in the latest build's.

        It also says what would have changed the decision, tokens of budget or a score, found by rebuilding.
        `progress` is called with the number of rebuilds done, and 0: how many there will be is unknown.
        """
        from foveal.session.inspect.why import explain_decision

        return explain_decision(self._state, an_id(id, "id"), build, a_function(progress, "progress"))

    def diff(self, a: int, b: int) -> Diff:
        """What entered the window, was evicted or changed its level of detail between two builds, and why."""
        from foveal.session.inspect.diff import diff_builds

        return diff_builds(self._state, a, b)

    # Search and recall

    def recall(self, handle: str, *, everywhere: bool = False) -> Any:
        """The original behind a handle or an id of the session, exactly as it came in.

        `everywhere`: a handle may also be that of a message in another of the tenant's sessions; not of a
        private one.
        """
        everywhere = a_yes_or_no(everywhere, "everywhere")
        return self._state.original(an_id(handle, "handle"), everywhere=everywhere)

    def search(
        self, query: str, *, limit: int = 10, everywhere: bool = False, now: float | None = None
    ) -> tuple[Hit, ...]:
        """Stored messages that match the query, best first.

        `everywhere`: in all of the tenant's sessions, apart from private messages, also this session's own.
        `now`: the moment that "yesterday" in the query refers to; by default that of the latest message.
        """
        from foveal.session.search.search import search_session

        words, limit, now = any_text(query, "query"), a_count(limit, "limit"), a_time(now, "now")
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
        """A window of the best messages for one question: in full, in order, never over the budget.

        Nothing is always in, and nothing is stored: it is a lookup, not the next request.
        """
        from foveal.session.search.focus import focus_window

        question, now = a_text(question, "question"), a_time(now, "now")
        budget = an_integer(budget, "budget")
        return focus_window(
            self._state, question, budget=budget, model=model, format=format, now=now, fetch=self.recall
        )

    def tools(self, format: Format | None = None) -> list[dict[str, Any]]:
        """Definitions of `foveal_recall` and `foveal_search`; windows built with the first show handles."""
        return wire.tool_definitions(format or self.format)

    def answer(self, call: Any, arguments: Any = None, *, budget: int = 2_000) -> dict[str, Any]:
        """The message that answers a model's call of one of `tools`; append it with `extend`.

        `call`: the call from the provider's reply, or the tool's name. `budget`: the answer's tokens at most.
        """
        from foveal.session.search.tools import answer_call

        return answer_call(self._state, call, arguments, budget=budget)

    def entries(self) -> tuple[Entry, ...]:
        """Every message of the history without its body: id, handle, role, tokens, marks."""

        with self._state.reading():
            return tuple(self._state.log.history(self._state.target()).entries)

    def export(self) -> list[Any]:
        """The whole history, each message as it came in, without erased ones."""
        found = self._state.store.messages(self._state.id)
        return [wire.original(content.body, content.digest) for content in found if content]

    def records(self) -> tuple[Recorded, ...]:
        """The decisions, constraints and corrections of the session, verbatim and in order.

        Only what the user and the model said themselves: text from a tool, a file or the web is ignored.
        """
        from foveal.session.history.records import session_records

        return session_records(self._state)

    def stats(self) -> Stats:
        """The session in numbers."""
        from foveal.session.inspect.stats import session_stats

        return session_stats(self._state)

    # Marks

    def pin(self, id: str) -> str:
        """Keep a message in every window, in full, and return its id.

        Here and in every call that takes an id: the id, the handle, or the message's number.
        """
        from foveal.session.history import marks

        return marks.mark(self._state, an_id(id, "id"), "pinned", pinned=True)

    def unpin(self, id: str) -> str:
        """Allow a pinned message to be evicted again, and return its id."""
        from foveal.session.history import marks

        return marks.mark(self._state, an_id(id, "id"), "unpinned", pinned=False)

    def forget(self, id: str, *, erase: bool = True) -> tuple[str, ...]:
        """Erase a message for good and return the erased ids, including copies on older branches.

        Other messages with the same text stay. With `erase=False` the message is only left out of windows
        until `restore`.
        """
        from foveal.session.history import marks

        an_id(id, "id")
        if erase:
            return marks.erase(self._state, id)
        return (marks.mark(self._state, id, "left out", absence="left out"),)

    def restore(self, id: str | None = None) -> tuple[str, ...]:
        """Let windows show a message that was left out, by default all of them, and return the ids.

        If a stand-in covers the message, the stand-in is removed and every message it covers is restored. The
        age by which `fifth` compresses messages counts from now on.
        """
        from foveal.session.history import marks

        return marks.restore(self._state, None if id is None else an_id(id, "id"))

    def archive(self) -> tuple[Entry, ...]:
        """The messages that are left out of windows until they are restored."""
        return tuple(entry for entry in self.entries() if entry.absence == "left out")

    def prune(self, max_tokens: int | None = None, *, dry_run: bool = False) -> Removal:
        """Leave out the least important turns until the rest fits, by default 80% of the model's limit.

        With the preset `reploid`, a build does so by itself to a history above 80% of the model's limit, or
        of the budget if the caller gives one. `restore` undoes it until the next build.

        `dry_run`, here and below: return what would be left out, and change nothing.
        """
        from foveal.session.history import marks

        return marks.prune(self._state, max_tokens, dry_run=dry_run)

    def summarize(self, keep: int | None = None, *, dry_run: bool = False) -> Removal:
        """Replace all but the latest `keep` messages by one note, until they are restored."""
        from foveal.session.history import marks

        return marks.summarize(self._state, keep, dry_run=dry_run)

    def compress(self, max_tokens: int | None = None, *, dry_run: bool = False) -> Removal:
        """Replace old messages by short notes now, instead of when a window is built.

        The oldest are replaced first, until less than 80% of `max_tokens` is left, by default of the model's
        window, and with them what is past its age. A configured model writes the notes, and the call waits
        for it. Pinned messages, system prompts and the open turn stay. `restore` undoes it. A `dry_run` asks
        no model: its notes are extracts.
        """
        from foveal.session.history.compress import compress_history

        return compress_history(self._state, max_tokens, dry_run=dry_run)

    # Tasks

    def start_task(self, name: str) -> int:
        """Begin a task with the next message and return its number; the previous task is completed.

        Volatile messages are left out of windows from now on: those marked so, tool output of more than 500
        tokens, search results. Pinned messages and the open turn stay. `restore` undoes it.
        """
        from foveal.session.history.tasks import start_task

        return start_task(self._state, a_name(name, "name"))

    def complete_task(self) -> str:
        """End the open task and return its summary, which replaces its messages in windows from now on.

        A task that is hardly longer than its summary stays as it is, and so do pinned messages and the open
        turn. `restore` undoes it.
        """
        from foveal.session.history.tasks import complete_task

        return complete_task(self._state)

    def tasks(self) -> tuple[TaskRecord, ...]:
        """The tasks of the session, oldest first, with their summaries."""
        return tuple(self._state.store.tasks(self._state.id))

    aadd = in_thread(add)
    aextend = in_thread(extend)
    async_ = in_thread(sync)
    aresume = in_thread(resume)
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
