"""What the project's own document contributes. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.sources.contributor import Offer
from foveal.sources.contributors.docs import CAPS, beginning, docs
from workspaces import request_for, words, write

NAMES = ["PENGUIN.md", "AGENTS.md", "CLAUDE.md", "README.md"]


def offered(root: Path, room: int = 10_000, **caps: int) -> list[Offer]:
    given = {f"{name}.md": cap for name, cap in caps.items()}
    return list(docs(request_for(root, room=room), caps=given or CAPS))


@pytest.mark.parametrize("place", range(4))
def test_the_first_that_exists_is_taken_and_no_other(tmp_path: Path, place: int) -> None:
    write(tmp_path, {name: f"I am {name}" for name in NAMES[place:]})
    assert [offer.source_path for offer in offered(tmp_path)] == [NAMES[place]]


@pytest.mark.parametrize(("name", "cap"), list(zip(NAMES, (600, 500, 500, 300), strict=True)))
def test_each_has_its_cap(tmp_path: Path, name: str, cap: int) -> None:
    write(tmp_path, {name: "\n\n".join(f"paragraph {n}" for n in range(1_000))})
    (offer,) = offered(tmp_path)
    assert cap - 6 <= words(offer.text) <= cap


def test_the_list_and_the_caps_can_be_others(tmp_path: Path) -> None:
    write(tmp_path, {"HOUSE.md": "one two three\n\nfour five six seven eight", "README.md": "no"})
    (offer,) = offered(tmp_path, HOUSE=7)
    assert offer.text == "one two three\n[… 2 more lines]"


def test_it_is_cut_before_a_heading_that_would_stand_alone(tmp_path: Path) -> None:
    write(tmp_path, {"README.md": "# Title\n\nwords here\n\n## More\n\n" + "long " * 30})
    (offer,) = offered(tmp_path, README=14)
    assert offer.text == "# Title\n\nwords here\n[… 4 more lines]"


def test_a_block_of_code_is_shown_whole_or_not_at_all(tmp_path: Path) -> None:
    write(tmp_path, {"README.md": "intro\n\n```\na b c\n\nd e f\n```\n\nend of it all"})
    assert offered(tmp_path, README=9)[0].text == "intro\n[… 8 more lines]"
    assert "```\na b c\n\nd e f\n```" in offered(tmp_path, README=13)[0].text


def test_a_single_paragraph_that_is_too_long_is_cut_inside(tmp_path: Path) -> None:
    write(tmp_path, {"README.md": "word " * 5_000})
    (offer,) = offered(tmp_path, README=20)
    assert 10 < words(offer.text) <= 20


def test_an_empty_document_is_skipped_and_having_none_is_fine(tmp_path: Path) -> None:
    assert offered(tmp_path) == []
    write(tmp_path, {"AGENTS.md": " \n", "README.md": "hello"})
    assert [offer.source_path for offer in offered(tmp_path)] == ["README.md"]


def test_a_document_that_leads_out_of_the_workspace_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, {"outside.md": "secret", "root/README.md": "hello"})
    (tmp_path / "root/AGENTS.md").symlink_to(tmp_path / "outside.md")
    assert [offer.text for offer in offered(tmp_path / "root")] == ["hello"]


PARTS = st.sampled_from(
    ["# head\n", "word word\n", "\n", "```\n", "~~~\n", "## [x]\n", "\r\n", "\x0b", "x" * 50]
)


@given(st.lists(PARTS, max_size=40).map("".join), st.integers(0, 60))
def test_never_over_its_tokens(tmp_path_factory: pytest.TempPathFactory, text: str, tokens: int) -> None:
    request = request_for(tmp_path_factory.getbasetemp())
    assert words(beginning(text, tokens, request)) <= tokens
