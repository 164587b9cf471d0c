"""A workspace in → the graph of its code: files are parsed when they change, it is drawn when names do."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from weakref import WeakKeyDictionary, proxy

from foveal.sources.code.focus import spoken
from foveal.sources.code.graph import Graph, graph
from foveal.sources.code.languages import language_of
from foveal.sources.code.parsers import Parsers, shared
from foveal.sources.code.rank import ranked
from foveal.sources.code.symbols import Symbols
from foveal.sources.contributor import Progress
from foveal.sources.workspace.values import FileInfo, Refusal
from foveal.sources.workspace.workspace import Workspace

LARGEST = 400_000
"""Bytes of a file that is parsed: a larger one is generated, and its names are nobody's choice."""
AT_ONCE = 4
"""Files parsed at the same time, where there are as many cores."""
FEW = 8
"""Files that are parsed one after the other: another process would start for longer than it works."""
HANGS = 3
"""Files of one language whose parsing may hang in one workspace; the others of that language then wait for
nobody."""

Order = Sequence[tuple[int, int]]


class Survey:
    """What is known of the code of one workspace. Any number of threads may ask."""

    def __init__(self, workspace: Workspace, *, parsers: Parsers | None = None) -> None:
        # What is known of a workspace goes with it, and must not keep it.
        self._workspace: Workspace = proxy(workspace)
        self._parsers = parsers
        self._lock = Lock()
        self._seen: dict[str, FileInfo] = {}
        self._symbols: dict[str, Symbols] = {}
        self._graph: Graph | None = None
        self._asked: tuple[str, tuple[str, ...]] | None = None
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
        """The graph, and what of it matters for the task, best first; both are kept while nothing changes.

        `files`: those of the workspace, where somebody scanned it already.
        """
        with self._lock:
            found = self._looked(self._workspace.scan() if files is None else files, progress)
            asked = (task, tuple(said))
            if self._asked != asked:
                self._order = ranked(found, spoken(task, said)) if found.paths else ()
                self._asked = asked
            return found, self._order

    def _looked(self, files: Sequence[FileInfo], progress: Progress | None) -> Graph:
        self._parserless = False
        seen = {file.path: file for file in files}
        changed = [file for path, file in seen.items() if self._seen.get(path) != file]
        known = {path: found for path, found in self._symbols.items() if path in seen}
        for done, (file, found) in enumerate(self._parsed(changed), start=1):
            known[file.path] = found
            if progress is not None:
                progress(done, len(changed))
        if self._graph is None or known != self._symbols:
            self._graph, self._asked = graph(known), None
        # Without a parser nothing was learnt of the files: they are looked at again next time.
        self._seen, self._symbols = {} if self._parserless else seen, known
        return self._graph

    def _parsed(self, files: Sequence[FileInfo]) -> Iterator[tuple[FileInfo, Symbols]]:
        many = min(AT_ONCE, os.cpu_count() or 1) if len(files) > FEW else 1
        threads = ThreadPoolExecutor(many, thread_name_prefix="foveal-parse")
        try:
            yield from zip(files, threads.map(self._found, files), strict=True)
        finally:  # somebody who interrupts does not wait for the rest
            threads.shutdown(cancel_futures=True)

    def _found(self, file: FileInfo) -> Symbols:
        language = language_of(file.path)
        if language is None:
            return Symbols()
        if file.size > LARGEST:
            return self._told(file, Symbols(refused=f"{file.size:,} bytes; up to {LARGEST:,} are parsed"))
        try:
            found = self._workspace.derived(file.path, "symbols", lambda text: self._parse(text, language))
        except OSError:
            self._parserless = True
            found = Symbols(refused="no process could be started to parse files")
        return Symbols() if found is None else self._told(file, found)

    def _parse(self, text: str, language: str) -> Symbols:
        if self._parserless:
            raise OSError("no process could be started before")
        if self._hung.get(language, 0) >= HANGS:
            return Symbols(refused=f"{HANGS} other files made the {language} parser hang")
        found = (self._parsers or shared()).symbols(text, language)
        if found.hung:
            self._hung[language] = self._hung.get(language, 0) + 1
        return found

    def _told(self, file: FileInfo, found: Symbols) -> Symbols:
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
