"""The JSON texts of an Anthropic request → the same with cache markers where the next request will look.

That provider keeps only what a marker ends, and finds it again from a marker at most 20 blocks further on. So
these places, the first the most worth, as far as the limit allows beside the client's own markers:

    the end of the newest message     the next request begins with all of it
    the end of system prompt or tools they outlive every choice of messages
    the end of what holds still       it outlives a pause of the turns behind it
    the end of the request before     a step of many parallel calls has more blocks than are looked back

A marker is no content: without markers a request is what it was, save that a text alone became a block.

A request's cache markers → at most as many as the provider takes, none where it takes none.

The latest stay, for they cover the most; and of those on tools and system prompt the last one, for these
stay the same when the messages move.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foveal.wire.jsontext import compact
from foveal.wire.markers import MARKER, bears, marked_blocks

_TOOLS, _SYSTEM, _FIRST = 0, 1, 2
_BEARERS = frozenset({"text", "image", "document", "search_result", "tool_use", "tool_result"})
"""Blocks that surely take a marker; of what we do not know, nothing is asked."""


def mark_cache(
    pieces: Sequence[str], system: str, tools: str, *, most: int, still: int = 0
) -> tuple[tuple[str, ...], str, str]:
    """Set markers until there are `most`; so many of the pieces as `still` says hold still.

    >>> mark_cache(['{"role":"user","content":"hi"}'], "", "", most=4)[0]
    ('{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}',)
    """
    texts = [tools, system, *pieces]  # the order in which the provider reads them
    left = most - sum(1 for text in texts for _ in _markers(text))
    for place in _places(texts, still):
        if left <= 0:
            break
        marked = _marked(texts[place], _like(texts[place + 1 :]), tools=place == _TOOLS)
        left -= marked != texts[place]
        texts[place] = marked
    return tuple(texts[_FIRST:]), texts[_SYSTEM], texts[_TOOLS]


def move_markers(pieces: Sequence[str], places: Mapping[int, str]) -> tuple[str, ...]:
    """Mark the ends of these pieces with the markers, as JSON, of messages that are not here."""
    return tuple(
        _marked(piece, json.loads(places[at])) if at in places else piece for at, piece in enumerate(pieces)
    )


def markers_in(body: str) -> list[str]:
    """The markers in a message's JSON, as JSON."""
    return [compact(block[MARKER]) for block in _markers(body)]


def without_markers(request: Mapping[str, Any]) -> dict[str, Any]:
    """An Anthropic request as the provider reads it: no markers, and one bare block of text as that text."""
    bare: dict[str, Any] = json.loads(compact(request))
    for block in list(marked_blocks(bare)):
        del block[MARKER]
    for message in bare.get("messages") or ():
        message["content"] = _words(message.get("content"))
    return bare | ({"system": _words(bare["system"])} if "system" in bare else {})


def _words(content: Any) -> Any:
    match content:
        case [{"type": "text", "text": str(text), **more}] if not more:
            return text
        case _:
            return content


def _places(texts: Sequence[str], still: int) -> Iterator[int]:
    yield len(texts) - 1
    if not any(_markers(text) for text in texts[:_FIRST]):
        yield _SYSTEM if texts[_SYSTEM] else _TOOLS
    if still:
        yield _FIRST + still - 1
    yield from _sent_before(texts)


def _sent_before(texts: Sequence[str]) -> Iterator[int]:
    """The message that the newest answer was given to: the request before ended there."""
    answered = False
    for place in range(len(texts) - 1, _FIRST - 1, -1):
        own = json.loads(texts[place]).get("role") == "assistant"
        if answered and not own:
            yield place
            return
        answered = answered or own


def _markers(text: str) -> list[dict[str, Any]]:
    return list(marked_blocks(json.loads(text))) if f'"{MARKER}"' in text else []


def _like(after: Sequence[str]) -> Mapping[str, Any]:
    """A marker that may stand before these texts: none may be kept shorter than one behind it."""
    following = next((block[MARKER] for text in after for block in _markers(text)), None)
    kept = following.get("ttl") if isinstance(following, dict) else None
    return {"type": "ephemeral", "ttl": kept} if kept else {"type": "ephemeral"}


def _marked(text: str, marker: Mapping[str, Any], *, tools: bool = False) -> str:
    """The same with a marker at its end; as it is where there is one, or nothing that can bear it."""
    value = json.loads(text) if text else []
    content = value.get("content") if isinstance(value, dict) else value
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    able = (block for block in reversed(blocks) if bears(block) and (tools or block.get("type") in _BEARERS))
    end = next(able, None)
    if end is None or MARKER in end:
        return text
    end[MARKER] = marker
    return compact({**value, "content": blocks} if isinstance(value, dict) else blocks)


def cap_markers(
    pieces: Sequence[str], system: str, tools: str, most: int | None
) -> tuple[tuple[str, ...], str, str]:
    """Take markers off until `most` are left; texts that lose none come back as they are.

    >>> cap_markers(['{"text":"a","cache_control":{}}', '{"text":"b","cache_control":{}}'], "", "", 1)[0]
    ('{"text":"a"}', '{"text":"b","cache_control":{}}')
    """
    texts = [tools, system, *pieces]  # the order in which the provider reads them
    if most is not None:
        values = [json.loads(text) if f'"{MARKER}"' in text else None for text in texts]
        gone = _surplus([list(filter(bears, marked_blocks(value))) for value in values], most)
        texts = [_without(value, text, gone) for value, text in zip(values, texts, strict=True)]
    return tuple(texts[2:]), texts[1], texts[0]


def _surplus(marked: Sequence[list[dict[str, Any]]], most: int) -> set[int]:
    """Which of the marked blocks go, by identity."""
    lasting, moving = marked[0] + marked[1], [block for blocks in marked[2:] for block in blocks]
    surplus = max(0, len(lasting) + len(moving) - most)
    first_to_go = [*lasting, *moving]
    if 0 < len(lasting) <= surplus and most > 1:  # else the last lasting one would go with the others
        first_to_go = [*lasting[:-1], *moving, lasting[-1]]
    return {id(block) for block in first_to_go[:surplus]}


def _without(value: Any, text: str, gone: set[int]) -> str:
    taken = [block for block in marked_blocks(value) if id(block) in gone or not bears(block)]
    for block in taken:
        del block[MARKER]
    return compact(value) if taken else text
