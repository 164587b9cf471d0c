"""A sentence in → what it does: decide, correct, constrain, ask, tell a problem or a result.

By its words alone, in English; only the first characters of a long one are looked at.
"""

from __future__ import annotations

import re

from foveal.pipeline.signals import word_counts

LONGEST = 300
"""Characters of a sentence that are looked at, and carried."""


def _phrases(listed: str) -> re.Pattern[str]:
    """Whole words in any case; phrases are separated by semicolons."""
    return re.compile(rf"\b(?:{'|'.join(phrase.strip() for phrase in listed.split(';'))})\b", re.IGNORECASE)


_DECIDES = _phrases(
    """
    (?:I|we)(?:'ve| have)? (?:decided|agreed|settled|chose|concluded|resolved);
    decided (?:on|to|that|against); (?:is|was|are|were) (?:decided|agreed|resolved); agreed;
    settled on; decision (?:is|was); in conclusion; let's (?:go with|use|not|keep|stick);
    (?:I|we)(?:'ll| will) (?:use|go with|keep|stick|switch|stay|adopt|drop);
    (?:I'm|we're|we are) going (?:to use|to keep|with); going with; go with; the solution is;
    final (?:answer|choice|version|conclusion)
    """
)
_UNDECIDED = _phrases(
    r"(?:not|haven't|hasn't|never|unless|if|whether) (?:\w+ ){0,2}(?:decided?|agreed?|resolved?|settled?)"
)
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
_ANSWER = _phrases(
    "yes; yeah; no; nope; ok; okay; sure; agreed; right; exactly; correct; both; neither; done"
)


def asks(sentence: str) -> bool:
    return sentence.rstrip("\"')]* ").endswith(("?", "？"))


def decides(sentence: str) -> bool:
    """Does it settle something, by whoever says it?

    >>> decides("Let's go with JWT."), decides("We have not decided yet."), decides("Is it decided?")
    (True, False, False)
    """
    plain = _plain(sentence)
    return not asks(sentence) and bool(_DECIDES.search(plain)) and not _UNDECIDED.search(plain)


def corrects(sentence: str) -> bool:
    plain = _plain(sentence)
    return not asks(sentence) and bool(_OPENS_A_CORRECTION.match(plain) or _CORRECTS.search(plain))


def constrains(sentence: str) -> bool:
    return not asks(sentence) and bool(_CONSTRAINS.search(_plain(sentence)))


def reports(sentence: str) -> bool:
    """Does it hand on what somebody else said?"""
    return bool(_REPORTS.search(_plain(sentence)))


def tells_a_problem(sentence: str) -> bool:
    return bool(_PROBLEM.search(_plain(sentence)))


def tells_a_result(sentence: str) -> bool:
    return bool(_RESULT.search(_plain(sentence)))


def narrates(sentence: str) -> bool:
    """Does it only announce what its speaker does next?"""
    return bool(_NARRATES.match(_plain(sentence)))


def _plain(sentence: str) -> str:
    return sentence[:LONGEST].replace("’", "'")


def answers(reply: str, question: str) -> bool:
    """Does a reply take up the question: with a yes or no, or with one of its words?

    >>> answers("Redis is fine for them.", "Should sessions live in Redis?"), answers("Hello.", "Which port?")
    (True, False)
    """
    if _ANSWER.match(reply.lstrip()):
        return True
    return not word_counts(question).keys().isdisjoint(word_counts(reply).keys())
