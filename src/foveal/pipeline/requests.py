"""Tell which user messages ask for something new, and which are answers or come from programs.

English, with the conventions of common agents. A message that is not recognized is a request: keeping one too
many costs a few tokens, losing one loses the task.
"""

from __future__ import annotations

import re
from typing import Literal

from foveal.model import Message, Text, ToolResult

Said = Literal["request", "answer", "notice"]
"""What a user message is: a request; an answer or a go-ahead; a notice of a program."""

MAX_READ = 2_000
"""Characters that are read at either end of a message."""
MAX_GO_AHEAD = 12
"""Words of a go-ahead."""
MAX_ANSWER = 15
"""Words of an answer to a question."""

_NOTICE_TAG = re.compile(
    r"<(system-reminder|task-notification|command-[a-z]{1,20}|local-command-[a-z]{1,20}|bash-[a-z]{1,20}"
    r"|ide_[a-z_]{1,30}|environment_context|user_instructions|user-prompt-submit-hook|turn_aborted)\b"
)
_COMMAND_NAME = re.compile(r"<command-name>\s{0,8}(/[\w:.-]{1,80})\s{0,8}</command-name>")
_COMMAND_ARGS = re.compile(r"<command-args>([^<]{0,2000})</command-args>")
_LOCAL_COMMANDS = frozenset(
    [
        "/exit",
        "/quit",
        "/clear",
        "/compact",
        "/config",
        "/cost",
        "/help",
        "/login",
        "/logout",
        "/model",
        "/status",
        "/resume",
        "/context",
        "/mcp",
    ]
)
"""Commands to the agent's own program, not to the model."""
_NOTICE_LINE = re.compile(r"\[Request interrupted[^\]\n]{0,80}\]|Caveat: The messages below[^\n]{0,600}")
_FENCE = re.compile(r"```[\w.+-]{0,40}[ \t]{0,8}\n")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_GO_AHEAD_WORDS = """
yes yep yeah yup ya y no nope n ok okay k sure right correct exactly agreed agree great good perfect fine
nice cool awesome excellent lgtm thanks thank thx you please continue proceed resume go ahead on keep
going carry do it that this so then now next more again try retry done works looks sounds is are the a and i
am
confirm confirmed approve approved accept accepted first second third last one both all option b c let's
lets start begin ready absolutely definitely certainly of course very much for to me we
"""
_GO_AHEAD = frozenset(_GO_AHEAD_WORDS.split())
_ASKS = re.compile(
    r"\b(?:can|could|would|will) you\b|\bi(?:['’]d| would)? (?:like|want|need)\b|\balso\b|\binstead\b"
    r"|(?:^|[.!;,]\s)(?:please |now |then |and |next )?(?:add|book|build|cancel|change|check|commit|compare"
    r"|convert|create|debug|delete|deploy|describe|document|draft|explain|figure|find|fix|generate|give|help"
    r"|implement|install|investigate|list|look|make|merge|move|open|plan|print|push|read|refactor|remove|rename"
    r"|review|run|search|set|show|stop|summarize|tell|test|translate|update|write)\b",
    re.IGNORECASE,
)


def said(message: Message, before: Message | None) -> Said:
    """What a user message is, after the message `before`."""
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    words = "\n".join(filter(None, map(without_notices, texts)))
    if any(text.strip() for text in texts) and not words:
        return "notice"
    earlier = before.text if before and before.role == "assistant" else ""
    only_text = all(isinstance(part, (Text, ToolResult)) for part in message.parts)
    return "answer" if only_text and is_answer(words, earlier) else "request"


def without_notices(text: str) -> str:
    """The text without the notices of programs at its beginning; a slash command is what the user typed.

    >>> without_notices("<system-reminder>The date changed.</system-reminder> Fix the build.")
    'Fix the build.'
    >>> without_notices("<command-name>/review</command-name> <command-args>this branch</command-args>")
    '/review this branch'
    """
    text = text.strip()
    typed = _slash_command(text)
    while True:
        if found := _NOTICE_LINE.match(text):
            text = text[found.end() :].lstrip()
        elif found := _NOTICE_TAG.match(text):
            end = text.find(f"</{found[1]}>")
            text = text[end + len(found[1]) + 3 :].lstrip() if end >= 0 else ""
        else:
            return "\n".join(filter(None, (typed, text)))


def _slash_command(text: str) -> str:
    """The command for the model that a message consists of; empty if there is none."""
    head = text[:MAX_READ]
    name = (
        _COMMAND_NAME.search(head) if head.startswith("<command-") and "<local-command-" not in head else None
    )
    if name is None or name[1] in _LOCAL_COMMANDS:
        return ""
    arguments = _COMMAND_ARGS.search(head)
    return f"{name[1]} {' '.join(arguments[1].split()) if arguments else ''}".strip()


def command_in(text: str) -> str:
    """The fenced block that ends a text: how agents without tool calls write commands. Else empty.

    >>> command_in("Look first.\\n```\\nls -la\\n```")
    'ls -la'
    """
    text = text.rstrip()
    if not text.endswith("```"):
        return ""
    body = text[:-3]
    at = body.rfind("```")
    opening = _FENCE.match(body, at) if at >= 0 else None
    return body[opening.end() :].strip() if opening else ""


def is_answer(text: str, before: str) -> bool:
    """Whether a message only goes on with what is under way: "yes", "ok do it", an id that was asked for.

    >>> is_answer("ok, do it", ""), is_answer("mia_li_3668", "What is your user id?"), is_answer("Why?", "")
    (True, True, False)
    """
    if len(text) > MAX_READ or "?" in text:
        return False
    words = [word.lower() for word in _WORD.findall(text)]
    if len(words) <= MAX_GO_AHEAD and all(word in _GO_AHEAD for word in words):
        return True
    asked = "?" in before[-MAX_READ:]
    return asked and len(words) <= MAX_ANSWER and _ASKS.search(text) is None
