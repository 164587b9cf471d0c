"""What a build is offered from its workspace and from other sessions. Read the names as the spec."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from foveal import Foveal, Session
from foveal.errors import InputError
from foveal.events import FileRefused, Warned
from foveal.session.build.values import BuildRequest, Gathered
from foveal.session.build.workspace import OpenWorkspaces, contributions, from_other_sessions
from foveal.sources.contributor import ContextRequest, Contributor
from workspaces import NOW, words, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "root", {"app.py": "def login(): ...\n", "README.md": "Hello."})


def gathered(session: Session, root: Path, *own: Contributor, task: str = "") -> Gathered:
    request = BuildRequest(workspace=root, task=task, budget=10_000, now=NOW, contributors=own)
    return contributions(session._state, request, words)


def sources(found: Gathered) -> list[tuple[str, str]]:
    return [(each.type, each.source) for each in found.material]


def test_the_workspace_is_offered_with_what_the_conversation_names(session: Session, root: Path) -> None:
    session.add("user", "What is in app.py?")
    assert set(sources(gathered(session, root))) >= {
        ("PROJECT_DOCS", "README.md"),
        ("WORKING_FILES", "app.py"),
    }


@pytest.mark.parametrize("name", ["absent", "a\0b"])
def test_a_workspace_that_is_no_folder_is_refused(session: Session, root: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"not a (?:folder|path)"):
        gathered(session, root / name)


def test_no_memory_restates_what_the_document_of_a_workspace_says(
    fov: Foveal, session: Session, root: Path
) -> None:
    write(root, {"AGENTS.md": "Always use tabs in this project."})
    gathered(session, root)
    session.add("user", "Always use tabs in this project. I always use strong coffee.")
    assert [each.text for each in fov.profile().memories] == ["I always use strong coffee."]
    with pytest.raises(InputError, match="document"):
        fov.remember("Always use tabs in this project.")


def test_contributors_see_the_newest_messages_that_windows_may_show(session: Session, root: Path) -> None:
    for text in ("old", "forgotten", "asked last"):
        session.add("user", text)
    session.forget(session.entries()[1].id)
    looks: list[ContextRequest] = []
    gathered(session, root, looks.append)
    assert (looks[0].said, looks[0].task) == (("old", "asked last"), "asked last")


def test_contributors_may_fill_what_the_conversation_leaves(session: Session, root: Path) -> None:
    looks: list[ContextRequest] = []
    gathered(session, root, looks.append)
    session.add("user", "word " * 1_000)
    gathered(session, root, looks.append)
    assert [look.room for look in looks] == [8_500, 8_500 - session.entries()[0].tokens]


def test_a_piece_that_is_too_large_is_in_the_manifest_and_is_no_warning(session: Session, root: Path) -> None:
    request = BuildRequest(workspace=root, task="app.py", budget=10, now=NOW)
    found = contributions(session._state, request, words)
    assert "app.py" in [each.source for each in found.left_out]
    assert found.events == ()


def test_a_document_that_is_shown_as_a_file_is_no_warning(session: Session, root: Path) -> None:
    write(root, {"README.md": "# Door\n"})
    session.add("user", "shorten README.md")
    found = gathered(session, root)
    assert [type for type, source in sources(found) if source == "README.md"] == ["WORKING_FILES"]
    assert found.events == ()


def test_hits_of_other_sessions_are_offered_and_none_of_its_own(
    fov: Foveal, session: Session, root: Path
) -> None:
    fov.session("past").add("user", "The login of the portal uses OAuth with refresh tokens.")
    session.add("user", "How does the login of the portal use OAuth?")
    hits = [source for type, source in sources(gathered(session, root)) if type == "RETRIEVAL"]
    assert [hit.partition("/")[0] for hit in hits] == ["past"]


def test_the_eight_layers_get_hits_as_just_in_time_knowledge(fov: Foveal, session: Session) -> None:
    fov.session("past").add("user", "The login of the portal uses OAuth with refresh tokens.")
    (piece,) = from_other_sessions(session._state, "login of the portal with OAuth", words, now=NOW)
    assert (piece.kind, piece.layer, piece.type) == ("rag_generic_chunk", "L5_jit", "RETRIEVAL")
    assert 0.25 <= piece.salience <= 1


def test_what_has_nothing_to_do_with_the_task_is_not_offered(fov: Foveal, session: Session) -> None:
    fov.session("past").add("user", "Bake the bread for an hour.")
    assert from_other_sessions(session._state, "login of the portal with OAuth", words, now=NOW) == ()


def test_a_refused_file_is_reported_by_one_event(session: Session, root: Path) -> None:
    write(root, {".env": "KEY=1"})
    session.add("user", "hello")
    (event,) = gathered(session, root).events
    assert isinstance(event, FileRefused)
    assert (event.session, event.path) == ("work", ".env")
    assert gathered(session, root).events == ()


def test_a_contributor_that_fails_is_reported_and_the_rest_is_offered(session: Session, root: Path) -> None:
    def broken(_look: ContextRequest) -> str:
        raise ValueError

    session.add("user", "hello")
    found = gathered(session, root, broken)
    assert found.material
    assert [(each.source, each.verdict) for each in found.left_out] == [("broken", "left out")]
    assert [type(event) for event in found.events] == [Warned]


def test_a_workspace_is_kept_from_build_to_build_and_few_of_them(session: Session, tmp_path: Path) -> None:
    session.add("user", "hello")
    roots = [write(tmp_path / f"r{n}", {"a.txt": "x"}) for n in range(10)]
    for each in (roots[0], roots[0], *roots):
        gathered(session, each)
    kept = session._state.resources.part(OpenWorkspaces)._opened
    assert list(kept) == [str(each.resolve()) for each in roots[2:]]


def test_as_one_text_it_is_what_the_conversation_and_other_sessions_make_of_the_workspace(
    fov: Foveal, session: Session, root: Path
) -> None:
    fov.session("past").add("user", "The login of the portal uses OAuth with refresh tokens.")
    session.add("user", "How does the login of the portal in app.py use OAuth?")
    found = session.context(workspace=root, budget=10_000)
    assert "## [WORKING_FILES] app.py\ndef login(): ..." in found.text
    assert "## [RETRIEVAL] past/m1\nThe login of the portal" in found.text
    assert [each.current for each in found.categories if each.name == "DIALOG"] == [13]
    assert session.stats().builds == 0


def test_the_text_is_for_the_task_where_one_is_named(session: Session, root: Path) -> None:
    session.add("user", "hello")
    looks: list[ContextRequest] = []
    session.context(workspace=root, task="Fix it.", budget=10_000, contributors=[looks.append], now=NOW)
    assert (looks[0].task, looks[0].said, looks[0].now) == ("Fix it.", ("hello",), NOW)


def test_the_text_has_by_default_the_part_of_what_the_model_takes(session: Session, root: Path) -> None:
    session.add("user", "hello")
    assert session.context(workspace=root).budget == session.build().budget


def test_what_could_not_be_used_for_the_text_is_reported(fov: Foveal, session: Session, root: Path) -> None:
    heard: list[object] = []
    fov.subscribe(heard.append)
    session.context(workspace=root, budget=10_000, active_files=["../b.py"], now=NOW)
    assert [type(event) for event in heard] == [FileRefused]


def test_async_code_has_it_too(session: Session, root: Path) -> None:
    found = asyncio.run(session.acontext(workspace=root, task="login", budget=10_000))
    assert found.text == session.context(workspace=root, task="login", budget=10_000).text


def test_a_session_without_a_message_is_offered_the_workspace_all_the_same(
    session: Session, root: Path
) -> None:
    assert ("PROJECT_DOCS", "README.md") in sources(gathered(session, root))
