"""A session in → the eight-layer prompt: one text, and the window of messages with the same content."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from foveal.presets.openscroll.prompt import prompt_text
from foveal.session.build.build import BuildRequest, Made, gather, make, store_window
from foveal.session.build.material import Gathered
from foveal.session.state import SessionState
from foveal.window import Slot, Window

PRESET = "openscroll"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The layers in order as one text; `window` has the same as messages, in the order of a stable prefix."""

    text: str
    tokens: int
    """Of the text."""
    budget: int
    window: Window

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The same content as messages."""
        return self.window.messages

    @property
    def layers(self) -> tuple[Slot, ...]:
        """What each layer was allotted and uses."""
        return self.window.manifest.slots


def build_prompt(state: SessionState, wanted: BuildRequest, fetch: Any) -> Prompt:
    """Build a window and write it as one text; both are within the budget."""
    wanted = replace(wanted, preset=PRESET)
    gathered = gather(state, wanted)
    with state.lock:
        made, text, budget = _fitting(state, wanted, gathered)
        window = store_window(state, made, fetch)
    return Prompt(text=text, tokens=made.target.meter.text(text), budget=budget, window=window)


def _fitting(state: SessionState, wanted: BuildRequest, gathered: Gathered) -> tuple[Made, str, int]:
    """A window whose text fits: titles and speakers may cost more than what is around messages."""
    made = make(state, wanted, gathered)
    budget = room = made.fitted.manifest.budget
    while True:
        text = prompt_text(made.fitted)
        # Tools go along with the text, as they do with the messages.
        over = made.target.meter.text(text) + made.fitted.manifest.parts.get("tools", 0) - budget
        if over <= 0:
            return made, text, budget
        room -= max(over, room // 50 + 1)
        made = make(state, replace(wanted, budget=room), gathered)
