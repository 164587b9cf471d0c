"""Split text into sentences, separate typed from pasted text, and classify what a sentence does.

Sentences are classified by their English words alone, and only by their first characters. Every function
reads each character a bounded number of times, so it is linear on any input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Literal

from foveal.model import Role
from foveal.pipeline.signals import word_counts, words
from foveal.pipeline.summarize.values import Passage

MAX_SENTENCE = 300
"""Characters of a sentence that are read, and kept."""
_END = re.compile(r"(?<=[.!?])[\"')\]]?\s+|(?<=[。！？])")
_BULLET = re.compile(r"\s*(?:[-*+•]\s|\d{1,3}[.)]\s|#{1,6}\s)\s*")
_CLOSING = re.compile(r"</([A-Za-z][\w.-]{0,40})>")
_OPENING = re.compile(r"(?<!\w)<([A-Za-z][\w.-]{0,40})(?=[\s>])")
_QUOTED = re.compile(r"\"[^\"\n]{20,}\"|“[^”\n]{20,}+(?:”|(?![^\n]))|«[^»\n]{20,}+(?:»|(?![^\n]))")
"""What typographic marks quote goes on to the end of the line where it is not closed."""
_FENCES = ("```", "~~~", '"""', "'''")
_INTRODUCES = re.compile(
    r"\b(?:says|said|wrote|writes|reads|states|pasted|printed|returned)\b[^:\n]{0,60}:(?=\s|$)|\b(?:page|site|website"
    r"|article|e-?mails?|mail|message|output|logs?|text|documents?|docs?|files?|readme|response|results?|errors?"
    r"|snippet|contents?|transcript|reply|ticket|issue|comment|post|prompt|traceback)\b[^:\n]{0,60}:$",
    re.IGNORECASE,
)
_UNTIL_THE_END = "\n\n"
"""Occurs in no line, so the pasted part goes on to the end of the text."""
_LINE_BREAK = re.compile(r"[^\S ]")
_FORWARDED = re.compile(r"-{2,}\s*(?:original|forwarded|begin)\b|(?:from|subject):\s", re.IGNORECASE)


def sentences(text: str) -> list[str]:
    """The sentences of a text, a line at a time, each on one line and without its bullet.

    >>> sentences("Use JWT. It is\\n- simple! Is it safe?")
    ['Use JWT.', 'It is', 'simple!', 'Is it safe?']
    """
    found = (_one_line(piece) for line in text.splitlines() for piece in _END.split(_unbulleted(line)))
    return [sentence for sentence in found if any(map(str.isalnum, sentence[:MAX_SENTENCE]))]


def _unbulleted(line: str) -> str:
    bullet = _BULLET.match(line)
    return line[bullet.end() :] if bullet else line


def _one_line(text: str) -> str:
    return " ".join(text.split())


def head_and_tail(text: str, most: int) -> str:
    """A text, or the head and tail of one too long to be typed, `most` characters each."""
    return text if len(text) <= 2 * most else f"{text[:most]}\n{text[-most:]}"


def clipped(text: str, most: int = MAX_SENTENCE) -> str:
    """At most `most` characters, the last one an ellipsis where something was cut."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


@lru_cache(maxsize=2)
def split_pasted(text: str) -> tuple[str, str]:
    """What an author typed, and what they pasted: fenced, quoted, tagged, or after "the page says:".

    A message is split by each function that reads it, one after the other, so the last results are kept.

    >>> split_pasted("Never use eval.\\n> Always use eval.\\nThe page says:\\nObey me.")
    ('Never use eval.\\nThe page says:', '> Always use eval.\\nObey me.')
    """
    parts = list(_split_lines(text))
    return "\n".join(filter(None, (p[0] for p in parts))), "\n".join(filter(None, (p[1] for p in parts)))


def _split_lines(text: str) -> Iterator[tuple[str, str]]:
    """What was typed and what was pasted, line by line."""
    closings = {found[1]: found.start() for found in _CLOSING.finditer(text)}
    until, at = "", 0
    for line in text.splitlines(keepends=True):
        if until:
            yield "", line.strip()
            until = "" if until in line else until
        elif line.isspace():
            yield "", ""
        else:
            typed, pasted, until = _split_line(line, at, closings)
            yield typed, pasted
        at += len(line)


def typed_sentences(text: str) -> Iterator[tuple[str, str]]:
    """The sentences that an author typed, verbatim, each with a form of the same length to classify it by.

    That form is on one line, and dots take the place of what it quotes. A sentence goes on in the next line
    if that begins with a small letter.

    >>> list(typed_sentences("Never use\\neval. Ok?\\n> Always use eval."))
    [('Never use\\neval.', 'Never use eval.'), ('Ok?', 'Ok?')]
    """
    for start, end in _typed_spans(text):
        plain = _QUOTED.sub(lambda quoted: "…" * len(quoted[0]), text[start:end])
        plain = _LINE_BREAK.sub(" ", plain).replace("’", "'")
        bullet = _BULLET.match(plain)
        at = bullet.end() if bullet else 0
        for stop in (*(found.end() for found in _END.finditer(plain, at)), len(plain)):
            sentence = text[start + at : start + stop]
            if cut := sentence.strip():
                begin = at + len(sentence) - len(sentence.lstrip())
                yield cut, plain[begin : begin + len(cut)]
            at = stop


def _typed_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where typed lines begin and end; lines that go on in the next one are together."""
    at, begun, ended = 0, -1, -1
    for line, (typed, _) in zip(text.splitlines(keepends=True), _split_lines(text), strict=True):
        bare = line.strip()
        start = at + len(line) - len(line.lstrip())
        end = start + (len(typed) if bare.startswith(typed) else len(bare))
        at += len(line)
        if begun >= 0 and not (bare[:1].islower() and text[ended - 1] not in ".!?:;" and end > start):
            yield begun, ended
            begun = -1
        if end > start:
            begun, ended = (start if begun < 0 else begun), end
    if begun >= 0:
        yield begun, ended


def _split_line(line: str, at: int, closings: Mapping[str, int]) -> tuple[str, str, str]:
    """What was typed and pasted in a line, and the text that ends the pasted lines after it."""
    bare = line.strip()
    if bare.startswith(_FENCES):
        fence = next(mark for mark in _FENCES if bare.startswith(mark))
        return "", bare, "" if bare.count(fence) > 1 else fence
    if bare.startswith(">") or _FORWARDED.match(bare):
        return "", bare, "" if bare.startswith(">") else _UNTIL_THE_END
    if closings and (tag := _tag(line, at, closings)):
        closing, block = f"</{tag[1]}>", line[tag.start() :].strip()
        return line[: tag.start()].strip(), block, "" if closing in block else closing
    if ":" in bare and (intro := _INTRODUCES.search(bare)):
        return bare[: intro.end()].strip(), bare[intro.end() :].strip(), _UNTIL_THE_END
    quoted = _QUOTED.findall(bare)
    return (_QUOTED.sub("…", bare), " ".join(quoted), "") if quoted else (bare, "", "")


def _tag(line: str, at: int, closings: Mapping[str, int]) -> re.Match[str] | None:
    """The first tag of a line that is closed somewhere after it."""
    return next((tag for tag in _OPENING.finditer(line) if closings.get(tag[1], -1) > at + tag.start()), None)


def _phrases(listed: str) -> re.Pattern[str]:
    """A pattern for any of the phrases, which semicolons separate: whole words in any case."""
    return re.compile(rf"\b(?:{'|'.join(phrase.strip() for phrase in listed.split(';'))})\b", re.IGNORECASE)


_DECIDES = _phrases(
    """
    (?:I|we)(?:'ve| have)? (?:decided|agreed|settled|chose|concluded|resolved);
    decided (?:on|to|that|against); (?:is|was|are|were) (?:decided|agreed|resolved); agreed;
    settled on; decision (?:is|was); in conclusion; let's (?:go with|use|not|keep|stick);
    (?:I|we)(?:'ll| will) (?:use|go with|keep|stick|switch|stay|adopt|drop);
    (?:I'm|we're|we are) going (?:to use|to keep|with); going with; go with; the solution is;
    final (?:answer|choice|version|conclusion) (?:is|was|will be)
    """
)
_UNDECIDED = _phrases(
    r"(?:not|haven't|hasn't|never|unless|if|whether) (?:\w+ ){0,2}(?:decided?|agreed?|resolved?|settled?)"
)
_LABEL = re.compile(
    r"[*_#\[ ]{0,5}(?:(?P<decision>decisions?|decided)|rules?|constraints?)(?: ?#?\d{1,3})?[*_\]]{0,3}"
    r"(?: ?:(?=[*_ ])| [—–-](?= ))[*_]{0,3} ?",
    re.IGNORECASE,
)
_UNSETTLED = re.compile(
    r"(?:none|nothing|pending|tbd|tba|n/a|open|unclear|undecided|not yet|to be \w+)\b(?! \w+ \w+)",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r" ?(?:on |to do |for |against |with )?(?:that|this|it|so|them|those)?"
    r"(?: (?:with|together|by|yesterday|today|already|earlier|before|last|(?:in|at|on) (?:the|our|a|last)"
    r" (?:\w+ )?(?:meeting|call|sync|review|chat))\b[^,;:—–]*)?[.! ]*",
    re.IGNORECASE,
)
"""What follows a decision whose content is in another sentence: `We decided that with security.`"""
_ASSENTS = frozenset(("yes", "yeah", "ok", "okay", "great", "perfect"))
_CORRECTS = _phrases(
    """
    (?:that's|that is|this is|it's|you're|you are) (?:wrong|incorrect|not (?:right|correct|what)); I meant;
    I said; I didn't mean; instead of; rather than; not what I; didn't ask
    """
)
_OPENS_A_CORRECTION = re.compile(
    r"(?:no|nope|wait|wrong|not quite|actually|correction|sorry|stop)\b[\s,.!:;—-]", re.IGNORECASE
)
_CONSTRAINS = _phrases(
    r"""
    must; mustn't; never; always; avoid; make sure; ensure; no more than; at most; at least; should not;
    shouldn't; not allowed; forbidden; required; has to; have to; only use; use only; prefer;
    under no circumstances; do not; without (?:a|any|the|using|changing|touching);
    (?<!\bI )(?<!\bwe )(?<!\bthey )(?<!\byou )(?<!\bwhy )don't
    """
)
_REPORTS = _phrases(
    r"(?<!\bI )(?:says|said|states|stated|wrote|writes|tells|told|claims|claimed|instructs); according to"
)
_PROBLEM = _phrases(
    r"""
    errors?; bugs?; fail(?:s|ed|ure|ures|ing)?; broken; crash(?:es|ed)?; exception; traceback; fatal;
    panic; denied; refused; timed out; time-?out; not found; undefined; unable; cannot; \w{1,60}Error;
    \w{1,60}Exception
    """
)
_RESULT = _phrases(
    """
    fixed; works; working; passed; passes; done; finished; completed; created; added; removed; changed;
    updated; replaced; implemented; merged; deployed; released; root cause; caused by; because; turns out;
    found; shows; result
    """
)
_NARRATES = _phrases(
    "(?:now |first |next |then |ok |okay )?(?:let me|I'll|I will|let's) (?!use|go with|keep|not|stick)"
)


def asks(sentence: str) -> bool:
    return sentence.rstrip("\"')]* ").endswith(("?", "？"))


def decides(sentence: str) -> bool:
    """Does the sentence settle something, and say what?

    >>> decides("Let's go with JWT."), decides("We have not decided yet."), decides("Is it decided?")
    (True, False, False)
    >>> decides("We decided that with security.")
    False
    """
    plain = _plain(sentence)
    found = None if asks(sentence) or _UNDECIDED.search(plain) else _DECIDES.search(plain)
    if found is None:
        return False
    before = not _ASSENTS.issuperset(words(plain[: found.start()]))
    return before or not _POINTS_BACK.fullmatch(plain, found.end())


def labelled(sentence: str) -> tuple[Literal["decision", "constraint"], str] | None:
    """What an explicit label says that a sentence is, and the sentence without it; None without content.

    >>> labelled("Decision: a grace period of 90 seconds.")
    ('decision', 'a grace period of 90 seconds.')
    >>> labelled("RULE — no direct commits."), labelled("Decision: pending."), labelled("Rule: is it one?")
    (('constraint', 'no direct commits.'), None, None)
    """
    plain = _plain(sentence)
    found = _LABEL.match(plain)
    if found is None or asks(sentence):
        return None
    content = plain[found.end() :]
    if not words(content) or _UNSETTLED.match(content) or _UNDECIDED.search(content):
        return None
    return ("decision" if found["decision"] else "constraint"), content


def corrects(sentence: str) -> bool:
    plain = _plain(sentence)
    return not asks(sentence) and bool(_OPENS_A_CORRECTION.match(plain) or _CORRECTS.search(plain))


def constrains(sentence: str) -> bool:
    return not asks(sentence) and bool(_CONSTRAINS.search(_plain(sentence)))


def is_reported_speech(sentence: str) -> bool:
    """Does the sentence report what another person or text said?"""
    return bool(_REPORTS.search(_plain(sentence)))


def reports_problem(sentence: str) -> bool:
    return bool(_PROBLEM.search(_plain(sentence)))


def reports_result(sentence: str) -> bool:
    return bool(_RESULT.search(_plain(sentence)))


def narrates(sentence: str) -> bool:
    """Does the sentence only announce what its speaker does next?"""
    return bool(_NARRATES.match(_plain(sentence)))


def _plain(sentence: str) -> str:
    return sentence[:MAX_SENTENCE].replace("’", "'")


_ANSWER = _phrases(
    "yes; yeah; no; nope; ok; okay; sure; agreed; right; exactly; correct; both; neither; done"
)


def replies(passages: Sequence[Passage]) -> list[str | None]:
    """For each passage, everything the other side said before the speaker's next turn; None for nothing."""
    spoken = [(at, p) for at, p in enumerate(passages) if p.role in ("user", "assistant")]
    runs = [list(run) for _, run in groupby(spoken, key=lambda each: each[1].role)]
    found: list[str | None] = [None] * len(passages)
    for run, following in pairwise(runs):
        reply = "\n".join(passage.text for _, passage in following)
        for at, _ in run:
            found[at] = reply
    return found


def is_unanswered(sentence: str, role: Role, reply: str | None) -> bool:
    """Is it a question without an answer? Any reply of the user answers a question of the model."""
    if not asks(sentence):
        return False
    return reply is None or (role == "user" and not _answers(reply, sentence))


def _answers(reply: str, question: str) -> bool:
    """Does the reply answer the question: with a yes or no, or with one of its words?

    >>> _answers("Redis is fine for them.", "Should sessions live in Redis?")
    True
    >>> _answers("Hello.", "Which port?")
    False
    """
    if _ANSWER.match(reply.lstrip()):
        return True
    return not word_counts(question).keys().isdisjoint(word_counts(reply).keys())
