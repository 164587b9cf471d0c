"""Work out the budget of a window: what the caller passes, else the model's limit less the reply."""

from __future__ import annotations

import json

from foveal.catalog import ModelCard
from foveal.errors import InputError
from foveal.session.arguments import MOST, at_most

GIVEN_BUDGET = "budget"
"""In a build's record: the caller gave a budget; without one it is what the model's limit leaves."""


def budget_for(card: ModelCard, given: int | None, *, reply: int | None = None) -> int:
    """The given budget, else the model's limit less `reply`, by default the model's longest."""
    if given is not None:
        return given
    longest = reply if reply is not None else card.max_output or 0
    # A catalogue may list a reply as long as the window; then half of the window is input.
    room = card.context - longest if longest < card.context else card.context // 2
    return min(room, card.max_input or card.context)


def whole_limit(card: ModelCard, given: int | None) -> int:
    """The limit of a history: the budget that the caller gave for its windows, else the model's limit."""
    return card.context if given is None else given


def asked_reply(envelope: str) -> int | None:
    """The reply length that a request body asks for."""
    if not envelope:
        return None
    body = json.loads(envelope)
    config = body.get("generationConfig") or body.get("config") or {}
    for place, key in (
        (body, "max_completion_tokens"),
        (body, "max_output_tokens"),
        (body, "max_tokens"),
        (config, "maxOutputTokens"),
        (config, "max_output_tokens"),
    ):
        if isinstance(place, dict) and isinstance(place.get(key), int):
            return int(place[key])
    return None


def check_budget(budget: object) -> None:
    """Refuse a budget that is not an integer; the pipeline refuses one that is too small."""
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int)):
        raise InputError(
            f"`budget` is {budget!r}, not an integer number of tokens",
            remedy="pass an int, as in budget=8_000",
            field="budget",
        )
    if isinstance(budget, int):
        if budget < -MOST:
            raise InputError("`budget` is below 1", remedy="make `budget` 1 or more", field="budget")
        at_most(budget, "budget")
