"""Build the eight-layer prompt of a session: one text, and a window with the same content as messages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from foveal.presets.openscroll.prompt import prompt_text
from foveal.session.build.build import Made, make, store_window
from foveal.session.build.material import gather
from foveal.session.build.values import BuildRequest, Gathered
from foveal.session.state import SessionState
from foveal.window import Slot, Window

PRESET = "openscroll"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The layers as one text; `window` has the same content as messages, ordered for a stable prefix."""

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


def build_prompt(state: SessionState, request: BuildRequest, fetch: Any) -> Prompt:
    """Build a window and write it as one text; both are within the budget."""
    request = replace(request, preset=PRESET)
    gathered = gather(state, request)
    with state.lock:
        made, text, budget = _fitting(state, request, gathered)
        window = store_window(state, made, fetch)
    return Prompt(text=text, tokens=made.outgoing.target.meter.text(text), budget=budget, window=window)


def _fitting(state: SessionState, request: BuildRequest, gathered: Gathered) -> tuple[Made, str, int]:
    """A window whose text fits: titles and speakers may cost more than the framing of messages."""
    made = make(state, request, gathered)
    budget = room = made.outgoing.fitted.manifest.budget
    while True:
        text = prompt_text(made.outgoing.fitted)
        # Tools are sent with the text as they are with messages.
        over = (
            made.outgoing.target.meter.text(text)
            + made.outgoing.fitted.manifest.parts.get("tools", 0)
            - budget
        )
        if over <= 0:
            return made, text, budget
        room -= max(over, room // 50 + 1)
        made = make(state, replace(request, budget=room), gathered)
