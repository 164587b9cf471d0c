"""Decide what one sentence of a user states: a rule, a preference, a fact, a correction, or nothing.

Questions, suppositions, reported speech, quoted and pasted text, remarks about the moment and sentences of a
text that the user asks about state nothing. Sentences are judged by their English words alone; what is said
in another language is not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Literal

from foveal.pipeline.summarize.language import is_reported_speech, typed_sentences
from foveal.pipeline.summarize.rule_patterns import (
    CORRECTED_ORDERS,
    PHRASES,
    REVOCATIONS,
    About,
    Ends,
    Phrase,
    RuleKind,
)

CLAUSES = 8
"""Clauses of a sentence that are read."""
MOST_WORDS = 20
"""Words of a sentence beyond which a demand on things is prose."""
Opening = Literal["", "corrects", "withdraws"]
"""What the words before a statement say: nothing, that it corrects, or that it takes back what was said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What one sentence states."""

    kind: RuleKind
    weight: float
    about: About = ""
    """What it says about the user in every session; empty for what only concerns the work at hand."""
    slot: str = ""
    """What it gives the one value of: name, diet, language, …"""
    beside: str = ""
    """The words beside that value, which may narrow it: `for the docs`."""
    phrase: Phrase | None = None
    """How it was recognised, if by a phrase."""
    start: int = 0
    """Where it begins in the sentence, after a request to remember it."""
    ends: Ends | None = None
    """What it ends, if it is a withdrawal or a permission and states nothing else."""
    what: str = ""
    """The words for what it ends."""


_POLITE = (
    r"(?:can|could|would|will)[ ]you[ ](?:please[ ])?"
    r"(?=(?:always|never|only|not|keep|call|stop|avoid|answer|reply|use|be)\b)"
)
_IS_POLITE = re.compile(_POLITE, re.IGNORECASE | re.VERBOSE)
_SKIPPED = re.compile(
    rf"""(?:(?:hi|hello|hey|so|well|oh|ok|okay|also|and|but|or|btw|by[ ]the[ ]way|anyway|yes|yeah|yep
    |thanks|thank[ ]you|great|perfect
    |please|pls|plz|then|just|again|fyi|nb|important|note|reminder|additionally|finally|lastly|otherwise
    |still|certainly|of[ ]course|now(?=[ ](?:you|we|it's|it[ ]is)\b)
    |sure|absolutely|for[ ](?:context|reference|the[ ]record|your[ ]information)|one[ ](?:more|last
    |other)[ ]thing|in[ ]general|generally
    |as[ ](?:a[ ]rule|i[ ]said|mentioned|always)|most[ ]importantly|especially|preferably|personally
    |honestly|unfortunately|because|since
    |as|although|though|i[ ]should[ ](?:mention|add)(?:[ ]that)?|just[ ]so[ ]you[ ]know
    |you[ ]should[ ]know[ ]that|note[ ]that|be[ ]aware[ ]that
    |hi[ ]there|hello[ ]there|[*_#>"'(\[]{{1,3}})(?:[\s,.:!;—–-]{{1,4}}|(?<=[*_#>"'(\[]))|{_POLITE})""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words before a statement that say nothing."""
_CORRECTING = re.compile(
    r"""(?:(?:no|nope|sorry|wait|oops|(?:(?:a|one|small|quick|minor|slight|little)[ ]){0,2}correction
    |my[ ]mistake|on[ ]second[ ]thoughts?|i[ ]was[ ]wrong|change[ ]of[ ]plans?|i[ ]misspoke)
    (?:\s?[,.!:;…—–-]{1,3}\s?|\s(?=(?:i|my|call|always|never|only|use|actually)\b))|actually[,:]?\s
    |(?:it[ ])?turns[ ]out(?:[ ]that)?,?\s|i[ ](?:meant|mean)(?:[ ]to[ ]say)?(?:[ ]that)?[,:]?\s)""",
    re.IGNORECASE | re.VERBOSE,
)
_NAMED_CORRECTION = re.compile(
    r"(?:(?:an?|one|small|quick|minor|slight|little) ){0,2}correction ?[:,–—-]", re.IGNORECASE
)
_WITHDRAWING = re.compile(
    r"""(?:(?:scratch|forget|ignore|disregard|strike|never[ ]mind)[ ](?:that|this|it
    |what[ ]i[ ](?:just[ ])?said)|i[ ]take[ ](?:that|it)[ ]back)\s?[,.!:;…—–-]{1,3}\s?(?=\w)""",
    re.IGNORECASE | re.VERBOSE,
)
_KEEP_IN_MIND = re.compile(
    r"""(?:(?:please[ ])?remember(?::|[ ]that\b(?![ ](?:time|day|night|one|moment|when|summer|winter|year
    |guy|girl|man|woman|thing|part|scene)\b),?
    |(?=[ ](?:i|my|we|our|not|never|always)\b)|[ ]to(?=[ ](?:always|never|only|use|run|ask|check|test)\b))
    |(?:please[ ])?(?:keep|bear)[ ]in[ ]mind(?:[ ]that|:)?|(?:please[ ])?(?:don't|do[ ]not)[ ]forget[ ]that)
    [ ](?!you\b|i[ ](?:\w+[^\We]ed|told|said|had|was|were|sent|gave|did|went|saw)\b)(?=\w)""",
    re.IGNORECASE | re.VERBOSE,
)
_CLAUSE = re.compile(r"(?:[,;:—–]|\s-)\s|\s(?=(?:and|but|because|since|so|as)\s)")
_SUPPOSED = re.compile(
    r"\b(?:(?<!as )if|imagine|suppose|supposing|pretend|wish|might|maybe|perhaps|considering|wondering"
    r"|let's say|as though"
    r"|(?:would|could) have|thinking (?:about|of)|not sure|for example|e\.g|what if|hope|hoping"
    r"|should have(?! (?:an?|the|no|at|only|\d)))\b",
    re.IGNORECASE,
)
_SUPPOSITION = re.compile(
    r"\W{0,3}(?:(?:but|so|and|now|well|please)\W{1,3})?(?:what if|suppose|supposing|imagine|pretend"
    r"|hypothetically|let's (?:say|suppose|assume|imagine|pretend)"
    r"|(?:assume|assuming|say)(?: that)? (?:i|we|you|they)"
    r"|if (?:i|we|you|they)(?: had)? (?:decided|agreed|chose|chosen|settled))\b",
    re.IGNORECASE,
)
_SUPPOSES_SELF = re.compile(r"if\s(?:i|we)\b", re.IGNORECASE)
"""A rule may depend on a condition; what users suppose of themselves is no condition."""
_SUBORDINATE = re.compile(
    r"(?:if|when(?! you\b)|where|which|who|while|whether|that|how|why|what|then)\b", re.IGNORECASE
)
_SUBJECT = re.compile(
    r"(?:i|we|you|they|he|she|it|there|this|that|these|those|the|an?|my|our|your|his|her|their|some|all|can|could|would"
    r"|do|does|did|is|are|[A-Z]\w+ (?:is|has|does|was))\b",
    re.IGNORECASE,
)
"""How a clause begins whose subject the next one may share."""
_POINTS = re.compile(r"(?<!\S)(?:this|that|it|them|these|those|so)[.!]*$", re.IGNORECASE)
_CONSOLES = re.compile(
    r"\b(?:yourself|dreams?|your heart|proud|feelings?|have fun|good luck|congrat\w*|amazing|awesome"
    r"|wonderful"
    r"|so much fun|hang in there|stay strong|believe in)\b",
    re.IGNORECASE,
)
_BEGINS = re.compile(r"[*_\"'“(]{0,3}[^\W_]")
_CODE = re.compile(r"[{}<>|=;\\]|\(\)|::|->|\b(?:def|return|import|const|var|func)\b |(?<!\w)\w++\.\w++\(")
_SCOPED = re.compile(
    r"\b(?:in|for|to|on|with|of) (?:this|that|these|those|the current) \w+|\bhere\b|\bfor now\b"
    r"|\bthis (?:time|week|weekend|month|"
    r"file|function|one|session|task|project|repo|branch|trip|answer|message|email|chat|conversation)\b|\btoday\b|\btonight\b|\btomorrow\b"
    r"|\bright now\b|\bat the moment\b|\byet\b|\buntil\b|\b[\w-]+/[\w-]+|\b\w+\.(?:py|js|ts|go|rs|md|java"
    r"|c|cpp|html|css|json|toml|ya?ml)\b",
    re.IGNORECASE,
)
"""What applies to one file, one occasion or one session."""
_TEXT = (
    r"(?:docs?|documentation|manual|book|article|page|readme|licen[cs]e|spec(?:ification)?|text|passage"
    r"|sentence|paragraph|quote|poem|lyrics|letter|contract)"
)
_ASKS_ABOUT = re.compile(
    rf"""^[^\n:]{{0,80}}?\b(?:(?:explain|translate|summari[sz]e|rephrase|paraphrase|proofread|interpret|shorten
    |polish)(?:[ ]to[ ]me)?(?:[ ](?:this|these|that|the[ ]following)\b[^\n:]{{0,40}}
    |[ ](?:my|the)[ ][^\n:]{{0,30}}{_TEXT}\b[^\n:]{{0,20}})?
    |what[ ](?:does|do|is|would)[ ][^\n:]{{0,40}}\bmean\b[^\n:]{{0,20}}
    |i[ ](?:just[ ]|once[ ]|also[ ])?(?:read|heard|saw|found|came[ ]across)\b[^\n:]{{0,40}}
    |(?:from|per)[ ](?:the|their|its|an?|your|this)[ ][^\n:]{{0,30}}\b{_TEXT}
    |(?:this|following)[ ](?:[\w-]{{1,20}}[ ])?{_TEXT}[^\n:]{{0,30}})
    :(?P<quoted>[ \t]+\S[^\n]*|\s*\Z|[ \t]*\n)""",
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
"""A line that introduces a text the user asks about."""
_DOUBTS = re.compile(
    r"""\b(?:is[ ](?:that|this|it)[ ](?:really[ ])?(?:right|true|correct|so)|what[ ]do(?:es)?[ ](?:you[ ]think
    |(?:this|that|it|they)[ ](?:\w+[ ])?mean)|what[ ]would[ ]be[ ]an[ ]example|(?:can|could|would)[ ]you
    [ ](?:please[ ])?explain|do[ ]you[ ]agree|how[ ](?:should|do)[ ]i[ ](?:read|understand)
    |i[ ]don't[ ]understand)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""A question about what a text says: demands on things beside it are probably that text."""
_DESCRIBES = re.compile(
    r"\b(?:usually|typically|generally|which|whose|thereof|hereby|itself|[Ss]uch an?|such as|i\.e|e\.g"
    r"|see [A-Z]|this means|evaluate[sd]?|determines?|licen[cs]e|implementations|operands?|shall"
    r"|(?:is|are) called|the same as)\b"
)
"""Words of prose, not of a person who demands something."""
_QUOTES = re.compile(
    r"\b(?<!our )(?:docs?|documentation|manual|guidelines|books|articles|they|people|some|many|experts|most)"
    r" (?:say|claim|recommend|state|suggest)\b",
    re.IGNORECASE,
)
"""Words for what others say, beside those of any reported speech."""
_VOUCHED = re.compile(
    r"(?:^|(?<=\s))(?:my|our|the) (?:doctor|allergist|dentist|vet|nurse|therapist|boss|manager"
    r"|lead|client|customer|lawyer|landlord|teacher|professor|team)(?: just)? (?:says|said|told (?:me|us)"
    r"|tells (?:me|us)|thinks)(?: that)? (?=(?:i|i'm|we|we're|my|our)\b)",
    re.IGNORECASE,
)
"""Whose word about them users adopt."""


def own_sentences(text: str) -> Iterator[tuple[str, str]]:
    """The sentences in which users speak for themselves, verbatim, each with a form to classify it by.

    >>> [said for said, _ in own_sentences("Call me Sam.\\nTranslate this: I live in Rome. It is warm.")]
    ['Call me Sam.', 'Translate this:']
    """
    kept, at = [], 0
    for found in _ASKS_ABOUT.finditer(text):
        kept.append(text[at : found.start("quoted")])
        if not found["quoted"].strip():
            at = len(text)
            break
        at = found.end()
    yield from typed_sentences("".join((*kept, text[at:])))


def doubts(text: str) -> bool:
    """Whether a message asks what a text means or whether it is right."""
    return bool(_DOUBTS.search(text))


_AUXILIARY = "do does did is am are was were must should may can could would will shall have has had better"
REJECTION = re.compile(
    rf"(?:{''.join(rf'(?<!{each})' for each in _AUXILIARY.split())}(?<!'[msd])(?<!'re) not|, never"
    rf"| instead of| rather than"
    r"| over|\bno longer) (?P<out>[^,.;!?]{1,60})"
    r"|\b(?:i'm|i am|it's|my name is|is) not (?P<was>[^,.;!?]{1,40})(?=,)",
    re.IGNORECASE,
)
"""What a statement rejects in favour of something else."""
CHOICE = re.compile(r"\b(?:prefer|use|choose|want|switch|take|go with|rather|switched)\b", re.IGNORECASE)


@lru_cache(maxsize=1 << 12)
def statement(plain: str) -> Statement | None:
    """What a sentence states, if anything."""
    plain = _VOUCHED.sub(", ", plain).removeprefix(", ")
    rest, opening = without_opening(plain)
    asked = _KEEP_IN_MIND.match(rest)
    rest = rest[asked.end() :] if asked else rest
    if last := _revocation(rest, only="last"):
        return last
    if not _can_state(plain, rest):
        return None
    found = _found(rest, corrects=bool(opening))
    if found is None and asked and not _SUPPOSED.search(rest):
        found = Statement(kind="fact", weight=0.9, about="fact")
    if found is None and _NAMED_CORRECTION.match(plain):
        found = Statement(kind="correction", weight=0.7)
    if found is None:
        return None
    if asked:
        found = replace(
            found,
            weight=max(found.weight, 0.9),
            about=found.about or "fact",
            start=len(plain) - len(rest),
        )
    slot, beside = (found.slot, "") if found.slot else slot_of(rest)
    return replace(
        found,
        kind="correction" if opening else found.kind,
        about="" if _SCOPED.search(rest) else found.about,
        slot=slot,
        beside=beside,
    )


def without_opening(plain: str) -> tuple[str, Opening]:
    """A sentence without the words before its statement, and what they say about it."""
    at = 0
    opening: Opening = ""
    for _ in range(6):
        if found := _WITHDRAWING.match(plain, at):
            opening = "withdraws"
        elif found := _CORRECTING.match(plain, at):
            opening = opening or "corrects"
        elif not (found := _SKIPPED.match(plain, at)):
            break
        at = found.end()
    return plain[at:], opening


def _can_state(plain: str, rest: str) -> bool:
    asks = plain.rstrip("\"')]*_ ").endswith(("?", "？"))
    if (asks and not _IS_POLITE.search(plain)) or plain.endswith((":", "…")):
        return False
    many = rest.count(" ") + 1
    if many < 2 or (many <= 4 and _POINTS.search(rest)) or not _BEGINS.match(plain):
        return False
    letters, digits = sum(map(str.isalpha, plain)), sum(map(str.isdigit, plain))
    return (
        letters >= 0.4 * len(plain)
        and letters + digits + plain.count(" ") >= 0.7 * len(plain)
        and len(_CODE.findall(plain)) < 2
        and not is_reported_speech(plain)
        and not _QUOTES.search(plain)
        and not _CONSOLES.search(plain)
    )


def _found(rest: str, *, corrects: bool) -> Statement | None:
    """The strongest statement among the clauses of a sentence."""
    best: Statement | None = None
    supposed = _SUPPOSED.search(rest)
    conditional = supposed and supposed[0].lower() == "if" and not _SUPPOSES_SELF.match(rest)
    prose = _is_prose(rest)
    for clause in _clauses(rest):
        for phrase in PHRASES:
            if best and phrase.weight <= best.weight:
                continue
            if (supposed and (phrase.kind != "rule" or not conditional)) or (prose and phrase.impersonal):
                continue
            if phrase.pattern.match(clause):
                best = Statement(
                    kind=phrase.kind,
                    weight=phrase.weight,
                    about=phrase.about,
                    slot=phrase.slot,
                    phrase=phrase,
                )
    return best or (None if supposed and not conditional else _correction(rest, corrects=corrects))


def is_supposition(sentence: str) -> bool:
    """Whether a sentence only asks to suppose something.

    >>> is_supposition("Suppose we decided to drop it."), is_supposition("If tests fail, we decided to stop.")
    (True, False)
    """
    return bool(_SUPPOSITION.match(sentence.replace("’", "'")))


def _is_prose(rest: str) -> bool:
    return rest.count(" ") >= MOST_WORDS or bool(_DESCRIBES.search(rest))


def _correction(rest: str, *, corrects: bool) -> Statement | None:
    """What a sentence that no phrase matches takes back, permits or rejects."""
    if revoked := _revocation(rest):
        return revoked
    if corrects and (REJECTION.search(rest) or CHOICE.match(rest)):
        return Statement(kind="correction", weight=0.6)
    return _revocation(rest, CORRECTED_ORDERS) if corrects else None


def _revocation(
    rest: str, patterns: tuple[tuple[Ends, re.Pattern[str]], ...] = REVOCATIONS, *, only: Ends | None = None
) -> Statement | None:
    for clause in _clauses(rest):
        for ends, pattern in patterns:
            if (only is None or ends == only) and (found := pattern.match(clause)):
                what = found.groupdict().get("what") or ""
                return Statement(kind="correction", weight=0.6, ends=ends, what=what)
    return None


def _clauses(rest: str) -> Iterator[str]:
    """The clauses that can be understood without what precedes them, each with the rest of the sentence."""
    if not _SUBORDINATE.match(rest):
        yield rest
    for found in islice(_CLAUSE.finditer(rest), CLAUSES):
        clause = without_opening(rest[found.end() :])[0]
        shared = found[0].isspace() and _SUBJECT.match(rest) and not _SUBJECT.match(clause)
        if not shared and not _SUBORDINATE.match(clause):
            yield clause


_JOB = (
    r"(?:developer|designer|teacher|lawyer|programmer|researcher|consultant|accountant|nurse|doctor|professor"
    r"|analyst|architect|chef|driver|farmer|engineer|scientist|dentist|pharmacist|journalist|plumber)"
)
_LANGUAGES = (
    r"(?:english|french|german|spanish|italian|portuguese|dutch|polish|russian|chinese|mandarin|japanese|korean|arabic|hindi|turkish"
    r"|swedish|danish|norwegian|finnish|czech|greek|hebrew|ukrainian|catalan)"
)
_LENGTH = r"(?:short|brief|concise|terse|long|detailed|thorough|verbose)(?:er)?"
_SLOTS = tuple(
    (slot, re.compile(pattern, re.IGNORECASE))
    for slot, pattern in (
        (
            "length",
            rf"^be (?:[\w-]+ ){{0,2}}{_LENGTH}\b|^keep (?:(?:your|the|all|my) )?(?:answers?|repl(?:y|ies)"
            rf"|responses?|explanations?|messages|it|things|everything)\b.{{0,20}}\b{_LENGTH}\b"
            rf"|\b{_LENGTH},? (?:[\w-]+,? ){{0,2}}(?:answers?|repl(?:y|ies)|responses?|explanations?)\b",
        ),
        (
            "language",
            rf"\b(?:(?:answer(?:s|ing)?|repl(?:y|ies|ying)|responses?|respond(?:ing)?|speak(?:ing)?|talk"
            rf"|communicate|switch|chat)\b.{{0,20}}|write (?:back |to me )?in )\b{_LANGUAGES}\b",
        ),
        ("units", r"\b(?:metric|imperial) (?:units?|system)"),
        ("indentation", r"\b(?:tabs|(?:two|four|eight|\d) spaces|use spaces|with spaces|prefer spaces)\b"),
        ("quotes", r"\b(?:single|double) quotes\b"),
        ("naming", r"\b(?:snake|camel|pascal|kebab)[ _-]?case\b"),
        ("clock", r"\b(?:12|24)-hour\b"),
        ("spelling", r"\b(?:british|american) (?:spelling|english)\b"),
        (
            "diet",
            r"\b(?:i'm|i am|i eat) (?:an? |now |not |no longer )?(?:\w+ )?(?:vegetarian|vegan|pescatarian"
            r"|omnivore|meat)\b",
        ),
        ("marital status", r"^(?:i'm|i am) (?:now |not )?(?:married|single|divorced|widowed|engaged)\b"),
        ("formality", r"\b(?:formal|informal|casual)\b"),
        ("job", rf"^(?:i'm|i am) an? (?:[\w-]{{1,20}} ){{0,3}}{_JOB}\b"),
        ("deadline", r"\bdeadline\b"),
        ("budget", r"\bbudget\b"),
    )
)
_VERSION = re.compile(
    r"\b(?:use|on|upgraded? to) (?!(?:ports?|pages?|lines?|floor|level|step|day|room|team|track|table|part"
    r"|number|jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]{0,6}\b)"
    r"([a-z][\w+#]{1,20}) v?\d+(?:\.\d+)*\b",
    re.IGNORECASE,
)
_OWN_VALUE = re.compile(
    r"my (?:new |current )?((?:full |first |last |middle )?name|e-?mail|time ?zone|phone|address|birthday|age"
    r"|job title|pronouns|username|handle"
    r"|(?:native |first )?language|favou?rite [\w-]{2,20}|[\w-]{2,20} (?:number|id|code))(?: address"
    r"| number)? (?:is|are|isn't|aren't)\b",
    re.IGNORECASE,
)


def slot_of(rest: str) -> tuple[str, str]:
    """What a sentence gives the one value of, and the words beside it; empty if it has no such value."""
    if own := _OWN_VALUE.match(rest):
        return own[1].lower(), ""
    if version := _VERSION.search(rest):
        return f"version of {version[1].lower()}", rest[version.end() :]
    for slot, pattern in _SLOTS:
        if found := pattern.search(rest):
            beside = (
                ""
                if slot in ("diet", "job", "marital status")
                else f"{rest[: found.start()]} {rest[found.end() :]}"
            )
            return slot, beside
    return "", ""
