"""Which files are being worked on, and what of them is shown. Read the test names top to bottom."""

from __future__ import annotations

from pathlib import Path

import pytest

from foveal.sources.contributor import ContextRequest, Offer
from foveal.sources.contributors.files import files
from foveal.sources.working_set import find_working_set
from foveal.sources.workspace.values import Refusal
from foveal.window import Contributed
from workspaces import DAY, repository, request_for, words, write

LONG = "\n".join(f"value_{n} = {n}" for n in range(1, 401)) + "\n"


def paths(request: ContextRequest) -> list[str]:
    return [each.source_path for each in files(request) if isinstance(each, Offer)]


def shown(request: ContextRequest, path: str) -> Offer:
    return next(each for each in files(request) if isinstance(each, Offer) and each.source_path == path)


def absent(request: ContextRequest) -> dict[str, str]:
    return {each.source: each.because for each in files(request) if isinstance(each, Contributed)}


def test_open_files_come_first_then_mentioned_ones_then_changed_ones(tmp_path: Path) -> None:
    repository(tmp_path, dict.fromkeys(("old.py", "open.py", "said.py", "changed.py"), "a\n"))
    write(tmp_path, {"changed.py": "b\n"})
    request = request_for(tmp_path, said=["see said.py"], active_files=["open.py"])
    assert paths(request) == ["open.py", "said.py", "changed.py"]


def test_a_file_that_was_touched_within_a_day_is_taken_without_git_too(tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys(("a.py", "b.py", "c.py"), "a\n"), age=2 * DAY)
    write(tmp_path, {"late.py": "a\n"}, age=DAY / 2)
    write(tmp_path, {"latest.py": "a\n"}, age=5)
    assert paths(request_for(tmp_path)) == ["latest.py", "late.py"]


def test_a_word_of_the_task_brings_the_file_of_that_name(tmp_path: Path) -> None:
    write(tmp_path, {"src/fusion.py": "a\n", "src/rank.py": "b\n", "open.py": "c\n"})
    request = request_for(tmp_path, "How does the Fusion of scores work?", active_files=["open.py"])
    assert paths(request) == ["open.py", "src/fusion.py"]


@pytest.mark.parametrize("task", ["fusions", "con_fusion", "map it", "the index", "what notes", "from there"])
def test_a_word_that_is_longer_short_common_or_of_several_files_brings_none(
    tmp_path: Path, task: str
) -> None:
    names = ("fusion.py", "map.py", "a/index.js", "b/index.js", "notes.txt", "from.py", "there.py")
    assert paths(request_for(write(tmp_path, dict.fromkeys(names, "a\n")), task)) == []


def test_what_was_mentioned_last_comes_first(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "a\n", "b.py": "b\n"})
    assert paths(request_for(tmp_path, said=["a.py", "b.py", "and a.py again"])) == ["a.py", "b.py"]


def test_what_changed_stands_before_the_file(tmp_path: Path) -> None:
    repository(tmp_path, {"app.py": "one\ntwo\n"})
    write(tmp_path, {"app.py": "one\n2\n"})
    text = shown(request_for(tmp_path), "app.py").text
    assert text == "Changed since the last commit:\n@@ -1,2 +1,2 @@\n one\n-two\n+2\nNow:\none\n2\n"


def test_a_new_file_has_no_difference_to_show(tmp_path: Path) -> None:
    repository(tmp_path, {"app.py": "one\n"})
    write(tmp_path, {"new.py": "two\n"})
    assert shown(request_for(tmp_path), "new.py").text == "two\n"


def test_a_key_that_is_no_longer_in_a_file_is_not_in_its_difference_either(tmp_path: Path) -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n"
    repository(tmp_path, {"app.txt": key})
    write(tmp_path, {"app.txt": "none\n"})
    assert shown(request_for(tmp_path), "app.txt").text == "none\n"


def test_a_report_is_not_a_working_file_unless_it_is_mentioned(tmp_path: Path) -> None:
    write(tmp_path, {"coverage.xml": "<a/>", "reports/a.xml": "<a/>", "scan.sarif": "{}"}, age=5)
    assert paths(request_for(tmp_path)) == []
    assert paths(request_for(tmp_path, "why is coverage.xml empty")) == ["coverage.xml"]


def test_the_mentioned_lines_of_a_long_file_come_first(tmp_path: Path) -> None:
    write(tmp_path, {"app.py": LONG})
    text = shown(request_for(tmp_path, "why app.py:200", room=600), "app.py").text
    assert text.splitlines()[6] == "200| value_200 = 200"


def test_a_mentioned_name_in_a_long_file_is_shown(tmp_path: Path) -> None:
    write(tmp_path, {"app.py": LONG})
    text = shown(request_for(tmp_path, "what is value_311 in app.py", room=600), "app.py").text
    assert "value_311 = 311" in text


def test_all_of_them_stay_within_the_part_of_their_type(tmp_path: Path) -> None:
    write(tmp_path, {f"f{n}.py": LONG for n in range(20)})
    said = " ".join(f"f{n}.py" for n in range(20))
    offers = [each for each in files(request_for(tmp_path, said, room=5_000)) if isinstance(each, Offer)]
    assert len(offers) == 20
    assert sum(words(offer.text) for offer in offers) <= 0.4 * 5_000


def test_a_requested_file_may_use_the_room_that_others_leave(tmp_path: Path) -> None:
    repository(tmp_path, {"app.py": LONG, "lib.py": LONG})
    write(tmp_path, {"lib.py": f"{LONG}b = 1\n"})
    request = request_for(tmp_path, active_files=["app.py"], room=1_700)
    mine, other = (words(each.text) for each in files(request, spare=1_600) if isinstance(each, Offer))
    assert mine == words(LONG) > 0.4 * 1_700
    assert 60 < other <= 1_600 - mine


@pytest.mark.parametrize("room", [0, 1, 10, 59])
def test_without_room_for_one_file_none_is_offered_and_that_is_reported(tmp_path: Path, room: int) -> None:
    write(tmp_path, {"app.py": LONG})
    why = f"about {len(LONG) // 4:,} tokens, and its part has room for {room}: too few to show any of it"
    request = request_for(tmp_path, "app.py", room=room)
    assert (paths(request), absent(request)) == ([], {"app.py": why})


def test_a_file_that_the_user_names_is_shortened_rather_than_absent(tmp_path: Path) -> None:
    write(tmp_path, {"app.py": LONG, "lib.py": LONG})
    request = request_for(tmp_path, "lib.py", active_files=["app.py"], room=120)
    assert (paths(request), absent(request)) == (["app.py", "lib.py"], {})


def test_a_changed_file_without_any_room_left_is_reported(tmp_path: Path) -> None:
    repository(tmp_path, {"app.py": LONG, "lib.py": "a\n"})
    write(tmp_path, {"lib.py": "b\n"})
    request = request_for(tmp_path, "app.py", room=400)
    assert (paths(request), list(absent(request))) == (["app.py"], ["lib.py"])


def test_in_a_fresh_checkout_nothing_is_news(tmp_path: Path) -> None:
    write(tmp_path, {f"f{n}.py": "a\n" for n in range(20)}, age=5)
    write(tmp_path, {"g.py": "a\n"}, age=1)
    assert paths(request_for(tmp_path)) == []


def test_that_it_is_new_makes_no_list_of_words_work(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "a\n", "b.py": "b\n", "c.py": "c\n"})
    write(tmp_path, {"words.txt": "com\nnet\norg\n" * 40, "rows.json": "[1, 2]", "new.py": "x = 1\n"}, age=5)
    assert paths(request_for(tmp_path)) == ["new.py"]


def test_the_definition_of_what_the_task_names_is_whole_and_nothing_is_shown_twice(tmp_path: Path) -> None:
    body = "".join(f"    step_{n}(a, b)\n" for n in range(40))
    other = "".join(f"def other_{n}(a):\n    first(a)\n    return second(a)\n\n" for n in range(200))
    write(tmp_path, {"app.py": f"{other}def invoke_it(a):\n{body}"})
    request = request_for(tmp_path, "fix `invoke_it`", room=1_000)
    working_set = find_working_set(request, defined={"app.py": range(801, 842)})
    (offer,) = (each for each in files(request, working_set=working_set) if isinstance(each, Offer))
    lines = offer.text.splitlines()
    assert lines[:41] == [
        f"{n}| {line}" for n, line in enumerate(f"def invoke_it(a):\n{body}".splitlines(), 801)
    ]
    assert sum("def other_0(a)" in line for line in lines) == 1
    assert sum("invoke_it" in line for line in lines) == 1


def test_an_open_file_that_may_not_be_read_is_refused_with_a_reason(tmp_path: Path) -> None:
    write(tmp_path, {"root/app.py": "a\n", "outside.py": "secret"})
    refused: list[Refusal] = []
    request = request_for(
        tmp_path / "root", active_files=["../outside.py", ".env", "app.py"], refused=refused
    )
    assert paths(request) == ["app.py"]
    assert [(each.path, each.why) for each in refused] == [("../outside.py", "is outside the workspace")]


def test_a_path_that_is_only_spoken_of_is_never_looked_up_outside(tmp_path: Path) -> None:
    write(tmp_path, {"root/app.py": "a\n", "outside.py": "secret"})
    refused: list[Refusal] = []
    assert paths(request_for(tmp_path / "root", "see ../outside.py and /etc/passwd", refused=refused)) == []
    assert refused == []
