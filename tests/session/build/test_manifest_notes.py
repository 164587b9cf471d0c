"""What the record of a build has of its notes: enough to say which message each line came from."""

from __future__ import annotations

from pathlib import Path

from foveal import Foveal, Session
from foveal.pipeline.explain import explain

BUDGET = 1_500


def talk(session: Session, count: int) -> None:
    for n in range(count):
        session.add("user", f"Please change module_{n}.py so that order number {n} is paid. " * 2)
        session.add("assistant", f"Changed module_{n}.py: order {n} is paid now. " * 4)


def test_a_stored_manifest_has_the_notes_and_codes_of_the_window(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as fov:
        talk(session := fov.session("work", preset="foveal"), 40)
        built = session.build(budget=BUDGET).manifest
    with Foveal(tmp_path / "f.db") as fov:
        stored = fov.session("work").manifest()
    assert stored.notes == built.notes != ()
    by_message = [
        {seq: (d.code, d.because, d.numbers) for d in each.decisions for seq in range(d.first, d.last + 1)}
        for each in (built, stored)
    ]
    assert by_message[0] == by_message[1]


def test_a_build_that_keeps_its_layout_has_the_notes_of_the_build_that_made_it() -> None:
    with Foveal(":memory:") as fov:
        talk(session := fov.session("work", preset="foveal"), 40)
        session.build(budget=BUDGET)
        session.add("assistant", "Done.")
        kept = session.build(budget=BUDGET).manifest
        record = session._state.store.build(session._state.id)
        assert record
        assert '"since"' in record.manifest
        assert '"notes":[]' in record.manifest
        assert session.manifest().notes == kept.notes != ()


def test_why_quotes_the_lines_that_the_log_has_of_a_message() -> None:
    with Foveal(":memory:") as fov:
        talk(session := fov.session("work", preset="foveal"), 40)
        manifest = session.build(budget=BUDGET).manifest
        note = next(note for note in manifest.notes if note.kind == "log")
        seq = max(note.messages)
        found = session.why(session.entries()[seq].id)
    assert len(found.quoted) == len(note.lines_of(seq)) > 0
    assert found.quoted[0].startswith(f"[{seq + 1}")
    assert "of the log of messages" in found.text.replace("\n         ", " ")
    assert f"log of messages {note.first + 1}–{note.last + 1}" in explain(manifest)
