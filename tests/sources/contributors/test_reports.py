"""What reports of tests contribute. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from foveal.sources.contributor import ContextRequest
from foveal.sources.contributors.reports import results
from foveal.sources.workspace.values import Refusal
from workspaces import request_for, words, write

JUNIT = """<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite>
<testcase classname="tests.test_app" name="test_ok"/>
<testcase classname="tests.test_app" name="test_skipped"><skipped/></testcase>
<testcase classname="tests.test_app" name="test_login"><failure message="AssertionError: 401 != 200
  more of it">trace</failure></testcase>
<testcase name="test_setup"><error>
  ConnectionError: refused
</error></testcase></testsuite></testsuites>"""
COVERAGE = """<coverage line-rate="0.91"><packages><package><classes>
<class filename="src/app.py" line-rate="0.5"/><class filename="src/lib.py" line-rate="0.25"/>
<class filename="src/other.py" line-rate="0"/></classes></package></packages></coverage>"""
LAUGHS = '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><testsuite>&b;</testsuite>'


def shown(request: ContextRequest) -> dict[str, list[str]]:
    return {offer.source_path: offer.text.splitlines() for offer in results(request)}


@pytest.mark.parametrize("path", ["junit.xml", "junit-3.11.xml", "test-results/a/b.xml", "reports/x.xml"])
def test_failures_are_shown_with_the_first_lines_of_their_messages(tmp_path: Path, path: str) -> None:
    write(tmp_path, {path: JUNIT})
    assert shown(request_for(tmp_path)) == {
        path: [
            "2 failed, 1 skipped, of 4 tests",
            "FAILED tests.test_app::test_login: AssertionError: 401 != 200   more of it",
            "FAILED test_setup: ConnectionError: refused",
        ]
    }


def test_reports_are_read_though_git_ignores_them(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "*.xml\ntest-results/\n", "junit.xml": JUNIT, "test-results/a.xml": JUNIT})
    assert set(shown(request_for(tmp_path))) == {"junit.xml", "test-results/a.xml"}


def test_pytest_remembers_what_failed_last(tmp_path: Path) -> None:
    path = ".pytest_cache/v/cache/lastfailed"
    write(tmp_path, {path: json.dumps({"tests/test_app.py::test_login": True})})
    assert shown(request_for(tmp_path))[path] == [
        "Failed when pytest last ran them:",
        "tests/test_app.py::test_login",
    ]


def test_coverage_lists_the_least_tested_working_files(tmp_path: Path) -> None:
    write(tmp_path, {"coverage.xml": COVERAGE, "src/app.py": "", "src/lib.py": "", "src/other.py": ""})
    assert shown(request_for(tmp_path, "test src/app.py and src/lib.py"))["coverage.xml"] == [
        "Tests run 91% of all lines",
        "25% of the lines of src/lib.py are tested",
        "50% of the lines of src/app.py are tested",
    ]


def test_all_of_them_share_the_part_of_their_type(tmp_path: Path) -> None:
    many = "".join(f'<testcase name="t{n}"><failure message="m"/></testcase>' for n in range(300))
    write(tmp_path, {"junit.xml": f"<testsuite>{many}</testsuite>", "coverage.xml": COVERAGE})
    offers = list(results(request_for(tmp_path, room=1_000)))
    assert [offer.text.splitlines()[0][:10] for offer in offers] == ["300 failed", "Tests run "]
    assert sum(words(offer.text) for offer in offers) <= 100


@pytest.mark.parametrize("path", ["junit.xml", "coverage.xml"])
@pytest.mark.parametrize("text", [LAUGHS, LAUGHS.lower(), "<!ENTITY x 'y'>" + JUNIT])
def test_a_report_with_a_document_type_is_refused_before_it_is_parsed(
    tmp_path: Path, path: str, text: str
) -> None:
    write(tmp_path, {path: text})
    refused: list[Refusal] = []
    assert shown(request_for(tmp_path, refused=refused)) == {}
    why = "has a document type or an entity in it, and is not parsed"
    assert refused == [Refusal(path=path, why=why)]


@pytest.mark.parametrize(
    "text", ["", "{", "<a>" * 100_000, "<testsuite>", "[1]", "null", "[" * 100_000, '<testcase name="x"/>']
)
def test_what_is_no_report_is_passed_over_in_no_time(tmp_path: Path, text: str) -> None:
    names = ("junit.xml", "coverage.xml", ".pytest_cache/v/cache/lastfailed")
    write(tmp_path, dict.fromkeys(names, text))
    start = time.process_time()
    assert "FAILED" not in str(shown(request_for(tmp_path)))
    assert time.process_time() - start < 2


def test_a_folder_of_reports_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"outside/junit.xml": JUNIT, "root/a.py": ""})
    (tmp_path / "root/reports").symlink_to(tmp_path / "outside")
    assert shown(request_for(tmp_path / "root")) == {}
