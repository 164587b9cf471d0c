"""What findings of analysers contribute. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.sources.contributors.reports import _findings, analysis
from workspaces import request_for, words, write


def result(path: str, level: str | None, line: int = 3) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": path}, "region": {"startLine": line}}
    found = {"ruleId": "R1", "message": {"text": "bad\n  thing"}, "locations": [{"physicalLocation": place}]}
    return found if level is None else found | {"level": level}


def sarif(*results: object) -> str:
    return json.dumps({"version": "2.1.0", "runs": [{"results": list(results)}]})


def lines(root: Path, task: str = "", room: int = 10_000) -> list[str]:
    return [
        line for offer in analysis(request_for(root, task, room=room)) for line in offer.text.splitlines()
    ]


@pytest.mark.parametrize("path", ["scan.sarif", "out/x.sarif.json", "reports/deep/y.SARIF"])
def test_findings_are_ordered_by_level(tmp_path: Path, path: str) -> None:
    write(tmp_path, {path: sarif(result("a.py", "note"), result("b.py", "error"), result("c.py", None))})
    assert lines(tmp_path) == [
        "3 findings: 1 of level error, 1 of level warning, 1 of level note",
        "error b.py:3 R1: bad thing",
        "warning c.py:3 R1: bad thing",
        "note a.py:3 R1: bad thing",
    ]


def test_those_in_working_files_come_first(tmp_path: Path) -> None:
    found = sarif(result("a.py", "error"), result("src/my%20app.py", "note"))
    write(tmp_path, {"scan.sarif": found, "src/my app.py": "x", "app.py": "x"})
    request = request_for(tmp_path, active_files=["src/my app.py"])
    (offer,) = analysis(request)
    assert offer.text.splitlines()[1] == "note src/my app.py:3 R1: bad thing"


def test_an_absolute_path_is_shown_relative_to_the_workspace(tmp_path: Path) -> None:
    whole = (tmp_path.resolve() / "src/my app.py").as_uri()
    write(
        tmp_path, {"scan.sarif": sarif(result("b.py", "error"), result(whole, "note")), "src/my app.py": "x"}
    )
    assert lines(tmp_path, "see src/my app.py")[2] == "note src/my app.py:3 R1: bad thing"
    (offer,) = analysis(request_for(tmp_path, active_files=["src/my app.py"]))
    assert offer.text.splitlines()[1] == "note src/my app.py:3 R1: bad thing"


def test_an_ignored_report_is_read_and_all_stay_within_their_part(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "*.sarif", "a.sarif": sarif(*[result("a.py", "error")] * 400)})
    shown = lines(tmp_path, room=1_000)
    assert shown[-1].endswith("more lines]")
    assert words("\n".join(shown)) <= 100


@pytest.mark.parametrize("text", ["", "{", "[]", '{"runs": 3}', '{"runs": [{"results": [7]}]}', "[" * 10**5])
def test_what_is_not_valid_sarif_is_skipped(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"a.sarif": text})
    assert "FAILED" not in "\n".join(lines(tmp_path))


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["runs", "results", "locations", "level", "message", "text"]), inner
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_no_json_breaks_it(value: object) -> None:
    assert all(
        found.level in ("error", "warning", "note", "none") for found in _findings(json.dumps(value), "/work")
    )
