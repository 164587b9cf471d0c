"""Find the sentences in which users describe themselves or state lasting preferences.

Precision before recall: only sentences in the first person and lasting requests count; no questions, no
suppositions, nothing pasted or quoted. What users ask to be remembered is a fact if it is nothing else. The
rules look at the words alone and know English only.
"""

from __future__ import annotations

import re

from foveal.knowledge.memory_rules import OPENING, without_correction
from foveal.knowledge.values import MemoryKind
from foveal.model import Role
from foveal.pipeline.summarize.language import (
    MAX_SENTENCE,
    asks,
    head_and_tail,
    is_reported_speech,
    sentences,
    split_pasted,
)

MOST_READ = 2_000
"""Characters that are read at each end of a text; users do not write more about themselves."""
MOST = 8
"""The most statements of one text; a text with more is a questionnaire or a story."""


def _any(listed: str) -> str:
    """A pattern for one of the words."""
    return f"(?:{'|'.join(listed.split())})"


_CALLED = r"(?-i:[A-Z][\w'-]+)"
_WHEN = _any(
    "asap back today tomorrow mon(?:day)? tue\\w* wed\\w* thu\\w* fri(?:day)? sat(?:urday)? sun(?:day)?"
)
_KIN = _any(
    "husband wife partner spouse sister brother son daughter mother father mom dad dog cat boss manager"
)
_TRADE = _any(
    """
    developer designer teacher writer manager producer director editor lawyer painter photographer programmer
    researcher consultant accountant assistant student nurse doctor professor analyst architect founder owner
    officer chef coach driver farmer trainer author actor actress freelancer contractor entrepreneur parent
    mother father mom dad veteran beginner citizen resident immigrant vegan vegetarian
    \\w+ist \\w+eer \\w+ian
    """
)
_HABIT = _any(
    """
    use eat drink work write want run take buy watch read listen start travel fly commit test deploy review
    format
    """
)
_NO_REQUEST = _any(
    """
    mind been ever an? the in by at on again had was seen saw knew thought felt heard forget say too so more
    here there up for your? my [a-z]+ing [a-z]+ed
    """
)
"""Words after `always` and `never` that make it no request."""
_THIS = _any("this that it these those you him her them to when how")
"""Objects that make a dislike a momentary one."""
_IDENTITY = re.compile(
    rf"""{OPENING}(?:
        my[ ](?:full[ ]|first[ ]|last[ ])?name(?:'s|[ ]is)[ ]{_CALLED}
        | (?:please[ ])?call[ ]me[ ](?!{_WHEN}\b){_CALLED}
        | I(?:'m|[ ]am)[ ](?:called[ ]|named[ ])?{_CALLED}(?:[ ]{_CALLED})?,
        | I(?:'m|[ ]am)[ ]an?[ ](?:[\w-]+[ ]){{0,3}}{_TRADE}\b
        | I(?:'m|[ ]am)[ ]\d{{1,2}}(?:[ ]years[ ]old|\.|$)
        | I(?:'m|[ ]am)[ ](?:originally[ ]|currently[ ]|now[ ])?(?:from|based[ ]in|living[ ]in)[ ]{_CALLED}
        | I[ ](?:currently[ ]|now[ ])?(?:live|reside)[ ](?:in|near|with|on|at)\b
        | I[ ](?:currently[ ]|now[ ])?work[ ](?:at|for|as|with|in)\b
        | I[ ](?:currently[ ]|now[ ])?(?:study|teach|own|run[ ]an?)\b
        | I[ ](?:just[ ]|recently[ ])?(?:moved[ ]to|grew[ ]up[ ]in|was[ ]born[ ]in)[ ]{_CALLED}
        | my[ ]{_KIN}(?:'s[ ]name)?[ ]is[ ](?:called[ ]|named[ ])?{_CALLED}
        | my[ ](?:job|profession|major|native[ ]language|mother[ ]tongue|time[ ]?zone|birthday|role)[ ]is\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_PREFERENCE = re.compile(
    rf"""{OPENING}(?:
        I[ ](?:really[ ]|strongly[ ]|generally[ ]|usually[ ]|always[ ]|much[ ]|definitely[ ])?prefer\b
        | my[ ](?:preference|preferred|favou?rite)[ ]\w+
        | I[ ](?:always|never|usually|only)[ ]{_HABIT}\b
        | I(?:'m|[ ]am)[ ]allergic[ ]to\b
        | I[ ](?:don't|do[ ]not|can't|cannot)[ ](?:eat|drink|use|stand|like)\b(?![ ]{_THIS}\b)
        | I[ ](?:really[ ])?(?:hate|dislike)\b(?![ ]{_THIS}\b)
        | I(?:[ ]want|[ ]need|[ ]would[ ]like|'d[ ]like)[ ]you[ ]to[ ](?:always|never)\b
        | (?:please[ ])?(?:always|never)[ ](?:{_HABIT}[ ]\w|(?!{_NO_REQUEST}\b)[a-z]{{2,}}[ ]\S+[ ]\w)
        | from[ ]now[ ]on,?[ ]\w
        | in[ ](?:the[ ])?future,?[ ](?:please|always|never|use|don't)\b
        | by[ ]default,?[ ](?:use|please|always)\b
        | please[ ](?:do[ ]not|don't)[ ]ever\b
        | whenever[ ]you[ ](?!were\b|are\b)\w+
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_LIKING = re.compile(
    rf"{OPENING}I(?:'d| would)? (?:(?:really|also|only|always) )?(?:like|love|enjoy|want|hate)\b",
    re.IGNORECASE,
)
"""In passing this is about the moment; in what a user asks to be remembered it is a lasting preference."""
_MOMENT = _any("time day night one moment when summer winter year guy girl man woman thing part scene")
_PAST = r"(?:you\b|I[ ](?:\w+[^\We]ed|told|said|had|was|were|sent|gave|did|went|saw)\b)"
"""Beginnings that recall something instead of stating it."""
_SUPPOSED = re.compile(
    rf"\b(?:{_any('if imagine suppose supposing pretend wish might maybe perhaps considering wondering')}"
    r"|let's say|as though|(?:would|could) have|thinking (?:about|of)|not sure|for example|e\.g)\b",
    re.IGNORECASE,
)
_ASKED = re.compile(
    rf"{OPENING}(?:please[ ])?remember(?::|[ ]that\b(?![ ]{_MOMENT}\b),?|(?=[ ](?:I|my)\b))"
    rf"[ ](?!{_PAST})(?=\w)",
    re.IGNORECASE,
)
"""A request to remember the rest of the sentence."""
_ENDS_WITH_POINTER = re.compile(r"\b(?:this|that|it|them|these|those)[.!]*$", re.IGNORECASE)
_FEWEST, _FEW = 3, 4
"""The fewest words of a statement, and up to how many it is none if it ends with a word like `this`."""


def statements_in(text: str, role: Role) -> tuple[tuple[MemoryKind, str], ...]:
    """The kind and text of each statement, in order; only users make statements.

    >>> statements_in("My name is Ana. Could I be a painter? Always use tabs here.", "user")
    (('identity', 'My name is Ana.'), ('preference', 'Always use tabs here.'))
    >>> statements_in("No wait, my name is Anna. Please remember that I use vim.", "user")
    (('identity', 'My name is Anna.'), ('fact', 'I use vim.'))
    """
    if role != "user":
        return ()
    short = (
        each
        for each in sentences(split_pasted(head_and_tail(text, MOST_READ))[0])
        if len(each) <= MAX_SENTENCE
    )
    cleaned = dict.fromkeys(map(without_correction, short))
    found = [statement for each in cleaned if (statement := _statement(each))]
    return tuple(found) if len(found) <= MOST else ()


def _statement(sentence: str) -> tuple[MemoryKind, str] | None:
    asked = _ASKED.match(sentence)
    said = without_correction(sentence[asked.end() :], again=True) if asked else sentence
    if not _is_statement(said.replace("’", "'")):
        return None
    kind = requested_kind(said) if asked else kind_of(said)
    return (kind, said) if kind else None


def _is_statement(sentence: str) -> bool:
    many = len(sentence.split())
    if asks(sentence) or sentence.endswith((":", "…")) or many < _FEWEST:
        return False
    return not (
        is_reported_speech(sentence)
        or _SUPPOSED.search(sentence)
        or (many <= _FEW and _ENDS_WITH_POINTER.search(sentence))
    )


def kind_of(sentence: str) -> MemoryKind | None:
    """Whether a sentence states who the user is or what they prefer; None if neither.

    >>> kind_of("I live in Lyon."), kind_of("I prefer tea."), kind_of("The cat is old.")
    ('identity', 'preference', None)
    """
    plain = sentence.replace("’", "'")
    if _IDENTITY.match(plain):
        return "identity"
    return "preference" if _PREFERENCE.match(plain) else None


def requested_kind(sentence: str) -> MemoryKind:
    """The same for what a user asks to be remembered: a fact if it is nothing else.

    >>> requested_kind("I like short answers."), requested_kind("The cat is old.")
    ('preference', 'fact')
    """
    liked = _LIKING.match(sentence.replace("’", "'"))
    return kind_of(sentence) or ("preference" if liked else "fact")
