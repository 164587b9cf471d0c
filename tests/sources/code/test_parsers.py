"""Parsing in other processes returns for every file in bounded time, whatever a grammar does."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from foveal.sources.code.parsers import Parsers

BAD = """
import os, re, sys
sys.path[:] = sys.argv[1:]
from foveal.sources.code import worker
real = worker.symbols
def symbols(text, language):
    if "HANG" in text:
        re.match("(a+)+$", "a" * 64 + "b")  # loops in C for longer than anybody lives, and lets no thread run
    if "CRASH" in text:
        os._exit(3)
    return real(text, language)
worker.symbols = symbols
worker.main()
"""
"""A worker whose grammar hangs and crashes on words."""


def bad() -> list[str]:
    return [sys.executable, "-I", "-c", BAD, *filter(None, sys.path)]


@pytest.fixture
def parsers() -> Iterator[Parsers]:
    """Parsers that can be made to hang and to crash."""
    made = Parsers(bad(), seconds=1.0)
    yield made
    made.close()


def names(parsers: Parsers, text: str) -> list[str]:
    return [each.name for each in parsers.symbols(text, "python").definitions]


def test_a_file_is_parsed_by_another_process() -> None:
    parsers = Parsers()
    assert names(parsers, "def open(): ...") == ["open"]
    parsers.close()


def test_a_file_that_hangs_in_c_is_given_up_in_time_and_says_so(parsers: Parsers) -> None:
    names(parsers, "a = 1")
    start = time.monotonic()
    found = parsers.symbols("HANG = 1", "python")
    assert (found.refused, found.hung) == ("parsing it took longer than 1 s", True)
    assert 1 <= time.monotonic() - start < 20


def test_after_a_hang_the_next_file_is_parsed(parsers: Parsers) -> None:
    parsers.symbols("HANG = 1", "python")
    assert names(parsers, "a = 1") == ["a"]


def test_a_file_that_crashes_the_parser_is_refused_and_the_next_is_parsed(parsers: Parsers) -> None:
    found = parsers.symbols("CRASH = 1", "python")
    assert (found.refused, found.hung) == ("the parser crashed on it", False)
    assert names(parsers, "a = 1") == ["a"]


def test_a_worker_that_never_starts_to_read_is_given_up_as_well() -> None:
    asleep = "print('ready', flush=True); import time; time.sleep(600)"
    parsers = Parsers([sys.executable, "-I", "-c", asleep], seconds=0.5)
    assert parsers.symbols("a = 1\n" * 100_000, "python").hung
    parsers.close()


@pytest.mark.parametrize("command", [["/no/such/program"], [sys.executable, "-c", "pass"]])
def test_where_no_process_starts_that_is_an_error_of_the_machine(command: list[str]) -> None:
    with pytest.raises(OSError, match=r"does not run|No such file|cannot find"):
        Parsers(command).symbols("a = 1", "python")


def test_a_frozen_program_is_not_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(OSError, match="no interpreter"):
        Parsers().symbols("a = 1", "python")


def test_a_process_is_used_again(parsers: Parsers) -> None:
    names(parsers, "a = 1")
    before = list(parsers._idle)
    names(parsers, "b = 1")
    assert parsers._idle == before
    assert len(before) == 1


def test_a_process_that_ended_meanwhile_is_replaced(parsers: Parsers) -> None:
    names(parsers, "a = 1")
    parsers._idle[0]._process.kill()
    parsers._idle[0]._process.wait()
    assert names(parsers, "b = 1") == ["b"]


def test_an_idle_process_ends_itself() -> None:
    hasty = BAD.replace("real = ", "worker.LAST = 0.2\nreal = ")
    parsers = Parsers([sys.executable, "-I", "-c", hasty, *filter(None, sys.path)])
    names(parsers, "a = 1")
    process, since = parsers._idle[0], time.monotonic()
    while process.alive and time.monotonic() - since < 30:
        time.sleep(0.05)
    assert not process.alive
    parsers.close()


def test_nothing_is_imported_from_the_folder_we_run_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tree_sitter.py").write_text("raise SystemExit('not ours')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    parsers = Parsers()
    assert names(parsers, "a = 1") == ["a"]
    parsers.close()


def test_threads_share_the_parsers(parsers: Parsers) -> None:
    texts = ["HANG = 1" if number == 7 else f"a{number} = 1" for number in range(40)]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda text: parsers.symbols(text, "python"), texts))
    assert [number for number, each in enumerate(found) if each.hung] == [7]
    assert [each.definitions[0].name for each in found if not each.refused] == [
        f"a{number}" for number in range(40) if number != 7
    ]


def test_closing_ends_every_process(parsers: Parsers) -> None:
    names(parsers, "a = 1")
    process = parsers._idle[0]
    parsers.close()
    assert not process.alive


def test_a_language_without_its_grammar_is_reported() -> None:
    gone = BAD.replace("real = ", "sys.modules['tree_sitter_go'] = None\nreal = ")
    parsers = Parsers([sys.executable, "-I", "-c", gone, *filter(None, sys.path)])
    assert parsers.symbols("package a", "go").refused == "the grammar for go is not installed"
    parsers.close()
