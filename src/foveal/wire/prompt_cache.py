"""Set, move and remove the cache markers of Anthropic requests.

Anthropic caches the prefix that a marker ends, and finds it again from a marker at most 20 blocks later.
`mark_cache` therefore sets markers in these places, the most valuable first, as far as the limit allows in
addition to the client's own markers:

    the end of the newest message      the next request begins with all of it
    the end of system prompt or tools  they stay the same whichever messages are chosen
    the end of the stable prefix       it stays the same while the turns after it change
    the end of the previous request    a step of many parallel calls has more than 20 blocks

Markers are not content: without them a request is what it was, except that a bare text became a block.

`cap_markers` removes markers beyond the provider's limit. The latest stay, because they cover the most; of
those on tools and system prompt the last one stays, because that prefix survives a change of messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foveal.wire.jsontext import compact
from foveal.wire.markers import MARKER, can_be_marked, marked_blocks, remove_markers

_TOOLS, _SYSTEM, _FIRST = 0, 1, 2
_MARKABLE = frozenset({"text", "image", "document", "search_result", "tool_use", "tool_result"})
"""Block types that are known to accept a marker; unknown types get none."""


def mark_cache(
    pieces: Sequence[str], system: str, tools: str, *, most: int, stable: int = 0
) -> tuple[tuple[str, ...], str, str]:
    """Set markers until there are `most`; the first `stable` pieces are the stable prefix.

    >>> mark_cache(['{"role":"user","content":"hi"}'], "", "", most=4)[0]
    ('{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}',)
    """
    texts = [tools, system, *pieces]  # the order in which the provider reads them
    left = most - sum(1 for text in texts for _ in _markers(text))
    for position in _positions(texts, stable):
        if left <= 0:
            break
        marked = _marked(texts[position], _marker_before(texts[position + 1 :]), tools=position == _TOOLS)
        left -= marked != texts[position]
        texts[position] = marked
    return tuple(texts[_FIRST:]), texts[_SYSTEM], texts[_TOOLS]


def move_markers(pieces: Sequence[str], markers: Mapping[int, str]) -> tuple[str, ...]:
    """Mark the ends of pieces, by position, with the JSON markers of messages that were left out."""
    return tuple(
        _marked(piece, json.loads(markers[at])) if at in markers else piece for at, piece in enumerate(pieces)
    )


def markers_in(body: str) -> list[str]:
    """The markers in a message's JSON, as JSON."""
    return [compact(block[MARKER]) for block in _markers(body)]


def without_markers(request: Mapping[str, Any]) -> dict[str, Any]:
    """An Anthropic request as the provider reads it: without markers, and a single text block as its text."""
    bare: dict[str, Any] = json.loads(compact(request))
    remove_markers(bare)
    for message in bare.get("messages") or ():
        message["content"] = _bare_text(message.get("content"))
    return bare | ({"system": _bare_text(bare["system"])} if "system" in bare else {})


def _bare_text(content: Any) -> Any:
    match content:
        case [{"type": "text", "text": str(text), **more}] if not more:
            return text
        case _:
            return content


def _positions(texts: Sequence[str], stable: int) -> Iterator[int]:
    yield len(texts) - 1
    if not any(_markers(text) for text in texts[:_FIRST]):
        yield _SYSTEM if texts[_SYSTEM] else _TOOLS
    if stable:
        yield _FIRST + stable - 1
    yield from _end_of_previous(texts)


def _end_of_previous(texts: Sequence[str]) -> Iterator[int]:
    """The message that the newest response answered: the previous request ended there."""
    answered = False
    for position in range(len(texts) - 1, _FIRST - 1, -1):
        own = json.loads(texts[position]).get("role") == "assistant"
        if answered and not own:
            yield position
            return
        answered = answered or own


def _markers(text: str) -> list[dict[str, Any]]:
    return list(marked_blocks(json.loads(text))) if f'"{MARKER}"' in text else []


def _marker_before(after: Sequence[str]) -> Mapping[str, Any]:
    """A marker that may precede these texts: it must not expire before a later one."""
    following = next((block[MARKER] for text in after for block in _markers(text)), None)
    ttl = following.get("ttl") if isinstance(following, dict) else None
    return {"type": "ephemeral", "ttl": ttl} if ttl else {"type": "ephemeral"}


def _marked(text: str, marker: Mapping[str, Any], *, tools: bool = False) -> str:
    """The text with a marker on its last markable block; unchanged if that is marked or there is none."""
    value = json.loads(text) if text else []
    content = value.get("content") if isinstance(value, dict) else value
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    able = (
        block
        for block in reversed(blocks)
        if can_be_marked(block) and (tools or block.get("type") in _MARKABLE)
    )
    end = next(able, None)
    if end is None or MARKER in end:
        return text
    end[MARKER] = marker
    return compact({**value, "content": blocks} if isinstance(value, dict) else blocks)


def cap_markers(
    pieces: Sequence[str], system: str, tools: str, most: int | None
) -> tuple[tuple[str, ...], str, str]:
    """Remove markers until `most` are left; texts that lose none are returned as they are.

    >>> cap_markers(['{"text":"a","cache_control":{}}', '{"text":"b","cache_control":{}}'], "", "", 1)[0]
    ('{"text":"a"}', '{"text":"b","cache_control":{}}')
    """
    texts = [tools, system, *pieces]  # the order in which the provider reads them
    if most is not None:
        values = [json.loads(text) if f'"{MARKER}"' in text else None for text in texts]
        surplus = _surplus([list(filter(can_be_marked, marked_blocks(value))) for value in values], most)
        texts = [_without(value, text, surplus) for value, text in zip(values, texts, strict=True)]
    return tuple(texts[_FIRST:]), texts[_SYSTEM], texts[_TOOLS]


def _surplus(marked: Sequence[list[dict[str, Any]]], most: int) -> set[int]:
    """The ids of the marked blocks that lose their markers."""
    lasting = marked[_TOOLS] + marked[_SYSTEM]
    moving = [block for blocks in marked[_FIRST:] for block in blocks]
    surplus = max(0, len(lasting) + len(moving) - most)
    order = [*lasting, *moving]
    if 0 < len(lasting) <= surplus and most > 1:  # keep the last one on tools or system prompt
        order = [*lasting[:-1], *moving, lasting[-1]]
    return {id(block) for block in order[:surplus]}


def _without(value: Any, text: str, surplus: set[int]) -> str:
    taken = [block for block in marked_blocks(value) if id(block) in surplus or not can_be_marked(block)]
    for block in taken:
        del block[MARKER]
    return compact(value) if taken else text
