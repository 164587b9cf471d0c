"""Find the rules, preferences and facts that a user states, and those of them that still hold.

A rule says what must always or never happen, a preference what the user likes better, a fact something about
the user or their project, a correction that something said before is different. Questions, suppositions,
reported speech, quoted and pasted text and remarks about the moment are none. Sentences are judged by their
English words alone; what is said in another language is not found.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from foveal.pipeline.signals import STOP_WORDS, WORD
from foveal.pipeline.summarize.language import MAX_SENTENCE, is_reported_speech, typed_sentences
from foveal.pipeline.summarize.rule_patterns import PHRASES, REVOCATIONS, About, Phrase, RuleKind

MOST = 12
"""The most rules of one message: its strongest."""
READ = 4_000
"""Characters that are read at each end of a message; what is between was pasted."""
CLAUSES = 8
"""Clauses of a sentence that are read."""
RAREST, COMPARED = 6, 128
"""Of how many of its rarest words, and with how many of the latest rules with each, a rule is compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Something that a user stated and that matters beyond the moment."""

    seq: int
    """The position of the message."""
    text: str
    """The whole sentence, verbatim."""
    kind: RuleKind
    weight: float = 0.5
    """0..1: how surely it still matters later. Where there is little room, the heaviest go first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What one sentence states."""

    kind: RuleKind
    weight: float
    about: About = ""
    """What it says about the user in every session; empty for what only concerns the work at hand."""
    slot: str = ""
    """What it gives the one value of: name, diet, language, …"""
    phrase: Phrase | None = None
    """How it was recognised, if by a phrase."""
    start: int = 0
    """Where it begins in the sentence, after a request to remember it."""


_POLITE = (
    r"(?:can|could|would|will)[ ]you[ ](?:please[ ])?"
    r"(?=(?:always|never|only|not|keep|call|stop|avoid|answer|reply|use|be)\b)"
)
_SKIPPED = re.compile(
    rf"""(?:(?:hi|hello|hey|so|well|oh|ok|okay|also|and|but|or|btw|by[ ]the[ ]way|anyway|yes|yeah|yep
    |thanks|thank[ ]you|great|perfect
    |please|pls|plz|then|just|again|fyi|nb|important|note|reminder|additionally|finally|lastly|otherwise
    |still|certainly|of[ ]course
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
    r"""(?:(?:no|nope|sorry|wait|oops|correction|scratch[ ]that|my[ ]mistake|on[ ]second[ ]thought
    |change[ ]of[ ]plans?|i[ ]misspoke)
    (?:\s?[,.!:;…—–-]{1,3}\s?|\s(?=(?:i|my|call|always|never|only|use|actually)\b))|actually[,:]?\s
    |i[ ](?:meant|mean)(?:[ ]to[ ]say)?(?:[ ]that)?[,:]?\s)""",
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
    r"|should have)\b",
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
_PROSE = re.compile(r"[*_\"'“(]{0,3}[^\W_]")
_CODE = re.compile(r"[{}<>|=;\\]|\(\)|::|->|\b(?:def|return|import|const|var|func)\b |\w+\.\w+\(")
_SCOPED = re.compile(
    r"\b(?:in|for|to|on|with|of) (?:this|that|these|those|the current) \w+|\bhere\b|\bfor now\b"
    r"|\bthis (?:time|week|weekend|month|"
    r"file|function|one|session|task|project|repo|branch|trip|answer|message|email|chat|conversation)\b|\btoday\b|\btonight\b|\btomorrow\b"
    r"|\bright now\b|\bat the moment\b|\byet\b|\buntil\b|\b[\w-]+/[\w-]+|\b\w+\.(?:py|js|ts|go|rs|md|java"
    r"|c|cpp|html|css|json|toml|ya?ml)\b",
    re.IGNORECASE,
)
"""What applies to one file, one occasion or one session."""
_NOTICE = re.compile(
    r"\s{0,40}(?:\[?request interrupted|this session is being continued|caveat: the messages below"
    r"|base directory for this skill"
    r"|observation:|command output|tool result|<)",
    re.IGNORECASE,
)
"""How messages begin that a program wrote in the user's name."""


def rules_in(text: str, seq: int) -> tuple[Rule, ...]:
    """The rules, preferences, facts and corrections in what a user typed, in order; at most twelve.

    >>> [(rule.kind, rule.text) for rule in rules_in("Fix it. Never use eval. Call me Sam. Is it ok?", 0)]
    [('rule', 'Never use eval.'), ('fact', 'Call me Sam.')]
    """
    if _NOTICE.match(text):
        return ()
    found: dict[str, Rule] = {}
    for sentence, plain in _sentences(text):
        if sentence not in found and (stated := statement(plain)):
            found[sentence] = Rule(seq=seq, text=sentence, kind=stated.kind, weight=stated.weight)
    heaviest = sorted(found.values(), key=lambda rule: -rule.weight)[:MOST]
    return tuple(rule for rule in found.values() if rule in heaviest)


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """The sentences of a text short enough to be a rule; of a long text, those of its head and its tail."""
    ends = (text,) if len(text) <= 2 * READ else (text[:READ], text[-READ:])
    for end in ends:
        yield from (each for each in typed_sentences(end) if 4 < len(each[0]) <= MAX_SENTENCE)


@lru_cache(maxsize=1 << 12)
def statement(plain: str) -> Statement | None:
    """What a sentence states, if anything."""
    rest, corrects = _skip(plain)
    asked = _KEEP_IN_MIND.match(rest)
    rest = rest[asked.end() :] if asked else rest
    if not _can_state(plain, rest):
        return None
    found = _found(rest, corrects=corrects)
    if found is None and asked and not _SUPPOSED.search(rest):
        found = Statement(kind="fact", weight=0.9, about="fact")
    if found is None:
        return None
    if asked:
        found = replace(
            found,
            weight=max(found.weight, 0.9),
            about=found.about or "fact",
            start=len(plain) - len(rest),
        )
    return replace(
        found,
        kind="correction" if corrects else found.kind,
        about="" if _SCOPED.search(rest) else found.about,
        slot=found.slot or _slot(rest),
    )


def _skip(plain: str) -> tuple[str, bool]:
    """A sentence without the words before its statement, and whether they mark a correction."""
    at, corrects = 0, False
    for _ in range(6):
        if found := _CORRECTING.match(plain, at):
            corrects = True
        elif not (found := _SKIPPED.match(plain, at)):
            break
        at = found.end()
    return plain[at:], corrects


def _can_state(plain: str, rest: str) -> bool:
    asks = plain.rstrip("\"')]*_ ").endswith(("?", "？"))
    if (asks and not re.search(_POLITE, plain, re.IGNORECASE | re.VERBOSE)) or plain.endswith((":", "…")):
        return False
    many = rest.count(" ") + 1
    if many < 2 or (many <= 4 and _POINTS.search(rest)) or not _PROSE.match(plain):
        return False
    letters, digits = sum(map(str.isalpha, plain)), sum(map(str.isdigit, plain))
    return (
        letters >= 0.4 * len(plain)
        and letters + digits + plain.count(" ") >= 0.7 * len(plain)
        and len(_CODE.findall(plain)) < 2
        and not is_reported_speech(plain)
        and not _CONSOLES.search(plain)
    )


def _found(rest: str, *, corrects: bool) -> Statement | None:
    """The strongest statement among the clauses of a sentence."""
    best: Statement | None = None
    supposed = _SUPPOSED.search(rest)
    conditional = supposed and supposed[0].lower() == "if" and not _SUPPOSES_SELF.match(rest)
    for clause in _clauses(rest):
        for phrase in PHRASES:
            if best and phrase.weight <= best.weight:
                continue
            if supposed and (phrase.kind != "rule" or not conditional):
                continue
            if phrase.pattern.match(clause):
                best = Statement(
                    kind=phrase.kind,
                    weight=phrase.weight,
                    about=phrase.about,
                    slot=phrase.slot,
                    phrase=phrase,
                )
    if best is None and REVOCATIONS.match(rest):
        return Statement(kind="correction", weight=0.6)
    if best is None and corrects and (_NOT.search(rest) or _CHOOSES.match(rest)):
        return Statement(kind="correction", weight=0.6)
    return best


def _clauses(rest: str) -> Iterator[str]:
    """The clauses that can be understood without what precedes them, each with the rest of the sentence."""
    if not _SUBORDINATE.match(rest):
        yield rest
    for found in islice(_CLAUSE.finditer(rest), CLAUSES):
        clause = _skip(rest[found.end() :])[0]
        shared = found[0].isspace() and _SUBJECT.match(rest) and not _SUBJECT.match(clause)
        if not shared and not _SUBORDINATE.match(clause):
            yield clause


_NEGATIVE = re.compile(
    r"\b(?:not|never|no|avoid|without|stop|don't|dont|doesn't|can't|cannot|won't|mustn't|shouldn't|hate"
    r"|dislike|off[ -]limits|alone"
    r"|untouched|read-only|forbidden|refrain|out of|less|can't stand)\b",
    re.IGNORECASE,
)
_AUXILIARY = "do does did is am are was were must should may can could would will shall have has had better"
_NOT = re.compile(
    rf"(?:{''.join(rf'(?<!{each})' for each in _AUXILIARY.split())}(?<!'[msd])(?<!'re) not|, never"
    rf"| instead of| rather than"
    r"| over|\bno longer) (?P<out>[^,.;!?]{1,60})"
    r"|\b(?:i'm|i am|it's|my name is|is) not (?P<was>[^,.;!?]{1,40})(?=,)",
    re.IGNORECASE,
)
"""What a statement rejects in favour of something else."""
_CHOOSES = re.compile(r"\b(?:prefer|use|choose|want|switch|take|go with|rather)\b", re.IGNORECASE)
_CHANGES = re.compile(
    r"\b(?:now|again|instead|after all|any ?more|no longer|moved|changed|actually|correction|sorry)\b",
    re.IGNORECASE,
)
_JOB = (
    r"(?:developer|designer|teacher|lawyer|programmer|researcher|consultant|accountant|nurse|doctor|professor"
    r"|analyst|architect|chef|driver|farmer|engineer|scientist|dentist|pharmacist|journalist|plumber)"
)
_LANGUAGES = (
    r"(?:english|french|german|spanish|italian|portuguese|dutch|polish|russian|chinese|mandarin|japanese|korean|arabic|hindi|turkish"
    r"|swedish|danish|norwegian|finnish|czech|greek|hebrew|ukrainian|catalan)"
)
_LENGTH = r"(?:short|brief|concise|terse|long|detailed|thorough|verbose)(?:er)?"
_ITEM_ID = re.compile(r"(?<!\w)#?[A-Z0-9]{1,12}[-_]?\d[\w-]*")
_SLOTS = tuple(
    (slot, re.compile(pattern, re.IGNORECASE))
    for slot, pattern in (
        (
            "length",
            rf"^(?:be|keep)\b.{{0,40}}\b{_LENGTH}\b|\b{_LENGTH},? (?:[\w-]+,? ){{0,2}}(?:answers?"
            rf"|repl(?:y|ies)|responses?|explanations?)\b",
        ),
        (
            "language",
            rf"\b(?:answers?|repl(?:y|ies)|responses?|respond|speak|talk|write|communicate|switch)\b.{{0,20}}\b{_LANGUAGES}\b",
        ),
        ("units", r"\b(?:metric|imperial) (?:units?|system)"),
        ("indentation", r"\b(?:tabs|(?:two|four|eight|\d) spaces|use spaces|with spaces|prefer spaces)\b"),
        ("spelling", r"\b(?:british|american) (?:spelling|english)\b"),
        (
            "diet",
            r"\b(?:i'm|i am|i eat) (?:an? |now |not )?(?:\w+ )?(?:vegetarian|vegan|pescatarian|omnivore"
            r"|meat)\b",
        ),
        ("formality", r"\b(?:formal|informal|casual)\b"),
        ("job", rf"^(?:i'm|i am) an? (?:[\w-]{{1,20}} ){{0,3}}{_JOB}\b"),
        ("deadline", r"\bdeadline\b"),
        ("budget", r"\bbudget\b"),
    )
)
_VERSION = re.compile(r"\b(?:use|on|upgraded? to) ([a-z][\w+#]{1,20}) v?\d+(?:\.\d+)*\b", re.IGNORECASE)
_OWN_VALUE = re.compile(
    r"my (?:new |current )?((?:full |first |last |middle )?name|e-?mail|time ?zone|phone|address|birthday|age"
    r"|job title|pronouns|username|handle"
    r"|(?:native |first )?language|favou?rite [\w-]{2,20}|[\w-]{2,20} (?:number|id|code))(?: address"
    r"| number)? (?:is|are)\b",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"\d|^(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?"
    r"|january|february|march|april|june|july|august|september|october|november|december)$"
)
_COMMON_WORDS = """
always never don doesn use using used prefer like love hate dislike enjoy want need really much please
actually sorry wait correction instead rather longer still only just anymore ok okay fine may must should
shall will ll ve re d m make sure keep now again moved said forget stop avoid name called call
"""
_COMMON = STOP_WORDS | frozenset(_COMMON_WORDS.split())
"""Words that say how something is stated, not what."""


def _slot(rest: str) -> str:
    if own := _OWN_VALUE.match(rest):
        return own[1].lower()
    if version := _VERSION.search(rest):
        return f"version of {version[1].lower()}"
    return next((slot for slot, pattern in _SLOTS if pattern.search(rest)), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stance:
    """A sentence as it is compared with others."""

    slot: str
    phrase: Phrase | None
    words: frozenset[str]
    """Its content words, in their singular."""
    fixed: frozenset[str]
    """Those that are no numbers or days."""
    rejected: frozenset[str]
    """Those it rejects in favour of something else."""
    negative: bool
    revokes: bool
    corrects: bool
    changes: bool
    chooses: bool
    item: bool
    """It names one of possibly many: a ticket, a reservation."""

    @property
    def chosen(self) -> frozenset[str]:
        return self.words - self.rejected


@lru_cache(maxsize=1 << 12)
def _stance(text: str) -> _Stance:
    plain = " ".join(text.replace("’", "'").split())[:MAX_SENTENCE]
    rest, corrects = _skip(plain)
    stated = statement(plain)
    rejected = [found["out"] or found["was"] for found in _NOT.finditer(rest)]
    plain_rest = _NOT.sub(" ", rest)
    words = _words(rest)
    return _Stance(
        slot=stated.slot if stated else _slot(rest),
        phrase=stated.phrase if stated else None,
        words=words,
        fixed=frozenset(word for word in words if not _VALUE.search(word)),
        rejected=frozenset(word for each in rejected for word in _words(each)),
        negative=bool(_NEGATIVE.search(plain_rest)),
        revokes=bool(REVOCATIONS.match(rest)) and not (stated and stated.phrase),
        corrects=corrects,
        changes=corrects or bool(_CHANGES.search(rest)),
        chooses=bool(_CHOOSES.search(rest)),
        item=any(len(found) > 3 for found in _ITEM_ID.findall(rest)),
    )


def _words(text: str) -> frozenset[str]:
    found = (word for word in WORD.findall(text.lower()) if word not in _COMMON)
    return frozenset(_singular(word) for word in found if len(word) > 1 or word.isdigit())


def _singular(word: str) -> str:
    for end in ("ing", "s"):
        if word.endswith(end) and len(word) > len(end) + 2 and not word.endswith("ss"):
            return word[: -len(end)]
    return word


def supersedes(later: str, earlier: str) -> bool:
    """Whether a later sentence replaces an earlier one: it says the same, the opposite, or another value.

    >>> supersedes("Actually use spaces, not tabs.", "Use tabs."), supersedes("Use tabs.", "Use vim.")
    (True, False)
    """
    return _supersedes(_stance(later), _stance(earlier))


def _supersedes(new: _Stance, old: _Stance) -> bool:
    common, least = len(new.words & old.words), min(len(new.words), len(old.words))
    if (new.slot and new.slot == old.slot) or _rejects(new, old):
        return True
    if new.revokes and not old.revokes:
        return common > 0 and 2 * common >= least
    if new.negative != old.negative:
        return common > 0 and (new.words == old.words or (least > 1 and 4 * common >= 3 * least))
    return common > 0 and (
        4 * common >= 3 * len(new.words | old.words)
        or (bool(new.fixed) and new.fixed == old.fixed and (new.changes or not new.item))
        or (new.changes and new.phrase is not None and new.phrase is old.phrase and not old.item)
    )


def _rejects(new: _Stance, old: _Stance) -> bool:
    """Whether one of two choices rejects what the other chose."""
    if new.rejected and new.rejected <= old.chosen and not old.negative:
        return True
    return bool(
        old.rejected and new.chooses and new.chosen and new.chosen <= old.rejected and not new.negative
    )


def standing(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The rules that still hold, in order: each once, and of two that contradict each other the later one.

    >>> said = ("Use tabs.", "Call me Sam.", "Actually use spaces, not tabs.")
    >>> rules = [Rule(seq=seq, text=text, kind="rule") for seq, text in enumerate(said)]
    >>> [rule.text for rule in standing(rules)]
    ['Call me Sam.', 'Actually use spaces, not tabs.']
    """
    current: dict[int, tuple[Rule, _Stance]] = {}
    by_word: defaultdict[str, deque[int]] = defaultdict(lambda: deque(maxlen=COMPARED))
    by_slot: dict[str, int] = {}
    for number, rule in enumerate(rules):
        stance = _stance(rule.text)
        rarest = sorted(stance.words, key=lambda word: (len(by_word[word]), word))[:RAREST]
        near = {at for word in rarest for at in by_word[word]} | {by_slot.get(stance.slot, -1)}
        replaced = [at for at in near if at in current and _supersedes(stance, current[at][1])]
        for at in replaced:
            del current[at]
        if replaced or not stance.revokes:
            current[number] = rule, stance
            if stance.slot:
                by_slot[stance.slot] = number
            for word in stance.words:
                by_word[word].append(number)
    return tuple(rule for rule, _ in current.values())
