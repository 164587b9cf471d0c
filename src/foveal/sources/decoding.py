"""The bytes of a file in → its text, or None where it is none. No encoding is guessed."""

from __future__ import annotations

_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def decoded(content: bytes) -> str | None:
    r"""UTF-8, or UTF-16 that says so at its beginning; a text has no zero in it.

    >>> decoded(b"\xef\xbb\xbfcaf\xc3\xa9"), decoded(b"\xff\xfeh\x00i\x00")
    ('café', 'hi')
    >>> decoded(b"caf\xe9"), decoded(b"a\x00b")
    (None, None)
    """
    mark, encoding = next((each for each in _MARKS if content.startswith(each[0])), (b"", "utf-8"))
    try:
        text = content[len(mark) :].decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text
