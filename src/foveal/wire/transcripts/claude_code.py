"""Read Claude Code transcripts into Anthropic messages and their times.

The log has a line for each block of a response, all with one message id, and a line for each result of
parallel calls; they are joined again. Side chains (other agents), meta lines (the program's own remarks) and
lines that are not messages (summaries, snapshots, titles, queues) are skipped.
"""

from __future__ import annotations

from typing import Any

from foveal.wire.formats.codec import JSON
from foveal.wire.times import seconds
from foveal.wire.transcripts.values import Found, Line, Recorded, Skipped, model_name

_ROLES = ("user", "assistant")
_SKIPPED = ("isSidechain", "isMeta", "isApiErrorMessage")


def is_ours(lines: list[Line]) -> bool:
    return any(_is_message(line.value) for line in lines)


def _is_message(value: JSON) -> bool:
    return value.get("type") in _ROLES and isinstance(value.get("message"), dict)


def read(lines: list[Line]) -> Recorded:
    """The main chain's messages in order, as the API received them."""
    found: list[Found] = []
    skipped: list[Skipped] = []
    model = ""
    response: tuple[Any, JSON] = (None, {})  # the id of the latest response, and the response
    results = False  # whether the latest message has only results
    for line in _kept(lines):
        message = _message(line)
        if message is None:
            why = "`message.content` is missing"
            skipped.append(Skipped(where=f"line {line.number}", why=why, line=line.number))
            continue
        model = model_name(line.value["message"].get("model")) or model
        key, only_results = line.value["message"].get("id"), _only_results(message)
        if message["role"] == "assistant" and key is not None and key == response[0]:
            # Its tools may have returned already: the rest of the response still belongs before them.
            _join(response[1], message)
            results = results and (only_results or found[-1].value is not response[1])
        elif results and only_results:
            _join(found[-1].value, message)
        else:
            date = seconds(line.value.get("timestamp"))
            found.append(Found(value=message, date=date, where=f"line {line.number}", line=line.number))
            results = only_results
            if message["role"] == "assistant":
                response = (key, message)
            elif message["role"] == "user" and not only_results:
                response = (None, {})
    return Recorded(format="anthropic", found=found, model=model, skipped=tuple(skipped))


def _kept(lines: list[Line]) -> list[Line]:
    """The messages that the user did not take back: of two prompts with one parent the later one counts."""
    messages = [line for line in lines if _is_message(line.value) and not any(map(line.value.get, _SKIPPED))]
    prompts = {_id(line, "parentUuid"): line for line in messages if _is_prompt(line)}
    dropped: set[str] = set()
    kept = []
    for line in messages:
        parent = _id(line, "parentUuid")
        replaced = parent and _is_prompt(line) and prompts[parent] is not line
        if replaced or (parent and parent in dropped):
            dropped.add(_id(line, "uuid"))
        else:
            kept.append(line)
    return kept


def _id(line: Line, key: str) -> str:
    id = line.value.get(key)
    return id if isinstance(id, str) else ""


def _is_prompt(line: Line) -> bool:
    return line.value["type"] == "user" and not _only_results(line.value["message"])


def _message(line: Line) -> JSON | None:
    """Role and content alone: the rest of a recorded response is bookkeeping."""
    message = line.value["message"]
    content = message.get("content")
    if not isinstance(content, str | list):
        return None
    return {"role": message.get("role", line.value["type"]), "content": content}


def _join(before: JSON, after: JSON) -> None:
    """Append the content of one message to that of another."""
    before["content"] = _blocks(before["content"])
    before["content"].extend(_blocks(after["content"]))


def _blocks(content: str | list[Any]) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _only_results(message: JSON) -> bool:
    content = message.get("content")
    if not isinstance(content, list) or not content:
        return False
    return all(isinstance(block, dict) and block.get("type") == "tool_result" for block in content)
