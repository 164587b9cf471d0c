"""`fit` as an operation: the window of messages or of a whole request body that fits a budget."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pydantic import ConfigDict, Field

from foveal.config import Tables
from foveal.operations.registry import Objects, Operation, Shape, Time
from foveal.session.fit import fit
from foveal.validation import LARGEST

OURS = frozenset({"budget", "preset", "task", "now"})
"""Fields that Foveal adds to the provider's request."""


class FitRequest(Shape):
    """A provider's request with options for Foveal; the provider's other fields are passed through."""

    model_config = ConfigDict(extra="allow", frozen=True)

    model: str = Field(default="", description="The model that will read the window.")
    budget: int | None = Field(
        default=None,
        strict=True,
        le=LARGEST,
        description="Tokens; by default the model's limit less the reply.",
    )
    task: str = Field(default="", description="What the window is for.")
    preset: str = Field(default="", description="How to choose; `foveal` unless given.")
    now: Time | None = Field(
        default=None, description="Seconds since 1970 or ISO 8601, for presets that look at ages."
    )


class FitResult(Shape):
    messages: Objects
    tokens: int
    budget: int
    manifest: dict[str, Any]


def window_fit(request: FitRequest, numbers: Tables | None = None) -> FitResult:
    """The window for the request's messages, and its manifest; `numbers` are the settings of all presets.

    >>> body = {"messages": [{"role": "user", "content": "hello"}], "budget": 50}
    >>> window_fit(FitRequest.model_validate(body)).messages
    [{'role': 'user', 'content': 'hello'}]
    """
    body = {key: value for key, value in request.model_dump(exclude_unset=True).items() if key not in OURS}
    window = fit(
        body,
        budget=request.budget,
        task=request.task,
        preset=request.preset,
        numbers=numbers,
        now=request.now or 0.0,
    )
    return FitResult(
        messages=window.messages,
        tokens=window.tokens,
        budget=window.budget,
        manifest=asdict(window.manifest),
    )


OPERATIONS = (
    Operation("window_fit", "The best window of messages or a request body that fits a budget.", window_fit),
)
