"""What an explanation promises: what is in, the nearest of what is not, and what would have kept it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import foveal
from choosing import chosen_tokens, unit_lists
from foveal import presets
from foveal.cli.demo import script
from foveal.pipeline.explain import NEAR_MOST, decision_about, detail, explain, lines, merged
from foveal.pipeline.sensitivity import Cut
from foveal.pipeline.values import Unit
from foveal.presets.reploid import pick_important
from foveal.window import Code, Contributed, Cost, Costs, Decision, Manifest, Score, Slot, Verdict

IN: Verdict = "kept"
OUT: Verdict = "left out"


def decision(
    at: int,
    verdict: Verdict,
    tokens: int,
    score: float | None = None,
    *,
    because: str = "",
    slot: str = "",
    code: Code | None = None,
) -> Decision:
    worth = None if score is None else Score(total=score, parts={"recency": score - 1, "role": 1.0})
    reason = because or f"importance {score}, {tokens:,} tokens"
    return Decision(
        first=at,
        last=at,
        verdict=verdict,
        code=code or ("selected" if verdict == IN else "not_selected"),
        tokens=tokens,
        because=reason,
        brief="" if because else f"{tokens:,} tokens",
        score=worth,
        slot=slot,
    )


def manifest(*decisions: Decision, budget: int = 100, slots: Sequence[Slot] = ()) -> Manifest:
    tokens = sum(d.tokens for d in decisions if d.verdict == IN)
    return Manifest(
        preset="reploid",
        counter="words",
        budget=budget,
        tokens=tokens,
        parts={"history": tokens},
        decisions=decisions,
        slots=tuple(slots),
    )


def keeps(found: Manifest, at: int) -> str:
    return Cut(found).keeps(found.decisions[at])


def test_a_left_out_turn_needs_more_tokens_or_a_score_over_the_worst_that_makes_room() -> None:
    found = manifest(decision(0, IN, 60, 80), decision(1, IN, 30, 50), decision(2, OUT, 35, 40))
    assert keeps(found, 2) == "needs at least 25 more tokens or a score over 50.0"


def test_one_that_is_larger_than_the_worst_must_beat_more_of_them() -> None:
    found = manifest(decision(0, IN, 60, 80), decision(1, IN, 30, 50), decision(2, OUT, 45, 40))
    assert keeps(found, 2) == "needs at least 35 more tokens or a score over 80.0"


def test_no_score_helps_against_what_must_be_in() -> None:
    pinned = decision(0, IN, 90, 80, because="pinned", code="pinned")
    assert keeps(manifest(pinned, decision(1, OUT, 35, 40)), 1) == "needs at least 25 more tokens"


def test_where_the_newest_stay_everything_newer_must_fit_too() -> None:
    out = [decision(at, OUT, 50, because=f"older {at}") for at in range(2)]
    found = manifest(*out, decision(2, IN, 90, because="among the newest turns that fit"))
    assert [keeps(found, at) for at in (0, 1)] == ["needs 90 more tokens", "needs 40 more tokens"]


def test_where_the_whole_had_room_the_slot_is_named() -> None:
    slot = Slot(name="DIALOG", floor=0, ideal=30, ceiling=30, allotted=30, used=20)
    kept = decision(1, IN, 20, because="DIALOG holds 20 tokens of 30", slot="DIALOG")
    found = manifest(decision(0, OUT, 25, because="DIALOG held 45", slot="DIALOG"), kept, slots=[slot])
    assert keeps(found, 0) == "needs 15 more tokens for DIALOG"


def test_what_was_left_out_on_request_needs_nothing_we_could_name() -> None:
    assert keeps(manifest(decision(0, OUT, 25, code="left_out"), decision(1, IN, 90, 3)), 0) == ""


@given(unit_lists(["pool"]), st.integers(0, 120))
def test_with_that_score_or_that_room_it_is_really_in(units: list[Unit], room: int) -> None:
    pick = pick_important(units, room)
    free = [unit for unit in units if not unit.forced]
    rows = [
        decision(unit.turn, IN if unit.turn in pick.kept else OUT, unit.tokens, unit.score.total + 2)
        for unit in free
    ]
    cut = Cut(manifest(*rows, budget=max(1, room)))
    for unit, row in zip(free, rows, strict=True):
        text = cut.keeps(row)
        if "a score over " in text:
            better = Score(total=float(text.rpartition(" ")[2]) - 2 + 0.1)
            others = [replace(each, score=better) if each is unit else each for each in units]
            assert unit.turn in pick_important(others, room).kept
        if text:
            more = int(text.replace("at least ", "").split()[1].replace(",", ""))
            assert chosen_tokens(units, pick.kept) + unit.tokens == max(1, room) + more


def test_of_what_is_left_out_the_best_are_shown_and_the_rest_is_one_line() -> None:
    out = [decision(at, OUT, 50, at + 1.0, because=f"reason {at}") for at in range(40)]
    text = explain(manifest(*out, decision(40, IN, 90, 99.0)))
    assert text.count("reason ") == NEAR_MOST
    assert "reason 39" in text
    assert text.endswith("and 28 more messages left out, 1,400 tokens, scores 1.0 to 28.0")


def test_everything_that_is_in_is_shown() -> None:
    kept = [decision(at, IN, 2, at + 1.0) for at in range(40)]
    shown = [line for line in lines(manifest(*kept)) if line.look == "kept"]
    assert len(shown) == 40


def folded(at: int, score: float | None = None) -> Decision:
    return replace(decision(at, IN, 0, score, because="quoted in the log", code="excerpted"), detail="folded")


def test_messages_covered_by_one_note_are_one_row_of_one_line() -> None:
    out = [decision(at, OUT, 9_000, because="low value") for at in range(100)]
    decisions = [folded(at, at % 3 or None) if at % 4 else out[at] for at in range(1, 100)]
    note = replace(decision(186, IN, 90_000, 9.0, because="a summary of 75 messages"), detail="folded")
    shown = [line.text for line in lines(manifest(*decisions, note, budget=10**6)) if line.look]
    assert shown == [
        "   messages  verdict    tokens  because",
        "75 of 2–100  folded          0  quoted in the log",
        " 24 of 5–97  left out  216,000  low value",
        "        187  folded     90,000  a summary of 75 messages",
    ]


def test_without_scores_and_slots_there_are_no_such_columns() -> None:
    text = explain(manifest(decision(0, OUT, 5, because="old"), decision(1, IN, 90, because="open turn")))
    assert text.splitlines()[3].split() == ["messages", "verdict", "tokens", "because"]


def test_the_plan_the_conflicts_and_the_metrics_stand_below() -> None:
    found = foveal.fit(list(script.messages()), model="gpt-5", budget=4_000, preset="omar", now=0.0)
    below = explain(found.manifest).partition("\nslot ")[2]
    assert below.split()[:6] == ["floor", "ideal", "ceiling", "allotted", "used", "borrowed"]
    assert f"conflicts: {len(found.manifest.conflicts):,}, " in below
    assert found.manifest.conflicts[0].type.replace("_", " ") in below
    assert "metrics: " in below


def test_one_message_is_explained_with_its_score_by_part() -> None:
    found = manifest(decision(0, IN, 90, 80.0), decision(1, OUT, 35, 40.0))
    assert [line.text for line in detail(found, 1)] == [
        "message 2, preset reploid",
        "verdict  left out",
        "because  importance 40.0, 35 tokens",
        "else     needs at least 25 more tokens or a score over 80.0",
        "tokens   35",
        "score    40.0",
        "         recency  39.0",
        "         role      1.0",
    ]
    assert decision_about(found, 2) is None


def test_neighbours_with_one_reason_are_one_run_that_has_what_they_share() -> None:
    run = [decision(at, OUT, 5, at, because="old", slot="DIALOG") for at in range(3)]
    assert list(merged(run)) == [
        Decision(first=0, last=2, verdict=OUT, code="not_selected", tokens=15, because="old", slot="DIALOG")
    ]


@pytest.mark.parametrize("preset", sorted(presets.PRESETS))
@pytest.mark.parametrize("budget", [600, 4_000, 16_000, 200_000])
def test_no_line_is_longer_than_80_columns_under_any_preset(preset: str, budget: int) -> None:
    window = foveal.fit(
        list(script.messages()), model="gpt-5", budget=budget, preset=preset, task="login", now=0.0
    )
    assert max(map(len, window.explain().splitlines())) <= 80


@given(
    st.lists(
        st.tuples(
            st.booleans(), st.integers(0, 10**7), st.none() | st.floats(0, 1e4), st.text("ab ,:", min_size=1)
        )
    ),
    st.integers(60, 120),
)
def test_every_width_is_kept_and_every_kept_message_shown(
    rows: list[tuple[bool, int, float | None, str]], width: int
) -> None:
    decisions = [
        decision(at, IN if kept else OUT, tokens, score, because=f"x{why}")
        for at, (kept, tokens, score, why) in enumerate(rows)
    ]
    found = manifest(*decisions, budget=10**9)
    shown = list(lines(found, width=width))
    assert max(len(line.text) for line in shown) <= width
    assert any(line.look == "kept" for line in shown) is any(kept for kept, *_ in rows)


BESIDE = """
attached context:
type           source                  tokens     weight ×  because
                                                  salience
WORKING_FILES  …rc/deep/in/it/auth.py   1,200  0.40 × 0.90  in
GIT            .                           50  0.10 × 0.50  left out: needed 50
                                                            tokens, 12 were left"""


def contributed(type: str, source: str, tokens: int, because: str, **more: float) -> Contributed:
    verdict = IN if because.endswith("tokens") else OUT
    brief = "" if verdict == IN else None
    return Contributed(
        type=type, source=source, tokens=tokens, verdict=verdict, because=because, brief=brief, **more
    )


def test_attached_context_has_a_table_of_what_is_in_and_why_not() -> None:
    file = contributed(
        "WORKING_FILES",
        "src/deep/in/it/auth.py",
        1_200,
        "weight 0.40 x salience 0.90, 1,200 tokens",
        weight=0.4,
        salience=0.9,
    )
    git = contributed("GIT", ".", 50, "needed 50 tokens, 12 were left", weight=0.1, salience=0.5)
    found = replace(
        manifest(decision(0, IN, 60, 80)), contributed=(replace(file, source="s" + file.source), git)
    )
    assert BESIDE in explain(found)


def beside(*pieces: Contributed) -> list[str]:
    found = replace(manifest(decision(0, IN, 60, 80)), contributed=pieces)
    return explain(found).partition("attached context:\n")[2].splitlines()[2:]


def test_a_piece_with_a_title_is_listed_by_it_on_one_line() -> None:
    known = contributed("entity", "thing-12", 9, "9 tokens", weight=1.0, salience=1.0)
    (line,) = beside(replace(known, title="Maria\nGonzalez"))
    assert line.split("  ")[:2] == ["entity", "Maria·Gonzalez"]


def test_of_material_that_is_left_out_the_nearest_twelve_are_listed_and_the_rest_counted() -> None:
    kept = [contributed("GIT", f"in{n}", 9, "9 tokens", weight=0.1, salience=0.5) for n in range(15)]
    out = [contributed("RETRIEVAL", f"out{n}", 9, "no room", weight=0.1, salience=n / 50) for n in range(49)]
    rows = beside(*out, *kept)
    assert sum(line.endswith("  in") for line in rows) == 15
    assert [line.split()[1] for line in rows if "no room" in line] == [f"out{n}" for n in range(37, 49)]
    assert rows[-1] == "… 37 more left out"


def test_one_more_than_twelve_is_listed_and_not_counted() -> None:
    out = [contributed("RETRIEVAL", f"out{n}", 9, "no room", weight=0.1, salience=0.1) for n in range(13)]
    assert len(beside(*out)) == 13


def test_a_contributor_that_failed_is_listed_however_many_pieces_are_left_out() -> None:
    out = [contributed("RETRIEVAL", f"out{n}", 9, "no room", weight=0.1, salience=0.9) for n in range(30)]
    failed = contributed("CUSTOM", "weather", 0, "it failed", weight=0.1, salience=0.0)
    assert any("weather" in line for line in beside(*out, failed))


@given(st.text(max_size=60), st.text(max_size=200))
def test_no_source_and_no_reason_makes_a_line_longer_than_the_width(source: str, because: str) -> None:
    piece = contributed("WORKING_FILES", source, 10**6, because, weight=0.4, salience=0.9)
    found = replace(manifest(decision(0, IN, 60, 80)), contributed=(piece,))
    assert max(len(line) for line in explain(found).split("\n")) <= 80


def test_what_the_window_costs_stands_beside_what_everything_would() -> None:
    spent = Costs(
        managed=Cost(tokens=1_000, cached=900, dollars=0.002),
        unmanaged=Cost(tokens=9_000, dollars=0.02),
        billed=Cost(tokens=1_010, dollars=0.0021),
    )
    out = explain(replace(manifest(decision(0, IN, 60, 80)), costs=spent)).splitlines()
    assert out[2:6] == [
        "  managed: 1,000 tokens, 900 cached, $0.0020",
        "  unmanaged: 9,000 tokens, $0.0200",
        "  saved: 90%, $0.0180",
        "  billed: 1,010 tokens, $0.0021",
    ]


def test_a_window_that_costs_more_than_everything_would_says_so() -> None:
    spent = Costs(managed=Cost(tokens=100, dollars=12.0), unmanaged=Cost(tokens=100, dollars=1.5))
    assert "  saved: nothing: it costs more" in explain(
        replace(manifest(decision(0, IN, 60, 80)), costs=spent)
    )


def test_without_prices_the_tokens_are_compared() -> None:
    spent = Costs(managed=Cost(tokens=25, requests=2), unmanaged=Cost(tokens=100, requests=2))
    out = explain(replace(manifest(decision(0, IN, 60, 80)), costs=spent)).splitlines()
    assert (out[2], out[4]) == ("  managed: 25 tokens in 2 requests", "  saved: 75%")
