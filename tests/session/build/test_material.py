"""The attached context that a build shows. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from foveal import Foveal, Session
from foveal.errors import ConfigError, InputError
from foveal.events import FileRefused
from foveal.sources.contributor import ContextRequest
from foveal.window import Manifest, Window


@pytest.fixture
def fov() -> Iterator[Foveal]:
    with Foveal(":memory:", embedder="none") as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "AGENTS.md").write_text("# House rules\nUse tabs in auth.py.\n")
    (tmp_path / "auth.py").write_text("def login(name):\n    return name\n")
    return tmp_path


def asked(fov: Foveal, preset: str = "recent") -> Session:
    session = fov.session("work", model="gpt-5", preset=preset)
    session.add("user", "Why does login in auth.py fail?")
    return session


def shown(window: Window) -> set[str]:
    return {each.source for each in window.manifest.contributed if each.verdict == "kept"}


@pytest.mark.parametrize("preset", ["recent", "penguin", "openscroll", "fifth", "omar", "reploid"])
def test_a_workspace_stands_beside_the_conversation_under_every_preset(
    fov: Foveal, folder: Path, preset: str
) -> None:
    window = asked(fov, preset).build(budget=4_000, workspace=folder)
    assert {"AGENTS.md", "auth.py"} <= shown(window)
    assert any("Use tabs in auth.py." in message["content"] for message in window.messages[:-1])
    assert window.messages[-1]["content"] == "Why does login in auth.py fail?"


def test_without_a_workspace_nothing_of_it_is_there(fov: Foveal) -> None:
    assert asked(fov).build(budget=4_000).manifest.contributed == ()


def test_one_function_is_a_contributor(fov: Foveal, folder: Path) -> None:
    def weather(look: ContextRequest) -> str:
        return f"It rains while {look.task}"

    window = asked(fov).build(budget=4_000, workspace=folder, contributors=[weather], task="we wait")
    assert "It rains while we wait" in window.messages[0]["content"]


def test_a_contributor_that_fails_stops_no_other_and_is_reported(fov: Foveal, folder: Path) -> None:
    def broken(_look: ContextRequest) -> str:
        raise OSError("no")

    window = asked(fov).build(budget=4_000, workspace=folder, contributors=[broken])
    assert {"AGENTS.md", "auth.py"} <= shown(window)
    assert any("OSError" in each.because for each in window.manifest.contributed)


def test_files_of_no_workspace_are_refused_with_a_remedy(fov: Foveal) -> None:
    with pytest.raises(InputError, match="without a `workspace`"):
        asked(fov).build(budget=4_000, active_files=["auth.py"])


def test_the_manifest_is_stored_with_every_piece(fov: Foveal, folder: Path) -> None:
    session = asked(fov)
    window = session.build(budget=4_000, workspace=folder)
    assert session.manifest().contributed == window.manifest.contributed != ()


def test_what_is_known_of_the_user_is_offered_where_the_preset_knows(fov: Foveal) -> None:
    fov.remember("My name is Ada.", kind="identity")
    reported = asked(fov, "openscroll").build(budget=4_000)
    assert reported.manifest.contributed[0].type == "identity"
    assert "My name is Ada." in reported.messages[0]["content"]
    assert asked(fov).build(budget=4_000, preset="recent").manifest.contributed == ()


def spoken_of(fov: Foveal, *names: str) -> Session:
    session = fov.session("talk", model="gpt-5", preset="openscroll")
    for name in names:
        session.add("user", f"My sister {name} moved to Lisbon. {name} loves it there.")
    session.add("user", f"When did {names[0]} move?")
    fov.settle()
    return session


def titles(manifest: Manifest) -> list[str]:
    return [each.title for each in manifest.contributed if each.type == "entity"]


def test_what_is_known_stands_under_its_name_in_the_note_and_in_the_explanation(fov: Foveal) -> None:
    window = spoken_of(fov, "Maria").build(budget=4_000)
    assert "## [entity] Maria\n" in window.messages[0]["content"]
    assert "Maria" in titles(window.manifest)
    assert re.search(r"^entity +Maria +", window.explain(), re.MULTILINE)


def test_a_stored_build_names_nothing_that_was_forgotten(fov: Foveal) -> None:
    session = spoken_of(fov, "Maria")
    session.build(budget=4_000)
    stored = session._state.store.build(session._state.id)
    assert stored is not None
    assert '"entity"' in stored.manifest
    assert "Maria" not in stored.manifest
    assert "Maria" in titles(session.manifest())
    fov.forget_thing(next(each.id for each in fov.profile().entities if each.name == "Maria"))
    assert "Maria" not in titles(session.manifest())


def test_an_open_file_that_is_missing_or_outside_is_reported(fov: Foveal, folder: Path) -> None:
    heard: list[FileRefused] = []
    fov.subscribe(lambda event: heard.append(event) if isinstance(event, FileRefused) else None)
    asked(fov).build(budget=4_000, workspace=folder, active_files=["auth.py", "crat.py", "../b.py", "."])
    assert [(each.path, each.why) for each in heard] == [
        ("crat.py", "names no file"),
        ("../b.py", "is outside the workspace"),
        (".", "names no file"),
    ]


def test_progress_is_called_for_every_file_of_the_first_build(fov: Foveal, folder: Path) -> None:
    reported: list[tuple[int, int]] = []
    session = asked(fov)
    for _ in range(2):
        session.build(budget=4_000, workspace=folder, progress=lambda *done: reported.append(done))
    assert reported == [(1, 2), (2, 2)]


def two_sessions(fov: Foveal, preset: str) -> Session:
    """A session, and another one that answers its question."""
    fov.session("shop").add("assistant", "The refund service rejects vouchers from before 2024.")
    session = fov.session("work", model="gpt-5", preset=preset)
    session.add("user", "Why does the refund service reject vouchers?")
    return session


@pytest.mark.parametrize("preset", ["penguin", "openscroll"])
def test_messages_of_other_sessions_are_retrieved_without_a_workspace(fov: Foveal, preset: str) -> None:
    window = two_sessions(fov, preset).build(budget=4_000)
    assert "from before 2024" in str(window.messages[:-1])
    assert [each.type for each in window.manifest.contributed if each.verdict == "kept"] == ["RETRIEVAL"]


def test_retrieval_has_its_weight_within_context_under_penguin(fov: Foveal) -> None:
    window = two_sessions(fov, "penguin").build(budget=4_000)
    (context,) = (slot for slot in window.manifest.slots if slot.name == "CONTEXT")
    assert window.manifest.contributed[0].weight == 0.25
    assert context.used > 0


def test_another_weight_of_retrieval_counts_without_a_workspace_too() -> None:
    with Foveal(":memory:", embedder="none", numbers={"penguin": {"weights": {"RETRIEVAL": 0.9}}}) as fov:
        window = two_sessions(fov, "penguin").build(budget=4_000)
        assert window.manifest.contributed[0].weight == 0.9


def test_messages_of_another_tenant_are_not_retrieved(tmp_path: Path) -> None:
    with Foveal(tmp_path / "shared.db", tenant="bob", embedder="none") as other:
        two_sessions(other, "penguin")
    with Foveal(tmp_path / "shared.db", tenant="ann", embedder="none") as fov:
        session = fov.session("work", model="gpt-5", preset="penguin")
        session.add("user", "Why does the refund service reject vouchers?")
        assert session.build(budget=4_000).manifest.contributed == ()


def test_a_contributor_that_is_not_installed_is_refused(fov: Foveal, folder: Path) -> None:
    session = asked(fov)
    for use in (session.build, session.context):
        with pytest.raises(ConfigError, match="there is no contributor 'weather'") as failure:
            use(budget=4_000, workspace=folder, contributors=["weather"])
        assert failure.value.field == "contributors"
