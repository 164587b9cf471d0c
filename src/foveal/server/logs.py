"""Write log lines to stderr so that no text from a client can act on a terminal or fill a disk."""

from __future__ import annotations

import logging
import re
import warnings

LINE_MOST = 2_000
"""Characters of one record; the traceback of an error included."""
_UNSAFE = re.compile(r"[^\n\t -~\u00a1-\ud7ff\uf900-\ufffc]|[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f]")
"""Control characters, marks that change the direction of text, and what no terminal shows the same way."""


def escaped(text: str) -> str:
    r"""The text with its control characters as escapes, and at most `LINE_MOST` characters of it.

    >>> escaped("model \x1b[2J is\runknown")
    'model \\x1b[2J is\\runknown'
    """
    short = text if len(text) <= LINE_MOST else f"{text[:LINE_MOST]} … ({len(text):,} characters)"
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), short)


class SafeFormatter(logging.Formatter):
    """Escapes what a record says. Only the lines of a traceback begin on lines of their own."""

    def format(self, record: logging.LogRecord) -> str:
        message = escaped(record.getMessage()).replace("\n", "\\n")
        line = f"{record.levelname.lower()}: {record.name}: {message}"
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        return f"{line}\n{escaped(trace)}" if trace else line


def log_to_stderr() -> None:
    """Send every log record and every warning of this process to stderr, escaped."""
    handler = logging.StreamHandler()
    handler.setFormatter(SafeFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    warnings.showwarning = _log_warning


def _log_warning(message: Warning | str, *_: object, **__: object) -> None:
    logging.getLogger("foveal").warning("%s", message)
