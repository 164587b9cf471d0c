"""No text of a client acts on the terminal of the operator, or fills a disk."""

from __future__ import annotations

import logging

from foveal.server.logs import LINE_MOST, SafeFormatter, escaped

HOSTILE = "gpt\x1b]0;owned\x07\x1b[2J\r\n\u202eerror: all is well\x9b31m"


def formatted(message: str, *arguments: object) -> str:
    return SafeFormatter().format(
        logging.LogRecord("uvicorn.access", logging.INFO, "", 0, message, arguments, None)
    )


def test_control_characters_are_escaped() -> None:
    line = formatted('%s - "GET /%s HTTP/1.1" 200', "127.0.0.1", HOSTILE)
    assert line.isprintable()
    assert "gpt\\x1b]0;owned\\x07\\x1b[2J\\r\\n\\u202eerror" in line


def test_what_everybody_can_read_stays_readable() -> None:
    assert escaped("café, 日本語 and Ωmega") == "café, 日本語 and Ωmega"


def test_a_long_line_is_cut() -> None:
    line = formatted("model %s", "a" * 1_000_000)
    assert len(line) < LINE_MOST + 100
    assert "1,000,006 characters" in line


def test_a_traceback_keeps_its_lines() -> None:
    try:
        raise ValueError(HOSTILE)
    except ValueError as error:
        record = logging.LogRecord(
            "x", logging.ERROR, "", 0, "failed", (), (ValueError, error, error.__traceback__)
        )
    lines = SafeFormatter().format(record).splitlines()
    assert lines[0] == "error: x: failed"
    assert all(line.isprintable() for line in lines)
    assert len(lines) > 3


def test_no_text_begins_a_line_or_makes_a_record_longer_than_the_limit() -> None:
    try:
        raise ValueError("\nerror: forged" + "\x1b" * LINE_MOST)
    except ValueError as error:
        caught = (ValueError, error, error.__traceback__)
    record = logging.LogRecord("x", logging.ERROR, "", 0, "failed\nerror: forged", (), caught)
    shown = SafeFormatter().format(record)
    assert all(line.startswith("  ") for line in shown.splitlines()[1:])
    assert "\n  error: forged" in shown
    assert len(shown) < LINE_MOST + 100
