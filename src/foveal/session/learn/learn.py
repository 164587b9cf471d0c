"""Fit the numbers of a preset to what a store's own sessions used, and keep them only if they hold.

    find     the recorded turns that needed something a window may have left out
    reserve  the newest third of them
    choose   numbers on the others, see `choose`
    judge    numbers that do not keep more on the reserved turns are not offered

No model is asked, nothing is stored, and the same store gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from foveal import presets
from foveal.config import Tables, merged, nearest
from foveal.errors import ConfigError, InputError
from foveal.presets.numbers import listed
from foveal.presets.tunable import TUNABLE, Flat, nested
from foveal.session.budget import check_budget
from foveal.session.learn.choose import Outcome, Step, choose, compared, trials
from foveal.session.learn.examples import (
    KINDS_OF_WORK,
    Call,
    Example,
    Recording,
    Work,
    prepared,
    spread,
)
from foveal.session.learn.settings_file import SIGN, commented, write_numbers
from foveal.session.state import SessionState

RESERVED = 1 / 3
"""Share of the turns that the numbers are judged on and not fitted to: the newest."""
LEAST_TURNS = 30
"""Turns below which nothing can be learned: ten are then reserved."""
MOST_TURNS = 180
"""More turns than that are represented by so many of them, evenly spaced."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What was fitted, and whether it holds on turns that it was not fitted to."""

    preset: str
    work: Work | Literal[""]
    """The kind of work whose sessions were read; empty for all kinds."""
    sessions: int
    """Sessions that the turns are of."""
    found: int
    """Turns found; more than `MOST_TURNS` are represented by so many of them."""
    accepted: bool
    """Whether the fitted numbers are better on the reserved turns."""
    because: str
    fitted: Outcome
    """On the turns that the numbers were fitted to."""
    reserved: Outcome
    """On the newest turns, which they were not fitted to."""
    steps: tuple[Step, ...]
    """Each change that was tried and gained, in order, whether accepted or not."""
    numbers: Tables
    """The accepted numbers, as `Foveal(numbers=…)` and `fit(numbers=…)` take them; empty if none were."""

    def settings(self) -> str:
        """The accepted numbers as a settings file has them, with comments; empty if none were accepted."""
        return commented(self.preset, self.numbers, self._comment()) if self.accepted else ""

    def write(self, path: str | Path) -> bool:
        """Write the accepted numbers into a settings file, new or not; whether there were any.

        What the file has otherwise, comments included, stays as it is.
        """
        if not self.accepted:
            return False
        write_numbers(Path(path), self.preset, self.numbers, self._comment())
        return True

    def _comment(self) -> str:
        work = f"{self.work} " if self.work else ""
        sessions = f"{self.sessions:,} {work}session{'' if self.sessions == 1 else 's'}"
        before, after = self.reserved.before, self.reserved.after
        return (
            f"{SIGN} to {self.fitted.turns:,} turns of {sessions}. Of what the newest "
            f"{self.reserved.turns:,} needed, windows keep {after:.1%} instead of {before:.1%}."
        )


def learn(
    states: Sequence[SessionState],
    *,
    preset: str,
    work: str,
    budget: int | None,
    numbers: Tables | None,
    progress: Progress | None,
) -> Learned:
    """Fit the numbers of a preset to these sessions, oldest first."""
    check_budget(budget)
    name = _checked(preset or presets.DEFAULT, work)
    current = {each.key: each.value for each in listed(name, [("numbers", numbers or {})])}
    chosen, calls = _calls([Recording(state, budget) for state in states], work)
    base = presets.find(name, numbers)
    examples = list(prepared(spread(calls, MOST_TURNS), base))
    if len(examples) < LEAST_TURNS:
        raise _too_few(examples, calls, chosen, work)
    kept = _Kept(name, numbers or {}, progress)
    cut = len(examples) - int(len(examples) * RESERVED)
    fitted, reserved = examples[:cut], examples[cut:]
    kept.of = trials(TUNABLE[name], current) + 2  # type: ignore[arg-type]  # tunable ones are numbers
    flat, steps = choose(TUNABLE[name], current, lambda found: _mean(kept(found, fitted)))  # type: ignore[arg-type]
    on_fitted = compared(kept({}, fitted), kept(flat, fitted))
    on_reserved = compared(kept({}, reserved), kept(flat, reserved))
    kept.finish()
    accepted = bool(steps) and on_reserved.holds
    return Learned(
        preset=name,
        work=work,  # type: ignore[arg-type]  # it was checked
        sessions=len({example.session for example in examples}),
        found=len(calls),
        accepted=accepted,
        because=_because(steps, on_reserved),
        fitted=on_fitted,
        reserved=on_reserved,
        steps=steps,
        numbers={name: nested(flat)} if accepted else {},
    )


def _calls(recordings: Sequence[Recording], work: str) -> tuple[list[Recording], list[Call]]:
    """The sessions of that kind of work and their calls; one session at a time is in memory."""
    chosen: list[Recording] = []
    calls: list[Call] = []
    for recording in recordings:
        if not work or recording.work == work:
            chosen.append(recording)
            calls.extend(recording.calls())
        recording.release()
    return chosen, calls


class _Kept:
    """Measures numbers on examples; each pair once, and counts towards the progress."""

    def __init__(self, preset: str, numbers: Tables, progress: Progress | None) -> None:
        self._preset, self._numbers, self._progress = preset, numbers, progress
        self._found: dict[tuple[object, ...], list[float]] = {}
        self.of = 1
        self._done = 0

    def __call__(self, flat: Flat, examples: Sequence[Example]) -> list[float]:
        key = (len(examples), examples[0].session, examples[0].messages, *sorted(flat.items()))
        if key not in self._found:
            preset = presets.find(self._preset, merged(self._numbers, {self._preset: nested(flat)}))  # type: ignore[arg-type]
            self._found[key] = [example.kept(preset) for example in examples]
        self._done = min(self._done + 1, self.of)
        if self._progress:
            self._progress(self._done, self.of)
        return self._found[key]

    def finish(self) -> None:
        if self._progress and self._done < self.of:
            self._progress(self.of, self.of)


def _mean(shares: Sequence[float]) -> float:
    return sum(shares) / len(shares)


def _checked(preset: str, work: str) -> str:
    """The preset, if it has numbers that can be fitted; the kind of work must be one."""
    name = presets.find(preset).name
    if name not in TUNABLE:
        raise ConfigError(
            f"the preset {name!r} has no numbers that can be fitted",
            remedy=f"use one of {', '.join(f'`{each}`' for each in TUNABLE)}",
            field="preset",
        )
    if work and work not in KINDS_OF_WORK:
        raise InputError(
            f"there is no kind of work {work!r}", remedy=nearest(work, KINDS_OF_WORK), field="work"
        )
    return name


def _because(steps: Sequence[Step], reserved: Outcome) -> str:
    if not steps:
        return "no other numbers keep more of what the turns needed"
    figures = (
        f"{reserved.before:.1%} → {reserved.after:.1%} of what the {reserved.turns:,} reserved turns needed"
    )
    if reserved.holds:
        return f"the fitted numbers keep more: {figures}"
    if reserved.gain <= 0:
        return f"the fitted numbers keep no more: {figures}"
    return f"the gain may be chance: {figures}, with a standard error of {reserved.error:.1%}"


def _too_few(
    examples: Sequence[Example], calls: Sequence[Call], recordings: Sequence[Recording], work: str
) -> InputError:
    """There is too little history: with the numbers, and what would help."""
    kind = f" {work}" if work else ""
    one = len(recordings) == 1
    counted = f"{len(recordings):,}{kind} session{' has' if one else 's have'}"
    turns = f"{len(calls):,} turn{'' if len(calls) == 1 else 's'}"
    lost = (
        f", {len(calls) - len(examples):,} of them with no window so small"
        if len(calls) > len(examples)
        else ""
    )
    least = min((call.recording.size for call in calls), default=0)
    smaller = (
        f"; a `budget` below {least:,}, which more of the history would exceed, also gives more turns"
        if least
        else ""
    )
    return InputError(
        f"{counted} {turns} that needed something which a window may have left out{lost}; "
        f"at least {LEAST_TURNS} are needed",
        remedy=f"learn from more sessions, or once there are {LEAST_TURNS - len(examples):,} more such turns"
        f"{smaller}",
    )
