"""The operation that predicts: what it takes and gives back. The numbers are tested with `predict`."""

from __future__ import annotations

import re
from typing import Any

import pytest

from foveal.errors import InputError
from foveal.operations import run

JSON = dict[str, Any]
NINE = "2025-01-31T09:30:00Z"
TOPIC: JSON = {"slug": "jwt", "importance": 0.5, "peak_hour": 9, "last_engaged": NINE}


def predicted(presence: JSON | None = None, **given: Any) -> list[JSON]:
    found: list[JSON] = run("interactions_predict", {"presence": presence or {}, **given})["predictions"]
    return found


def test_a_prediction_has_null_for_what_is_unknown() -> None:
    here = {"active_conversation": "a"}
    assert predicted(here, conversations=[{"id": "a", "topics": ["jwt"]}]) == [
        {
            "type": "continue_conversation",
            "conversation_id": "a",
            "topic_slug": "jwt",
            "entity_id": None,
            "probability": 0.85,
            "required_bundles": ["conversation", "topic"],
        }
    ]


def test_times_may_be_numbers_or_texts() -> None:
    entity = {"id": "thing-1", "importance": 1.0, "last_mentioned": 1_738_315_800}
    assert [each["entity_id"] for each in predicted(entities=[entity], now=NINE)] == ["thing-1"]


def test_without_now_the_latest_time_of_the_request_is_now() -> None:
    old = {"slug": "old", "importance": 0.5, "last_engaged": "2025-01-20T09:30:00Z"}
    assert [each["topic_slug"] for each in predicted(topics=[TOPIC, old])] == ["jwt"]


def test_without_any_time_no_hour_is_a_peak_hour() -> None:
    assert predicted(topics=[{"slug": "jwt", "importance": 0.5, "peak_hour": 0}]) == []


def test_a_topic_without_a_peak_hour_has_none() -> None:
    assert predicted({"local_hour": 0}, topics=[{"slug": "jwt", "importance": 0.5}]) == []


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({"presence": {"local_hour": 24}}, "presence.local_hour"),
        ({"presence": {"where": "here"}}, "presence.where"),
        ({"presence": {}, "topics": [{"slug": "a", "importance": 1.1}]}, "topics[0].importance"),
        ({"presence": {}, "now": "soon"}, "now"),
        ({"presence": {}, "now": 1e300}, "now"),
    ],
)
def test_an_invalid_request_is_rejected_by_field(request_: JSON, field: str) -> None:
    with pytest.raises(InputError, match=re.escape(field)):
        run("interactions_predict", request_)
