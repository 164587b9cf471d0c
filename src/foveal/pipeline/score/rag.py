"""Metadata in → how well a retrieved piece matched, 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping


def relevance(metadata: Mapping[str, object]) -> float:
    """`rag_match_metadata.relevance`, held between 0 and 1; 0 where there is none.

    >>> relevance({"rag_match_metadata": {"relevance": 1.7}})
    1.0
    """
    match = metadata.get("rag_match_metadata")
    found = match.get("relevance") if isinstance(match, Mapping) else None
    if not isinstance(found, int | float) or isinstance(found, bool):
        return 0.0
    return float(min(1, found)) if found > 0 else 0.0
