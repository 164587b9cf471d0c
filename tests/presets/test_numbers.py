"""What the numbers of a preset promise: all can be set, and an invalid one is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import foveal
from foveal import ConfigError, Foveal, presets
from foveal.errors import BudgetError
from foveal.presets.numbers import DEFAULTS, MOST, listed, overridden, resolved
from foveal.window import FIXED, Window

TALK = [
    {"role": ("user", "assistant")[n % 2], "content": f"look at module_{n}.py " * 5, "timestamp": 60.0 * n}
    for n in range(21)
]
ANSWERS_FIRST = {"reploid": {"recency": 0, "roles": {"assistant": 90}}}


def refused(name: str, table: Mapping[str, object]) -> ConfigError:
    with pytest.raises(ConfigError) as failure:
        overridden(DEFAULTS[name], table, "foveal.toml")
    return failure.value


def chosen(window: Window) -> set[object]:
    """The roles of what was chosen, beside what every window has."""
    return {TALK[each.first]["role"] for each in window.manifest.kept if each.code not in FIXED}


def test_a_table_replaces_what_it_names_and_nothing_else() -> None:
    found = overridden(DEFAULTS["fifth"], {"total": 8_000, "low_score": 1}, "foveal.toml")
    assert {
        key: number for key, number in leaves(found).items() if number != leaves(DEFAULTS["fifth"])[key]
    } == {
        "total": 8_000,
        "low_score": 1.0,
    }


def test_a_table_within_a_table_is_merged_entry_by_entry() -> None:
    found = overridden(DEFAULTS["reploid"], {"roles": {"tool": 25}}, "foveal.toml")
    assert leaves(found)["roles"] == {"system": 30.0, "user": 20.0, "assistant": 10.0, "tool": 25}


def test_the_numbers_of_key_messages_are_a_table_of_openscroll() -> None:
    found = resolved([("foveal.toml", {"openscroll": {"key_messages": {"decision": 12}}})])["openscroll"]
    assert leaves(found)["key_messages"] == {
        **leaves(DEFAULTS["openscroll"])["key_messages"],
        "decision": 12.0,
    }


def test_a_later_layer_wins_over_an_earlier_one_number_by_number() -> None:
    layers = [("user", {"reploid": {"keep": 4, "length": 1.0}}), ("project", {"reploid": {"length": 2.5}})]
    numbers = {number.key: number for number in listed("reploid", layers)}
    assert (numbers["keep"].value, numbers["keep"].origin) == (4, "user")
    assert (numbers["length"].value, numbers["length"].origin) == (2.5, "project")
    assert (numbers["error"].value, numbers["error"].origin) == (15.0, "default")


def test_an_integer_in_place_of_a_fraction_may_be_replaced_by_a_fraction() -> None:
    layers = [("user", {"reploid": {"length": 2}}), ("project", {"reploid": {"length": 2.5}})]
    assert leaves(resolved(layers)["reploid"])["length"] == 2.5


@pytest.mark.parametrize(
    ("name", "table", "what", "remedy"),
    [
        ("omar", {"reserv": 5}, "unknown number `reserv` (= 5)", "did you mean `reserve`?"),
        ("omar", {"base": {"tool_outptu": 5}}, "unknown number `base.tool_outptu` (= 5)",
         "did you mean `base.tool_output`?"),
        ("reploid", {"roles": {"developper": 5}}, "unknown number `roles.developper` (= 5)",
         "use one of `roles.system`, `roles.user`, `roles.assistant`, `roles.tool`"),
        ("penguin", {"minimums": {"DIALOGUE": 5}}, "unknown number `minimums.DIALOGUE` (= 5)",
         "did you mean `minimums.DIALOG`?"),
        ("omar", {"group_caps": {"histori": 5}}, "unknown number `group_caps.histori` (= 5)",
         "did you mean `group_caps.history`?"),
        ("openscroll", {"key_messages": {"decison": 5}}, "unknown number `key_messages.decison` (= 5)",
         "did you mean `key_messages.decision`?"),
    ],
)  # fmt: skip
def test_an_unknown_number_is_refused_with_the_nearest_known_one(
    name: str, table: Mapping[str, object], what: str, remedy: str
) -> None:
    error = refused(name, table)
    assert (error.what, error.remedy) == (f"foveal.toml: {what}", remedy)


@pytest.mark.parametrize(
    ("name", "table", "what", "valid"),
    [
        ("reploid", {"keep": 2.5}, "`keep` is 2.5", "an integer from 0 to 1,000,000,000,000"),
        ("reploid", {"keep": True}, "`keep` is True", "an integer from 0 to 1,000,000,000,000"),
        ("reploid", {"keep": 10**13}, "`keep` is 10000000000000", "an integer from 0 to 1,000,000,000,000"),
        ("reploid", {"length": "much"}, "`length` is 'much'", "a number from 0 to 1,000,000,000,000"),
        ("reploid", {"length": -1}, "`length` is -1", "a number from 0 to 1,000,000,000,000"),
        ("reploid", {"length": float("nan")}, "`length` is nan", "a number from 0 to 1,000,000,000,000"),
        ("reploid", {"length": float("inf")}, "`length` is inf", "a number from 0 to 1,000,000,000,000"),
        ("reploid", {"length": 10**400}, "`length` is 1000", "a number from 0 to 1,000,000,000,000"),
        ("reploid", {"roles": {"user": [1]}}, "`roles.user` is [1]", "a number from 0 to 1,000,000,000,000"),
        ("reploid", {"roles": 5}, "`roles` is 5", "a table"),
        ("reploid", {"error_words": 5}, "`error_words` is 5", "text in quotes"),
        ("reploid", {"target": 1.5}, "`target` is 1.5", "a number above 0, at most 1"),
        ("fifth", {"total": 0}, "`total` is 0", "an integer above 0, at most 1,000,000,000,000"),
        ("omar", {"exact_steps": 0}, "`exact_steps` is 0", "an integer above 0, at most 1,000,000,000,000"),
        ("omar", {"prefer_recent": 1}, "`prefer_recent` is 1", "true or false"),
        ("omar", {"recency": "cubic"}, "`recency` is 'cubic'", '"linear" or "exponential"'),
        ("omar", {"urgency": {"veryHigh": 5}}, "`urgency.veryHigh` would never match", "small letters"),
        ("openscroll", {"topic_share": 1.2}, "`topic_share` is 1.2", "a number from 0 to 1"),
        ("openscroll", {"key_messages": 3}, "`key_messages` is 3", "a table"),
        ("penguin", {"shares": {"DIALOG": 0.6}}, "the `shares` add up to 110%", "at most 100%"),
    ],
)  # fmt: skip
def test_an_invalid_value_is_refused_with_what_would_be_valid(
    name: str, table: Mapping[str, object], what: str, valid: str
) -> None:
    error = refused(name, table)
    assert error.what.startswith(f"foveal.toml: {what}")
    assert valid in error.remedy


def test_a_refusal_names_the_field() -> None:
    assert refused("reploid", {"roles": {"user": -1}}).field == "roles.user"
    assert refused("reploid", {"roles": {"usr": 1}}).field == "roles.usr"
    assert refused("penguin", {"shares": {"DIALOG": 0.6}}).field == "shares"


def test_the_words_of_a_users_trade_may_be_new() -> None:
    found = overridden(DEFAULTS["omar"], {"urgency": {"on_fire": 30}}, "foveal.toml")
    assert leaves(found)["urgency"] == {**leaves(DEFAULTS["omar"])["urgency"], "on_fire": 30}


@pytest.mark.parametrize("name", ["omarr", "sliding"])
def test_a_preset_without_numbers_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"numbers: there is no preset '{name}' that has numbers"):
        presets.find("omar", {name: {}})


def test_numbers_that_are_not_tables_are_refused() -> None:
    for numbers in (5, {"omar": 5}):
        with pytest.raises(ConfigError, match="is 5"):
            presets.find("", numbers)  # type: ignore[arg-type]


def test_without_numbers_the_presets_stay_the_same_objects() -> None:
    assert presets.find("omar") is presets.find("omar", {}) is presets.PRESETS["omar"]


def test_a_number_changes_a_fit_and_the_presets_stay_as_they_were() -> None:
    usual, other, again = (
        foveal.fit(TALK, budget=240, preset="reploid", numbers=numbers, now=2e3)
        for numbers in (None, ANSWERS_FIRST, None)
    )
    assert chosen(usual) == {"assistant", "user"}
    assert chosen(other) == {"assistant"}
    assert again.messages == usual.messages


def test_a_number_changes_what_a_session_builds_prunes_and_summarizes(tmp_path: Path) -> None:
    numbers = {"reploid": {**ANSWERS_FIRST["reploid"], "keep": 3}}
    with Foveal(tmp_path / "store.db", numbers=numbers) as fov:
        session = fov.session(model="gpt-5", preset="reploid")
        session.extend(TALK)
        assert chosen(session.build(budget=240)) == {"assistant"}
        session.restore()  # the build has pruned them
        assert len(session.summarize().ids) == len(TALK) - 3
        session.restore()
        gone = set(session.prune(200).ids)
        assert {e.role for e in session.entries()[1:-1] if e.id not in gone} == {"assistant"}


def test_a_store_is_not_created_for_invalid_numbers(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown number `role`"):
        Foveal(tmp_path / "store.db", numbers={"reploid": {"role": {}}})
    assert list(tmp_path.iterdir()) == []


def leaves(numbers: object) -> dict[str, object]:
    assert is_dataclass(numbers)
    found = {field.name: getattr(numbers, field.name) for field in fields(numbers)}
    return {key: leaves(value) if is_dataclass(value) else value for key, value in found.items()}


def any_number(key: str, value: object) -> st.SearchStrategy[object]:
    """A value of the right type; it may be out of range."""
    if isinstance(value, bool):
        return st.booleans()
    if isinstance(value, str):
        return st.sampled_from([value, "", "exponential", "exact", "deep", "error"])
    extremes = st.sampled_from([0, 1, MOST])
    if isinstance(value, int):
        return st.integers(0, 100_000) | extremes
    if isinstance(value, float):
        return st.floats(0, 1) | st.floats(0, 1e5) | extremes
    return st.fixed_dictionaries({}, optional={k: any_number(k, v) for k, v in value.items()})  # type: ignore[attr-defined]


def tables(numbers: object) -> st.SearchStrategy[dict[str, object]]:
    every = {key: any_number(key, value) for key, value in leaves(numbers).items() if key != "exact_steps"}
    some = st.sets(st.sampled_from(sorted(every)), max_size=6)
    return some.flatmap(lambda keys: st.fixed_dictionaries({key: every[key] for key in keys}))


@pytest.mark.parametrize("name", sorted(DEFAULTS))
@settings(max_examples=settings.default.max_examples // 2)
@given(data=st.data(), budget=st.integers(60, 900))
def test_numbers_that_are_accepted_make_windows_that_fit(name: str, data: st.DataObject, budget: int) -> None:
    table = data.draw(tables(DEFAULTS[name]))
    try:
        window = foveal.fit(TALK, budget=budget, preset=name, numbers={name: table}, task="module_3", now=2e3)
    except (ConfigError, BudgetError) as error:
        assert error.remedy  # noqa: PT017 — most are accepted
        return
    assert window.tokens <= budget
