"""A session in → the eight-layer prompt: one text, and the window of messages with the same content."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from foveal.presets.openscroll.prompt import prompt_text
from foveal.session.build.build import Made, Wanted, gather, make, stored
from foveal.session.state import Core
from foveal.session.build.material import Gathered
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


def build_prompt(core: Core, wanted: Wanted, fetch: Any) -> Prompt:
    """Build a window and write it as one text; both are within the budget."""
    wanted = replace(wanted, preset=PRESET)
    gathered = gather(core, wanted)
    with core.lock:
        made, text, budget = _fitting(core, wanted, gathered)
        window = stored(core, made, fetch)
    return Prompt(text=text, tokens=made.aim.meter.text(text), budget=budget, window=window)


def _fitting(core: Core, wanted: Wanted, gathered: Gathered) -> tuple[Made, str, int]:
    """A window whose text fits: titles and speakers may cost more than what is around messages."""
    made = make(core, wanted, gathered)
    budget = room = made.fitted.manifest.budget
    while True:
        text = prompt_text(made.fitted)
        # Tools go along with the text, as they do with the messages.
        over = made.aim.meter.text(text) + made.fitted.manifest.parts.get("tools", 0) - budget
        if over <= 0:
            return made, text, budget
        room -= max(over, room // 50 + 1)
        made = make(core, replace(wanted, budget=room), gathered)
