"""Find the rules, preferences and facts that a user states, and those of them that still hold.

A rule says what must always or never happen, a preference what the user likes better, a fact something about
the user or their project, a correction that something said before is different. A later one replaces an
earlier one only if it says the same, contradicts it, gives the same thing another value, or takes it back.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from foveal.pipeline.signals import STOP_WORDS
from foveal.pipeline.summarize.language import MAX_SENTENCE
from foveal.pipeline.summarize.rule_patterns import ACT, Ends, Phrase, RuleKind
from foveal.pipeline.summarize.statements import (
    CHOICE,
    REJECTION,
    Opening,
    doubts,
    own_sentences,
    slot_of,
    statement,
    without_opening,
)

MOST = 12
"""The most rules of one message: its strongest."""
READ = 4_000
"""Characters that are read at each end of a message; what is between was pasted."""
RAREST, COMPARED = 6, 128
"""Of how many of its rarest words, and with how many of the latest rules with each, a rule is compared."""
JUST = 2
"""Messages back to which something was said just before: the one that a reply lies between."""


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
    doubtful = doubts(text[: 2 * READ])
    found: dict[str, Rule] = {}
    for sentence, plain in _sentences(text):
        stated = statement(plain)
        if sentence not in found and stated and not (doubtful and stated.phrase and stated.phrase.impersonal):
            found[sentence] = Rule(seq=seq, text=sentence, kind=stated.kind, weight=stated.weight)
    heaviest = sorted(found.values(), key=lambda rule: -rule.weight)[:MOST]
    return tuple(rule for rule in found.values() if rule in heaviest)


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """The sentences of a text short enough to be a rule; of a long text, those of its head and its tail."""
    ends = (text,) if len(text) <= 2 * READ else (text[:READ], text[-READ:])
    for end in ends:
        yield from (each for each in own_sentences(end) if 4 < len(each[0]) <= MAX_SENTENCE)


_NEGATIVE = re.compile(
    r"\b(?:not|never|no|nothing|nobody|avoid|without|stop|don't|dont|doesn't|can't|cannot|won't|mustn't|shouldn't|hate"
    r"|dislike|off[ -]limits|alone"
    r"|untouched|read-only|forbidden|refrain|out of|less|can't stand)\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\b(?:now|again|instead|after all|any ?more|no longer|moved|changed|actually|correction|sorry)\b",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"\d|^(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?"
    r"|january|february|march|april|june|july|august|september|october|november|december)$"
)
_ITEM_ID = re.compile(r"(?<!\w)#?[A-Z0-9]{1,12}[-_]?\d[\w-]*")
_LIMITS = re.compile(
    r"\b(?:more|less|fewer|longer|shorter|later|earlier|higher|lower|larger|older) than\b"
    r"|\bexceed\w*\b|\bat most\b|\b(?:over|above|below|under|beyond|before|after|past) [$€£]?\d",
    re.IGNORECASE,
)
"""A prohibition beyond a number: another number moves the limit."""
_RESTRICTS = re.compile(
    r"\b(?:only|allerg\w{2,4}|intoleran\w{1,2}|at most|maximum|vegan|vegetarian|ask|check with|wait for)\b",
    re.IGNORECASE,
)
"""Statements without a negation that a permission can end."""
_QUALIFIED = re.compile(r"\b(?:without|unless|until|except|before)\b", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:must|should|shall|may|can|is|are|has|have|needs?|runs?|uses?|stays?)\b", re.IGNORECASE
)
"""A number before it says which thing is meant; one after it is a value."""
_SCOPE = re.compile(
    r"\b(?:for|in|on|inside|within|under|with|when|during)\s(?P<scope>[^,.;:!?]{1,80})", re.IGNORECASE
)
_TAIL = re.compile(r"(?:[,;:—–]|\s-)\s|\s(?:because|since|as|so|but)\s", re.IGNORECASE)
_CONDITION = re.compile(
    r"(?:if|when|whenever|before|after|unless|until|while|in|for|from|on|by|as)\b", re.IGNORECASE
)
_AND = re.compile(r",?\s(?:and|but)\s", re.IGNORECASE)
_LIST = re.compile(r"\s(?:and|or|nor)\s", re.IGNORECASE)
_ACT = re.compile(ACT, re.IGNORECASE | re.VERBOSE)
_TOKEN = re.compile(r"[^\W_]+(?:[./_@][^\W_]+)*")
_COMMON_WORDS = """
always never ever don doesn use using used prefer like love hate dislike enjoy want need really much please
actually sorry wait correction instead rather longer still only just anymore ok okay fine may must should
shall will ll ve re d m make sure keep now again moved said forget stop avoid name called call directly
strictly absolutely definitely calling preferring switched migrated back allowed permitted alright right
welcome too
"""
_COMMON = STOP_WORDS | frozenset(_COMMON_WORDS.split())
"""Words that say how something is stated, not what."""
_MEASURE_WORDS = """
end start day week month year quarter dollar euro pound usd eur percent indentation indent
"""
_MEASURES = frozenset(_MEASURE_WORDS.split())
"""Words beside a value that do not narrow what it is the value of."""
_SAME = dict.fromkeys(("touch", "edit", "modifi", "rewrit", "alter", "updat"), "chang")
"""Verbs by one of the same meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stance:
    """A sentence as it is compared with others."""

    slot: str
    scope: frozenset[str]
    """The words that narrow what it gives a value of."""
    phrase: Phrase | None
    words: frozenset[str]
    """Stems of its content words."""
    main: frozenset[str]
    """Those of its main clause; of a withdrawal or permission, those for what it ends."""
    fixed: frozenset[str]
    """Those that are no values: all but numbers and days after the verb."""
    rejected: frozenset[str]
    """Those it rejects in favour of something else."""
    ends: Ends | None
    opening: Opening
    negative: bool
    restricts: bool
    """It forbids or limits something, so a permission can end it."""
    limits: bool
    qualified: bool
    """It forbids something only without something else."""
    listed: bool
    """It names several things, so what is said about one of them leaves the others."""
    compound: bool
    """It states something else besides, which a correction of the one does not end."""
    named: bool
    """It names a thing, not only an act."""
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
    rest, opening = without_opening(plain)
    stated = statement(plain)
    slot, beside = (stated.slot, stated.beside) if stated else slot_of(rest)
    rejected = [found["out"] or found["was"] for found in REJECTION.finditer(rest)]
    clause = _main_clause(stated.what if stated and stated.ends else rest)
    words, subject = _words(rest), _words(rest[: verb.start()] if (verb := _VERB.search(rest)) else "")
    negative = bool(_NEGATIVE.search(REJECTION.sub(" ", rest)))
    return _Stance(
        slot=slot,
        scope=_scope(beside),
        phrase=stated.phrase if stated else None,
        words=words,
        main=_words(clause),
        fixed=frozenset(word for word in words if word in subject or not _VALUE.search(word)),
        rejected=frozenset(word for each in rejected for word in _words(each)),
        ends=stated.ends if stated else None,
        opening=opening,
        negative=negative,
        restricts=negative or bool(_RESTRICTS.search(rest)),
        limits=bool(_LIMITS.search(rest)),
        qualified=bool(_QUALIFIED.search(rest)),
        listed=bool(_LIST.search(_main_clause(rest))),
        compound=bool(stated and stated.slot) and _states_more(rest, slot),
        named=any(not _ACT.fullmatch(word) for word in _TOKEN.findall(clause) if word.lower() not in _COMMON),
        changes=bool(opening or _CHANGES.search(plain)),
        chooses=bool(CHOICE.search(rest)),
        item=any(len(found) > (5 if found.isdigit() else 3) for found in _ITEM_ID.findall(rest)),
    )


def _states_more(rest: str, slot: str) -> bool:
    """Whether the part after `and` is a statement of its own, perhaps with the same subject."""
    found = _AND.search(rest)
    more = rest[found.end() :] if found else ""
    stated = statement(more) or statement(f"I {more}") if more else None
    return bool(stated and stated.phrase and stated.slot != slot)


def _main_clause(text: str) -> str:
    """A sentence without the reason or remark after it."""
    tail = None if _CONDITION.match(text) else _TAIL.search(text)
    return text[: tail.start()] if tail else text


def _scope(beside: str) -> frozenset[str]:
    found = _SCOPE.search(beside)
    words = _words(found["scope"]) if found else frozenset[str]()
    return frozenset(word for word in words if not _VALUE.search(word)) - _MEASURES


def _words(text: str) -> frozenset[str]:
    """Stems of the content words; names of one capital letter stay as they are."""
    found = [each[0] for each in _TOKEN.finditer(text)]
    letters = {each for each in found[1:] if len(each) == 1 and each.isupper()} - {"I"}
    return frozenset(
        each if each in letters else _stem(each.lower())
        for each in found
        if each in letters or each.lower() not in _COMMON
    )


def _stem(word: str) -> str:
    """A word without its ending, so that forms of one word are equal: commit, commits, committing."""
    if not word.isalpha() or _VALUE.search(word):
        return word.removesuffix("s")
    for end in ("ing", "s"):
        if word.endswith(end) and len(word) > len(end) + 2 and not word.endswith("ss"):
            word = word[: -len(end)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sle":
        word = word[:-1]
    if len(word) > 3:
        word = word[:-1] + "i" if word.endswith("y") else word.removesuffix("e")
    return _SAME.get(word, word)


def supersedes(later: str, earlier: str) -> bool:
    """Whether a later sentence replaces an earlier one: it says the same, the opposite, or another value.

    >>> supersedes("Actually use spaces, not tabs.", "Use tabs."), supersedes("Use tabs.", "Use vim.")
    (True, False)
    >>> supersedes("Never use port 22.", "Never use port 80."), supersedes("Use port 22.", "Use port 80.")
    (False, True)
    """
    return _supersedes(_stance(later), _stance(earlier))


def _supersedes(new: _Stance, old: _Stance) -> bool:
    if _rejects(new, old):
        return True
    if new.slot and new.slot == old.slot:
        return _gives_another_value(new, old)
    if new.ends:
        return _takes_back(new, old)
    if new.words == old.words:
        return bool(new.words)
    if new.negative != old.negative:
        return _contradicts(new, old)
    return bool(new.words & old.words) and _differs_in_value(new, old)


def _rejects(new: _Stance, old: _Stance) -> bool:
    """Whether one of two choices rejects what the other chose."""
    if new.rejected and new.rejected <= old.chosen and not old.negative:
        return not old.listed or new.rejected == old.chosen
    return bool(
        old.rejected and new.chooses and new.chosen and new.chosen <= old.rejected and not new.negative
    )


def _gives_another_value(new: _Stance, old: _Stance) -> bool:
    """Whether of two sentences about what has one value, the new one is about all that the old one was."""
    if old.compound and new.words != old.words:
        return False
    if old.negative and not new.opening and new.words != old.words:
        return not new.negative and bool(new.words & old.words) and new.scope == old.scope
    return new.scope == old.scope or bool(new.opening and not (new.scope and old.scope))


def _takes_back(new: _Stance, old: _Stance) -> bool:
    """Whether a withdrawal or permission is about the whole of an older statement."""
    if not _concerns(new, old):
        return False
    if new.main == old.main:
        return True
    if new.ends == "any":
        return not old.listed
    most = 2 * len(new.main) + (new.ends == "state")
    return new.main < old.main and new.named and not old.listed and len(old.main) <= most


def _concerns(new: _Stance, old: _Stance) -> bool:
    """Whether a withdrawal or permission is about an older statement, or about a part or a case of it."""
    if new.ends in (None, "last") or old.ends or not new.main or not old.main:
        return False
    if new.ends in ("any", "state"):
        return new.main <= old.words or old.main <= new.main
    if old.negative if new.ends == "demand" else not old.restricts:
        return False
    return new.main <= old.main or old.main <= new.main


def _contradicts(new: _Stance, old: _Stance) -> bool:
    """Whether one forbids what the other demands; a narrower prohibition only makes an exception."""
    if new.main == old.main:
        return bool(new.main)
    if new.qualified or old.qualified or min(len(new.main), len(old.main)) < 2:
        return False
    if new.main < old.main:
        return not old.listed
    return old.main < new.main and (not new.negative or new.changes)


def _differs_in_value(new: _Stance, old: _Stance) -> bool:
    """Whether both say the same kind of thing of the same subject, and the new one another value."""
    if new.fixed == old.fixed:
        moved = not new.negative or new.limits or bool(new.opening)
        return bool(new.fixed) and moved and (new.changes or not new.item)
    if not new.changes or new.phrase is None or new.phrase is not old.phrase or old.item:
        return False
    if new.negative and not new.opening:
        return False
    both_valued = new.fixed != new.words and old.fixed != old.words
    common, least = len(new.words & old.words), min(len(new.words), len(old.words))
    return 2 * common >= least and (bool(new.opening) or not both_valued)


def standing(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The rules that still hold, in order: each once, and of two that contradict each other the later one.

    >>> said = ("Use tabs.", "Call me Sam.", "Actually use spaces, not tabs.")
    >>> rules = [Rule(seq=seq, text=text, kind="rule") for seq, text in enumerate(said)]
    >>> [rule.text for rule in standing(rules)]
    ['Call me Sam.', 'Actually use spaces, not tabs.']
    """
    current: dict[int, tuple[Rule, _Stance]] = {}
    by_word: defaultdict[str, deque[int]] = defaultdict(lambda: deque(maxlen=COMPARED))
    by_slot: defaultdict[str, deque[int]] = defaultdict(lambda: deque(maxlen=COMPARED))
    for number, rule in enumerate(rules):
        stance = _stance(rule.text)
        rarest = sorted(stance.words, key=lambda word: (len(by_word[word]), word))[:RAREST]
        near = {at for word in rarest for at in by_word[word]}
        near |= set(by_slot[stance.slot]) if stance.slot else set()
        replaced = [at for at in near if at in current and _supersedes(stance, current[at][1])]
        if not replaced and (stance.ends == "last" or stance.opening == "withdraws"):
            replaced = _just_said(current, rule.seq)
        concerned = replaced or any(at in current and _concerns(stance, current[at][1]) for at in near)
        for at in replaced:
            del current[at]
        if stance.ends != "last" and (concerned or not stance.ends):
            current[number] = rule, stance
            if stance.slot:
                by_slot[stance.slot].append(number)
            for word in stance.words:
                by_word[word].append(number)
    return tuple(rule for rule, _ in current.values())


def _just_said(current: dict[int, tuple[Rule, _Stance]], seq: int) -> list[int]:
    """The last rule that holds, if the message before or the same one states it."""
    last = next(reversed(current), None)
    return [] if last is None or current[last][0].seq < seq - JUST else [last]
