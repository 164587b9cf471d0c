"""Keep the code graph of a workspace: parse files when they change, rebuild the graph when symbols do."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from weakref import WeakKeyDictionary, proxy

from foveal.sources.code.focus import find_focus
from foveal.sources.code.graph import Graph, build_graph
from foveal.sources.code.languages import language_of
from foveal.sources.code.parsers import Parsers, shared
from foveal.sources.code.rank import rank
from foveal.sources.code.symbols import Symbols
from foveal.sources.contributor import Progress
from foveal.sources.workspace.values import FileInfo, Refusal
from foveal.sources.workspace.workspace import Workspace

LARGEST = 400_000
"""Bytes of a file that is parsed: a larger one is generated."""
AT_ONCE = 4
"""Files parsed at the same time, if there are as many cores."""
FEW = 8
"""Up to so many files are parsed one after the other: starting a process would take longer."""
HANGS = 3
"""Files of one language whose parsing may hang in one workspace; after that the language is not parsed."""

Order = Sequence[tuple[int, int]]


class Survey:
    """The parsed code of one workspace. Threads may share it."""

    def __init__(self, workspace: Workspace, *, parsers: Parsers | None = None) -> None:
        # A proxy, so that the survey does not keep the workspace alive.
        self._workspace: Workspace = proxy(workspace)
        self._parsers = parsers
        self._lock = Lock()
        self._files: dict[str, FileInfo] = {}
        self._symbols: dict[str, Symbols] = {}
        self._graph: Graph | None = None
        self._ranked_for: tuple[str, tuple[str, ...]] | None = None
        self._order: Order = ()
        self._hung: dict[str, int] = {}
        self._parserless = False

    def ranked(
        self,
        task: str,
        said: Sequence[str],
        progress: Progress | None = None,
        *,
        files: Sequence[FileInfo] | None = None,
    ) -> tuple[Graph, Order]:
        """The graph, and its files and definitions ranked for the task; both are kept while nothing changes.

        `files`: the files of the workspace, where the caller has scanned it already.
        """
        with self._lock:
            graph = self._refresh(self._workspace.scan() if files is None else files, progress)
            key = (task, tuple(said))
            if self._ranked_for != key:
                self._order = rank(graph, find_focus(task, said)) if graph.paths else ()
                self._ranked_for = key
            return graph, self._order

    def _refresh(self, files: Sequence[FileInfo], progress: Progress | None) -> Graph:
        self._parserless = False
        current = {file.path: file for file in files}
        changed = [file for path, file in current.items() if self._files.get(path) != file]
        known = {path: found for path, found in self._symbols.items() if path in current}
        for done, (file, found) in enumerate(self._parse_all(changed), start=1):
            known[file.path] = found
            if progress is not None:
                progress(done, len(changed))
        if self._graph is None or known != self._symbols:
            self._graph, self._ranked_for = build_graph(known), None
        # Without a parser the files are still unknown, and are tried again next time.
        self._files, self._symbols = {} if self._parserless else current, known
        return self._graph

    def _parse_all(self, files: Sequence[FileInfo]) -> Iterator[tuple[FileInfo, Symbols]]:
        many = min(AT_ONCE, os.cpu_count() or 1) if len(files) > FEW else 1
        threads = ThreadPoolExecutor(many, thread_name_prefix="foveal-parse")
        try:
            yield from zip(files, threads.map(self._parse_file, files), strict=True)
        finally:  # a caller that stops early does not wait for the rest
            threads.shutdown(cancel_futures=True)

    def _parse_file(self, file: FileInfo) -> Symbols:
        language = language_of(file.path)
        if language is None:
            return Symbols()
        if file.size > LARGEST:
            return self._report(file, Symbols(refused=f"{file.size:,} bytes; up to {LARGEST:,} are parsed"))
        try:
            found = self._workspace.derived(file.path, "symbols", lambda text: self._parse(text, language))
        except OSError:
            self._parserless = True
            found = Symbols(refused="no process could be started to parse files")
        return Symbols() if found is None else self._report(file, found)

    def _parse(self, text: str, language: str) -> Symbols:
        if self._parserless:
            raise OSError("no process could be started for an earlier file")
        if self._hung.get(language, 0) >= HANGS:
            return Symbols(refused=f"{HANGS} other files made the {language} parser hang")
        found = (self._parsers or shared()).symbols(text, language)
        if found.hung:
            self._hung[language] = self._hung.get(language, 0) + 1
        return found

    def _report(self, file: FileInfo, found: Symbols) -> Symbols:
        if found.refused:
            self._workspace.refuse(Refusal(path=file.path, why=found.refused))
        return found


_SURVEYS: WeakKeyDictionary[Workspace, Survey] = WeakKeyDictionary()
_GUARD = Lock()


def survey(workspace: Workspace) -> Survey:
    """The survey of a workspace, the same one every time."""
    with _GUARD:
        found = _SURVEYS.get(workspace)
        if found is None:
            found = _SURVEYS[workspace] = Survey(workspace)
        return found
