"""Say which numbers of a preset can be fitted to recorded use, and which values are tried for each.

Only numbers that decide what is in a window are here: scores, shares and sizes. Values are round, so that a
fitted preset is as readable as the default one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from types import MappingProxyType

Value = float | int | bool
Flat = Mapping[str, Value]
"""Numbers by their full names, with a dot before an entry of a table: `roles.tool`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One number, and the values that are tried for it."""

    key: str
    values: tuple[Value, ...]

    def options(self, current: Flat) -> Iterator[Flat]:
        """The changes to try, each a few numbers with their new values."""
        yield from ({self.key: value} for value in self.values if value != current[self.key])


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Numbers that share a sum, which stays the same: what one gains another gives."""

    keys: tuple[str, ...]
    steps: tuple[float, ...]
    least: float = 0.0

    def options(self, current: Flat) -> Iterator[Flat]:
        """The changes to try: each step from each number to each other one."""
        for source, target in permutations(self.keys, 2):
            for step in self.steps:
                if current[source] - step >= self.least:
                    whole = isinstance(current[source], int)
                    moved = (current[source] - step, current[target] + step)
                    less, more = (round(each, None if whole else 6) for each in moved)
                    yield {source: less, target: more}


def _tried(values: Mapping[str, Sequence[Value]]) -> tuple[Tried, ...]:
    return tuple(Tried(key=key, values=tuple(each)) for key, each in values.items())


_POINTS = (0.0, 5.0, 10.0, 20.0, 30.0, 45.0, 60.0)
_PRIORITIES = (100.0, 120.0, 140.0, 150.0, 160.0, 170.0, 180.0)
_WEIGHTS = (0.0, 0.1, 0.2, 0.4, 0.8)

TUNABLE: Mapping[str, tuple[Tried | Moved, ...]] = MappingProxyType(
    {
        "reploid": _tried(
            {
                "recency": (0.0, 20.0, 40.0, 60.0, 90.0),
                "roles.tool": _POINTS,
                "roles.assistant": _POINTS,
                "roles.user": _POINTS,
                "operation": _POINTS[:5],
                "error": _POINTS[:5],
                "length": (0.0, 5.0, 10.0, 20.0),
                "long_above": (250, 500, 1000, 2000, 4000),
            }
        ),
        "omar": _tried(
            {
                "base.tool_output": _PRIORITIES,
                "base.tool_input": _PRIORITIES,
                "base.chat_history_user": _PRIORITIES,
                "base.chat_history_assistant": _PRIORITIES,
                "most_linear": (0.0, 10.0, 20.0, 40.0, 80.0),
            }
        ),
        "fifth": (
            *_tried(
                {
                    "relevance_weight": _WEIGHTS,
                    "recency_weight": _WEIGHTS,
                    "references_weight": _WEIGHTS,
                    "explicit_weight": _WEIGHTS,
                    "verbose_tokens": (250, 500, 1_000, 2_000, 4_000, 8_000),
                }
            ),
            Moved(keys=("session", "working"), steps=(1_000, 2_000, 4_000), least=0),
        ),
        "penguin": (
            Moved(
                keys=("shares.CONTEXT", "shares.DIALOG", "shares.SYSTEM_OUTPUT"),
                steps=(0.05, 0.15, 0.3),
                least=0.0,
            ),
        ),
        "openscroll": _tried(
            {
                "prioritize_history": (False, True),
                "history_max_share": (0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
                "small_share": (0.5, 0.75, 1.0),
                "medium_share": (0.25, 0.35, 0.5, 0.7, 0.9),
                "large_share": (0.2, 0.3, 0.45, 0.6, 0.8),
                "huge_share": (0.15, 0.25, 0.4, 0.6, 0.8),
                "arc_share": (0.05, 0.1, 0.15, 0.25),
            }
        ),
        "foveal": _tried(
            {
                "near_share": (0.0, 0.1, 0.2, 0.35, 0.5),
                "worth.log_share": (0.2, 0.4, 0.6, 0.8),
                "worth.bent": (0.4, 0.7, 1.0),
                "worth.used": (1.0, 3.0, 6.0),
                "worth.faded": (0.1, 0.3, 1.0),
                "worth.restated": (0.2, 0.4, 0.8),
                "worth.asked": (0.0, 3.0, 6.0),
                "worth.failed": (0.0, 3.0, 6.0),
                "reach": (2.0, 4.0, 8.0, 16.0),
            }
        ),
    }
)
"""By preset, in the order in which the numbers are fitted."""


def nested(flat: Flat) -> dict[str, object]:
    """The same numbers as a table of tables.

    >>> nested({"recency": 20.0, "roles.tool": 30.0, "roles.user": 0.0})
    {'recency': 20.0, 'roles': {'tool': 30.0, 'user': 0.0}}
    """
    table: dict[str, object] = {}
    for key, value in flat.items():
        outer, _, name = key.rpartition(".")
        if outer:
            inner = table.setdefault(outer, {})
            assert isinstance(inner, dict)
            inner[name] = value
        else:
            table[name] = value
    return table
