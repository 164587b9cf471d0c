"""Every error this package raises on purpose.

* FovealError
  - InputError        messages, files or requests that cannot be understood
  - BudgetError       what must stay does not fit
  - NotFoundError     no session, message, handle or build of that name
  - ConfigError       a setting, model file or preset that is invalid
  - StoreError        the store cannot be opened, read or written
    - StoreBusyError     another process has locked it
    - StoreTimeoutError  reading it took too long
    - StoreDamagedError  the file is not a store, or is corrupt
  - UpstreamError     a model could not be called, or its response cannot be used
"""

from __future__ import annotations

import re
from typing import Literal

See = Literal["", "sessions", "messages", "operations", "schemas", "profile", "tasks", "pools"]
"""Another call that a remedy refers to; the command line and the HTTP service each name their own."""


_CONTROL = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), *range(127, 160))}


def printable(text: str) -> str:
    r"""The text with control characters as escapes: they could manipulate a terminal.

    >>> printable("a\x1b[2Jb\tc\n")
    'a\\x1b[2Jb\tc\n'
    """
    return text.translate(_CONTROL)


MOST = 500
"""Characters of an error's text, which may quote what the caller sent."""
REMEDY_MOST = 1_500
"""Characters of a remedy, which may list every name that is known."""
NAME_MOST = 200
"""Characters of the name of a field in an error."""


def shortened(text: str, most: int = MOST) -> str:
    """The text without its middle, if it is longer than that.

    >>> shortened("`aaaaaaaaaaaaaaaaaaaa` is unknown", 24)
    '`aaaaaaaaaaaaa…s unknown'
    """
    if len(text) <= most:
        return text
    end = 2 * most // 5 + 1
    return f"{text[: most - end]}…{text[len(text) - end + 1 :]}"


_USER = re.compile(r"@|%40", re.IGNORECASE)
_REST = re.compile(r"[?#]|%3f|%23", re.IGNORECASE)


def masked(address: str, *, fragment: bool = False) -> str:
    """An address without the parts that may be secret: user, password, values of the query, fragment.

    Text that is no address is returned as it is. `fragment`: show it, because it names a model.

    >>> masked("https://me:pw@api.io/v1?key=abc&v#top")
    'https://***@api.io/v1?key=***&***#***'
    >>> masked("https://me%40api.io%3Fkey%3Dabc"), masked("~/foveal.db")
    ('https://***@api.io?***', '~/foveal.db')
    """
    scheme, separator, whole = address.partition("://")
    if not separator:
        return address
    found = _REST.search(whole)
    place, rest = (whole[: found.start()], whole[found.start() :]) if found else (whole, "")
    users = list(_USER.finditer(place))
    if not users and _USER.search(rest):  # maybe of a password with a question mark in it
        return f"{scheme}://***"
    shown = f"***@{place[users[-1].end() :]}" if users else place
    query, mark, name = rest.partition("#")
    if query:
        fields = (field.partition("=") for field in query.removeprefix("?").split("&"))
        shown += "?" + "&".join(f"{key}=***" if equals else "***" for key, equals, _ in fields)
    return f"{scheme}://{shown}{mark}{(name if fragment else '***') if mark else ''}"


class FovealError(Exception):
    """What happened, and what to do about it. Catch this to catch every error of this package."""

    def __init__(self, what: str, remedy: str, *, field: str = "", see: See = "") -> None:
        what, remedy = shortened(what), shortened(remedy, REMEDY_MOST)
        super().__init__(what, remedy)  # both, so that the error survives pickling
        self.what = what
        self.remedy = remedy
        self.field = shortened(field, NAME_MOST)
        """The argument, option or field that the error is about; empty where there is none."""
        self.see = see

    def __str__(self) -> str:
        return printable(f"{self.what}\n  try: {self.remedy}")


class InputError(FovealError):
    """Messages, a file or a request that cannot be understood; names the position and the field."""


class BudgetError(FovealError):
    """What must be in the window does not fit; lists the tokens by part."""


class NotFoundError(FovealError):
    """No session, message, handle or build of that name."""


class ConfigError(FovealError):
    """A setting, model file or preset that is invalid; names the key and its origin."""


class StoreError(FovealError):
    """The store cannot be opened, read or written. Nothing was half-written."""


class StoreBusyError(StoreError):
    """Another process locked the store for longer than we wait."""


class StoreTimeoutError(StoreError):
    """Reading the store took too long and was stopped."""


class StoreDamagedError(StoreError):
    """The file is not a Foveal store, or its content is corrupt."""


class UpstreamError(FovealError):
    """A model could not be called, or its response cannot be used; names the host, never the key."""
