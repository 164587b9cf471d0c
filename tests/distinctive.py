"""Messages of every format with a random token in every text field, and how bytes are searched for them.

A token is sixteen random letters and digits around a mark. What is forgotten is searched for whole tokens,
and for their beginnings, which survive where an index stems or a window cuts a word.
"""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from foveal.model import Format

JSON = dict[str, Any]
FORMATS: tuple[Format, ...] = ("openai", "responses", "anthropic", "gemini", "plain")
MARK = "zqkv"
HEAD = 10
"""Random characters before the mark: where one of these words is left, so are they."""
_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
_TOKEN = re.compile(rf"[a-z][a-z0-9]{{{HEAD - 1}}}{MARK}[a-z0-9]{{6}}", re.IGNORECASE)
_SENTENCES = (
    "We decided to use {} for the queue.",
    "Always run {} before you push, and never touch {}.",
    "My name is {} and I live in {}.",
    "I prefer {} over {}. Please remember that.",
    "No, use {} instead of {}.",
    "Is {} still open? Who owns {}?",
    "Error: {} failed with exit code 1 in src/{}.py",
    "FAILED tests/{}.py::test_{} - AssertionError: {}",
    "{} is deployed to {} by the team {}.",
    "Ask {} about {}; she works at {}.",
    "Task: rename {} to {}.",
    "It fails again: {}. Fixed: {} works now.",
    "Zwölf Boxkämpfer jagen {} über 東京{}. \u200b\U0001f600",
    "a NUL \0 in {} and half a surrogate \ud800 in {}",
    "{}\n```bash\n./{} --key {}\n```\n",
)


class Tokens:
    """Gives out tokens and sentences with them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def __call__(self) -> str:
        letters = self.random.choices(_ALPHABET, k=HEAD + 5)
        word = f"{self.random.choice(_ALPHABET[:26])}{''.join(letters[: HEAD - 1])}{MARK}"
        word += "".join(letters[HEAD - 1 :])
        return self.random.choice((word, word, word.capitalize(), word.upper()))

    def text(self) -> str:
        if self.random.random() < 0.02:
            return "\n".join(self.sentence() for _ in range(120))
        return " ".join(self.sentence() for _ in range(self.random.randint(1, 3)))

    def sentence(self) -> str:
        return re.sub(r"\{\}", lambda _: self(), self.random.choice(_SENTENCES))

    def tree(self, depth: int = 2) -> Any:
        """Nested JSON."""
        if not depth:
            return self.random.choice((self(), 7, None, True))
        if self.random.random() < 0.3:
            return [self.tree(depth - 1) for _ in range(2)]
        return {self(): self.tree(depth - 1), "path": f"src/{self()}.py", "n": 3}

    def name(self) -> str:
        """The name of a tool, sometimes one that no provider accepts."""
        return self.random.choice((f"run_{self()}", self(), f"mcp {self()}/é", f"{self()}{self() * 4}"))

    def arguments(self) -> str:
        return self.random.choice((json.dumps(self.tree()), f"{{{self()}: not json", json.dumps(self()), ""))


def shapes(format: Format, tokens: Tokens) -> list[JSON]:
    """The messages of one shape: a message, or calls with their results."""
    makers: dict[Format, Sequence[Callable[[Tokens], list[JSON]]]] = {
        "openai": _OPENAI,
        "responses": _RESPONSES,
        "anthropic": _ANTHROPIC,
        "gemini": _GEMINI,
        "plain": _PLAIN,
    }
    return tokens.random.choice(makers[format])(tokens)


def _picture(t: Tokens) -> str:
    return base64.b64encode(f"\x89PNG{t()}".encode()).decode()


def _openai_calls(t: Tokens, *, answered: bool = True, twice: bool = False) -> list[JSON]:
    ids = [f"call_{t()}", f"call_{t()}"]
    ids = [ids[0], ids[0]] if twice else ids
    calls = [
        {"id": id, "type": "function", "function": {"name": t.name(), "arguments": t.arguments(), t(): t()}}
        for id in ids
    ]
    results = [{"role": "tool", "tool_call_id": id, "content": t.text(), "name": t()} for id in ids]
    said = {
        "role": "assistant",
        "content": t.random.choice((None, "", t.text())),
        "tool_calls": calls,
        t(): t(),
    }
    return [said, *(results if answered else ())]


_OPENAI: Sequence[Callable[[Tokens], list[JSON]]] = (
    lambda t: [{"role": "user", "content": t.text(), "name": t()}],
    lambda t: [{"role": "assistant", "content": t.text(), "refusal": t(), "annotations": [{t(): t()}]}],
    lambda t: [{"role": "system", "content": t.text(), "x": t.tree()}],
    lambda t: [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": t.text(), t(): t()},
                {
                    "type": "image_url",
                    "image_url": {"url": f"https://{t()}.example/{t()}.png", "detail": "low"},
                },
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_picture(t)}"}},
                {"type": "file", "file": {"filename": f"{t()}.pdf", "file_id": f"file-{t()}"}},
            ],
        }
    ],
    lambda t: [{"role": "user", "content": [{"type": f"kind_{t()}", t(): t.tree()}]}],
    _openai_calls,
    lambda t: _openai_calls(t, answered=False),
    lambda t: _openai_calls(t, twice=True),
    lambda t: _openai_calls(t)[1:],
    lambda t: [{"role": "assistant", "content": None, "tool_calls": [], t(): t()}],
    lambda t: [
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": (n := t.name()), "arguments": t.arguments()},
        },
        {"role": "function", "name": n, "content": t.text()},
    ],
)


def _response_call(t: Tokens, *, answered: bool = True) -> list[JSON]:
    id = f"call_{t()}"
    call = {
        "type": "function_call",
        "id": f"fc_{t()}",
        "call_id": id,
        "name": t.name(),
        "arguments": t.arguments(),
    }
    result = {"type": "function_call_output", "call_id": id, "output": t.text(), "id": f"fco_{t()}"}
    return [call, result] if answered else [call]


def _response_between(t: Tokens) -> list[JSON]:
    """Two calls, and their outputs after other items."""
    said = {"type": "message", "role": "user", "content": t.text()}
    thought = {"type": "reasoning", "id": f"rs_{t()}", "summary": [], "encrypted_content": t()}
    (call, output), (other, its) = _response_call(t), _response_call(t)
    return [call, other, said, its, thought, {**said, "content": t.text()}, output]


_RESPONSES: Sequence[Callable[[Tokens], list[JSON]]] = (
    lambda t: [{"type": "message", "role": "user", "content": t.text(), "id": f"msg_{t()}"}],
    lambda t: [
        {
            "type": "message",
            "role": "assistant",
            "id": f"msg_{t()}",
            "status": "completed",
            "content": [
                {"type": "output_text", "text": t.text(), "annotations": [{"url": f"https://{t()}"}]}
            ],
        }
    ],
    lambda t: [
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": t.text()},
                {"type": "input_image", "image_url": f"https://{t()}.example/{t()}.png", "detail": "auto"},
                {"type": "input_file", "filename": f"{t()}.pdf", "file_id": f"file-{t()}"},
            ],
        }
    ],
    lambda t: [
        {
            "type": "reasoning",
            "id": f"rs_{t()}",
            "summary": [{"type": "summary_text", "text": t.text()}],
            "encrypted_content": t(),
        },
        *_response_call(t),
    ],
    _response_call,
    lambda t: _response_call(t, answered=False),
    lambda t: _response_call(t)[1:],
    _response_between,
    lambda t: [
        {
            "type": "web_search_call",
            "id": f"ws_{t()}",
            "status": "completed",
            "action": {"query": t(), t(): t()},
        }
    ],
)


def _anthropic_calls(t: Tokens, *, answered: bool = True) -> list[JSON]:
    ids = [f"toolu_{t()}", f"toolu_{t()}"]
    blocks: list[JSON] = [
        {"type": "thinking", "thinking": t.text(), "signature": t()},
        {"type": "redacted_thinking", "data": t()},
        {"type": "text", "text": t.text()},
        *({"type": "tool_use", "id": id, "name": t.name(), "input": t.tree()} for id in ids),
    ]
    results: list[JSON] = [
        {"type": "tool_result", "tool_use_id": ids[0], "content": t.text(), "is_error": True},
        {"type": "tool_result", "tool_use_id": ids[1], "content": [{"type": "text", "text": t.text()}]},
    ]
    answer = {"role": "user", "content": [*results, {"type": "text", "text": t.text()}]}
    return [{"role": "assistant", "content": blocks}, *([answer] if answered else ())]


_ANTHROPIC: Sequence[Callable[[Tokens], list[JSON]]] = (
    lambda t: [{"role": "user", "content": t.text()}],
    lambda t: [
        {"role": "assistant", "content": [{"type": "text", "text": t.text(), "citations": [{t(): t()}]}]}
    ],
    lambda t: [
        {
            "role": "user",
            "content": [
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": _picture(t)},
                },
                {"type": "image", "source": {"type": "url", "url": f"https://{t()}/{t()}.png"}},
                {
                    "type": "document",
                    "title": t(),
                    "context": t(),
                    "source": {"type": "text", "media_type": "text/plain", "data": t.text()},
                },
                {"type": "text", "text": t.text()},
            ],
        }
    ],
    lambda t: [{"role": "user", "content": [{"type": f"kind_{t()}", t(): t.tree()}]}],
    _anthropic_calls,
    lambda t: _anthropic_calls(t, answered=False),
    lambda t: _anthropic_calls(t)[1:],
)


def _gemini_calls(t: Tokens, *, answered: bool = True, ids: bool = False) -> list[JSON]:
    name, id = t.name(), {"id": t()} if ids else {}
    call = {"functionCall": {"name": name, "args": {t(): t.tree()}, **id}, "thoughtSignature": t()}
    result = {"functionResponse": {"name": name, "response": {"output": t.text(), t(): t()}, **id}}
    asked = {"role": "user", "parts": [{"text": t.text()}]}
    told = {"role": "user", "parts": [result]}
    return [asked, {"role": "model", "parts": [call]}, *([told] if answered else ())]


_GEMINI: Sequence[Callable[[Tokens], list[JSON]]] = (
    lambda t: [{"role": "user", "parts": [{"text": t.text()}, {"text": t.text(), t(): t()}]}],
    lambda t: [{"role": "model", "parts": [{"text": t.text(), "thought": True}, {"text": t.text()}]}],
    lambda t: [
        {
            "role": "user",
            "parts": [
                {"inlineData": {"mimeType": "image/png", "data": _picture(t), "displayName": t()}},
                {"fileData": {"mimeType": "application/pdf", "fileUri": f"https://{t()}/{t()}"}},
                {"text": t.text()},
            ],
        }
    ],
    lambda t: [{"role": "model", "parts": [{"executableCode": {"language": "PYTHON", "code": t.text()}}]}],
    _gemini_calls,
    lambda t: _gemini_calls(t, ids=True),
    lambda t: _gemini_calls(t, answered=False),
)
_PLAIN: Sequence[Callable[[Tokens], list[JSON]]] = (
    lambda t: [{"role": "user", "content": t.text(), "id": t(), "name": t(), "metadata": {t(): t.tree()}}],
    lambda t: [
        {"role": "assistant", "content": t.text(), "id": t(), "metadata": {"urgency": "high", "x": t()}}
    ],
    lambda t: [{"role": "tool", "content": t.text(), "name": t()}],
    lambda t: [{"role": "user", "content": t.text()}],
    lambda t: [{"role": "system", "content": t.text(), "metadata": {t(): t()}}],
)


# Finding them again


def tokens_in(messages: Iterable[Any]) -> set[str]:
    """The tokens of messages, in lower case, also where they are in base64."""
    return set(_found(json.dumps(list(messages), ensure_ascii=False)))


def _found(text: str) -> Iterator[str]:
    yield from (token.lower() for token in _TOKEN.findall(text))
    for block in re.findall(r"[A-Za-z0-9+/]{24,}={0,2}", text):
        try:
            yield from (
                t.lower() for t in _TOKEN.findall(base64.b64decode(block, validate=True).decode("latin-1"))
            )
        except ValueError:
            continue


def left_in(data: bytes, forgotten: set[str]) -> set[str]:
    """The forgotten tokens of which the beginning is in the bytes, in UTF-8, UTF-16 or base64."""
    heads = {token[:HEAD].encode(): token for token in forgotten}
    low = data.lower()
    wide = (run[::2] for run in re.findall(rb"(?:[a-z0-9]\0){10,}", low))
    return {
        *_windows(re.findall(rb"[a-z0-9]{10,}", low), heads),
        *_windows(wide, heads),
        *_windows(re.findall(rb"[A-Za-z0-9+/]{20,}", data), _encoded(forgotten)),
    }


def _windows(runs: Iterable[bytes], known: dict[bytes, str]) -> Iterator[str]:
    """The tokens known by some ten bytes of a run."""
    for run in runs:
        for at in range(len(run) - HEAD + 1):
            if found := known.get(run[at : at + HEAD]):
                yield found


def _encoded(tokens: set[str]) -> dict[bytes, str]:
    """What base64 makes of the middle of a token, at each of three offsets and in each case."""
    found: dict[bytes, str] = {}
    for token in tokens:
        for form in (token, token.upper(), token.capitalize()):
            for offset in range(3):
                encoded = base64.b64encode(bytes(offset) + form.encode())
                found[encoded[4 : 4 + HEAD]] = token
    return found
