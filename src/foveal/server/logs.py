"""Write log lines to stderr so that no text from a client can act on a terminal or fill a disk."""

from __future__ import annotations

import logging
import re
import warnings

LINE_MOST = 2_000
"""Characters of one record as it is written; the traceback of an error included."""
_UNSAFE = re.compile(r"[^\n\t -~\u00a1-\ud7ff\uf900-\ufffc]|[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f]")
"""Control characters, marks that change the direction of text, and what no terminal shows the same way."""


def escaped(text: str) -> str:
    r"""The text with its control characters as escapes; line breaks stay.

    >>> escaped("model \x1b[2J is\runknown")
    'model \\x1b[2J is\\runknown'
    """
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class SafeFormatter(logging.Formatter):
    """Escapes what a record says, then cuts it. Only the first line of a record is not indented."""

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        lines = [_short(message).replace("\n", "\\n"), *_short(trace).splitlines()]
        whole = f"{record.levelname.lower()}: {record.name}: " + "\n  ".join(lines)
        size = len(message) + len(trace)
        return whole if len(whole) <= LINE_MOST else f"{whole[:LINE_MOST]} … ({size:,} characters)"


def _short(text: str) -> str:
    """Escaped; of a long text no more than a record may have, because escaping it takes time."""
    return escaped(text[: LINE_MOST + 1])


def log_to_stderr() -> None:
    """Send every log record and every warning of this process to stderr, escaped."""
    handler = logging.StreamHandler()
    handler.setFormatter(SafeFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    warnings.showwarning = _log_warning


def _log_warning(message: Warning | str, *_: object, **__: object) -> None:
    logging.getLogger("foveal").warning("%s", message)
