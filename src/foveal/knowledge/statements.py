"""Find the sentences in which users describe themselves or state lasting preferences.

Precision before recall: what only concerns one file, one occasion or the work at hand is no memory, and a
message that the user calls confidential yields none. What users ask to be remembered is a fact if it is
nothing else.
"""

from __future__ import annotations

import re

from foveal.knowledge.memory_rules import without_correction
from foveal.knowledge.values import MemoryKind
from foveal.model import Role
from foveal.pipeline.summarize.language import MAX_SENTENCE, head_and_tail
from foveal.pipeline.summarize.statements import own_sentences, statement

MOST_READ = 2_000
"""Characters that are read at each end of a text; users do not write more about themselves."""
MOST = 8
"""The most statements of one text; a text with more is a questionnaire or a story."""
_LIKING = re.compile(
    r"I(?:'d| would)? (?:(?:really|also|only|always) )?(?:like|love|enjoy|want|hate)\b", re.IGNORECASE
)
"""In passing this is about the moment; in what a user asks to be remembered it is a lasting preference."""
_CONFIDENTIAL = re.compile(
    r"\b(?:confidential(?:ly)?|off the record|in confidence|between (?:us|you and me|the two of us)"
    r"|keep (?:this|that|it) (?:secret"
    r"|private|to yourself|quiet)|(?:don't|do not|never|please not) (?:remember|store|save|record"
    r"|memori[sz]e|note|keep) (?:this|that|it"
    r"|any of (?:this|that|it)|what i)|(?:don't|do not) tell (?:anyone|anybody|a soul)|forget (?:i said"
    r"|that i said|what i just said)"
    r"|not for the record|don't write (?:this|that|it) down|(?:this|that|it)(?:'s| is) (?:a )?(?:secret"
    r"|private))\b",
    re.IGNORECASE,
)


def statements_in(text: str, role: Role) -> tuple[tuple[MemoryKind, str], ...]:
    """The kind and text of each statement, in order; only users make statements.

    >>> statements_in("My name is Ana. Could I be a painter? Always use tabs.", "user")
    (('identity', 'My name is Ana.'), ('preference', 'Always use tabs.'))
    >>> statements_in("No wait, my name is Anna. Please remember that I use vim.", "user")
    (('identity', 'My name is Anna.'), ('fact', 'I use vim.'))
    """
    if role != "user":
        return ()
    read = head_and_tail(text, MOST_READ)
    if _CONFIDENTIAL.search(read.replace("’", "'")):
        return ()
    found: dict[str, MemoryKind] = {}
    for sentence, plain in own_sentences(read):
        if len(sentence) <= MAX_SENTENCE and (stated := statement(plain)) and stated.about:
            said = " ".join(sentence[stated.start :].split())
            said = without_correction(said, again=bool(stated.start))
            found.setdefault(said, requested_kind(said) if stated.start else stated.about)
    return tuple((kind, said) for said, kind in found.items()) if len(found) <= MOST else ()


def requested_kind(sentence: str) -> MemoryKind:
    """The kind of what a user asks to be remembered: a fact if it is nothing else.

    >>> requested_kind("I like short answers."), requested_kind("The cat is old.")
    ('preference', 'fact')
    """
    plain = sentence.replace("’", "'")
    stated = statement(plain)
    if stated and stated.phrase and stated.phrase.about:
        return stated.phrase.about
    return "preference" if _LIKING.match(plain) else "fact"
