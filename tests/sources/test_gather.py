"""A contributor takes one function, and an error in one stops no other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from foveal.pipeline.material.placement import section
from foveal.sources.contributor import ContextRequest, Contributor, Offer, installed_contributors
from foveal.sources.gather import Gathered, gather
from foveal.sources.workspace.values import FileInfo
from foveal.sources.workspace.workspace import Workspace
from workspaces import installed, request_for, words, write


def weather(request: ContextRequest) -> str:
    return f"Rain, while you {request.task}"


def several(_request: ContextRequest) -> Iterator[Offer | str]:
    yield Offer(text="one", type="TICKETS", source_path="T-1", weight=0.3, salience=0.5)
    yield "two"


def broken(_request: ContextRequest) -> str:
    raise ValueError("the words of a secret file")


def half_broken(_request: ContextRequest) -> Iterator[str]:
    yield "what it had"
    raise KeyError


def asked(root: Path, *own: Contributor | str, task: str = "fix login") -> Gathered:
    return gather(request_for(root, task), own)


def pieces(found: Gathered) -> list[tuple[str, str, str]]:
    return [(each.type, each.source, each.text) for each in found.material]


def reasons(found: Gathered) -> list[tuple[str, str]]:
    return [(each.source, each.because) for each in found.left_out]


def test_one_function_is_a_contributor(tmp_path: Path) -> None:
    assert pieces(asked(tmp_path, weather)) == [("CUSTOM", "weather", "Rain, while you fix login")]


def test_it_may_offer_several_things_or_none(tmp_path: Path) -> None:
    found = asked(tmp_path, several, lambda _request: None)
    assert pieces(found) == [("TICKETS", "T-1", "one"), ("CUSTOM", "several", "two")]
    assert [(each.weight, each.salience) for each in found.material] == [(0.3, 0.5), (0.1, 0.0)]


def test_a_piece_costs_what_a_window_shows_of_it(tmp_path: Path) -> None:
    (piece,) = asked(tmp_path, weather).material
    assert piece.tokens == words(section(piece)) == words("## [CUSTOM] weather Rain, while you fix login")


def test_an_error_is_reported_without_its_message_and_stops_no_other(tmp_path: Path) -> None:
    found = asked(tmp_path, broken, half_broken, weather)
    assert [text for _, _, text in pieces(found)] == ["what it had", "Rain, while you fix login"]
    (first, why), (second, _) = reasons(found)
    assert (first, second) == ("broken", "half_broken")
    assert why.startswith("it failed: ValueError at test_gather.py:")


@pytest.mark.parametrize("given", [7, b"bytes", {"text": "x"}, [7], object()])
def test_what_is_not_an_offer_is_reported_by_its_type(tmp_path: Path, given: object) -> None:
    def strange(_request: ContextRequest) -> object:
        return given

    ((name, why),) = reasons(asked(tmp_path, strange))  # type: ignore[arg-type]
    assert name == "strange"
    assert why.startswith("it gave a ")


@pytest.mark.parametrize(
    ("field", "value"), [("text", None), ("source_path", Path("a.py")), ("type", ["x"]), ("weight", "0.3")]
)
def test_an_offer_with_an_invalid_field_is_reported_and_stops_no_other(
    tmp_path: Path, field: str, value: object
) -> None:
    def strange(_request: ContextRequest) -> Offer:
        return replace(Offer(text="x"), **{field: value})  # type: ignore[arg-type]

    found = asked(tmp_path, strange, weather)
    assert reasons(found) == [("strange", f"its `Offer.{field}` is a {type(value).__name__}")]
    assert [source for _, source, _ in pieces(found)] == ["weather"]


def test_a_weight_that_is_no_number_of_any_size_weighs_nothing(tmp_path: Path) -> None:
    (piece,) = asked(tmp_path, lambda _request: Offer(text="x", weight=float("inf"))).material
    assert piece.weight == 0.0


def test_a_document_that_is_worked_on_is_offered_once(tmp_path: Path) -> None:
    write(tmp_path, {"README.md": "# Door\n\nOpens.\n"}, age=5)
    for task, kind in (("shorten README.md", "WORKING_FILES"), ("fix login", "PROJECT_DOCS")):
        found = pieces(asked(tmp_path, task=task))
        assert [type for type, source, _ in found if source == "README.md"] == [kind]


def test_an_open_file_may_have_the_room_that_others_leave(tmp_path: Path) -> None:
    long = "\n".join(f"value_{n} = {n}" for n in range(200)) + "\n"
    request = request_for(write(tmp_path, {"app.py": long}), active_files=["app.py"], room=1_000)
    assert ("WORKING_FILES", "app.py", long) in pieces(gather(request))
    busy = pieces(gather(request, [lambda _request: Offer(text="x " * 500)]))
    assert long not in [text for _, _, text in busy]


def test_the_workspace_is_scanned_once_for_all_of_them(tmp_path: Path) -> None:
    class Counted(Workspace):
        scans = 0

        def scan(self) -> Sequence[FileInfo]:
            self.scans += 1
            return super().scan()

    place = Counted(write(tmp_path, {"a.py": "a = 1\n"}))
    gather(replace(request_for(tmp_path), workspace=place))
    assert place.scans == 1


def test_what_says_nothing_or_more_than_any_room_is_left_out_uncounted(tmp_path: Path) -> None:
    def much(_request: ContextRequest) -> list[str]:
        return [" \n", "x" * 10_000_000]

    assert reasons(asked(tmp_path, much)) == [
        ("much", "there is nothing in it"),
        ("much", "has 10,000,000 characters; all contributors together have room for 200,000"),
    ]


def test_a_partial_is_called_by_the_function_in_it(tmp_path: Path) -> None:
    assert pieces(asked(tmp_path, partial(weather)))[0][1] == "weather"


def test_an_installed_contributor_is_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path / "site", "contributor.weather = foveal_weather:rain")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert installed_contributors() == ("weather",)
    assert ("CUSTOM", "weather", "Rain") in pieces(asked(tmp_path, "weather"))


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("contributor.weather = foveal_weather:snow", "of the package `foveal-weather` cannot be used"),
        ("contributor.weather = foveal_weather:__name__", "is a str, not a function"),
        ("contributor.wind = foveal_weather:rain", "0 installed packages have a contributor 'weather'"),
    ],
)
def test_a_contributor_that_cannot_be_loaded_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str, why: str
) -> None:
    installed(tmp_path / "site", entry)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    ((name, because),) = reasons(asked(tmp_path, "weather"))
    assert name == "weather"
    assert why in because
