"""The English phrases in which users state rules, preferences and facts, each with its kind and weight.

A pattern is matched where a clause begins. Each repetition in it is bounded, so matching takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, cast

RuleKind = Literal["rule", "preference", "fact", "correction"]
About = Literal["identity", "preference", "fact", ""]
Ends = Literal["prohibition", "demand", "state", "any", "last"]
"""What a withdrawal or permission ends; `last` is whatever was said just before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """One way to state something."""

    kind: RuleKind
    pattern: re.Pattern[str]
    weight: float
    """0..1: how surely such a sentence still matters when the conversation has moved on."""
    about: About = ""
    """What it says about the user in every session; empty for what only concerns the work at hand."""
    slot: str = ""
    """What it gives the one value of; a later value replaces it."""
    impersonal: bool = False
    """It is about things, so it may be a sentence of a text that the user asks about."""


def _any(listed: str) -> str:
    """A pattern for one of the words; `[ ]` in a word is a space."""
    return f"(?:{'|'.join(listed.replace('[ ]', '[_]').split()).replace('[_]', '[ ]')})"


def _phrases(table: str) -> Iterator[Phrase]:
    """The phrases of a table: kind, weight, about and slot, then after a bar the pattern, which may go on."""
    for row in re.split(r"\n(?=\S)", table.strip()):
        head, _, pattern = row.partition(" | ")
        kind, weight, about, slot = (each.strip("-").replace("_", " ") for each in head.split())
        yield Phrase(
            kind=cast("RuleKind", kind),
            pattern=re.compile(pattern, re.IGNORECASE | re.VERBOSE),
            weight=float(weight),
            about=cast("About", about),
            slot=slot,
        )


NAME = r"(?-i:[A-Z][\w'-]{1,30})"
_AM = r"(?:i'm|i[ ]am|im)[ ](?:also[ ]|actually[ ]|now[ ]|currently[ ]|originally[ ]|still[ ])?"
_NOW = r"(?:(?:now|currently|just|recently|also|have|'ve)[ ]){0,2}"
_NO_NAME = _any(
    r"""
    american canadian mexican german french british english spanish italian irish scottish dutch swiss
    austrian
    polish russian indian chinese japanese korean african asian european australian brazilian turkish greek
    christian catholic muslim jewish hindu buddhist i i'm ok okay not so very really the a an on in at just
    sure sorry glad happy here back done good fine using having going trying working looking getting
    """
)
_WHEN = _any(
    r"asap back later when if whenever at on before after tonight today tomorrow mon(?:day)? tue\w* wed\w*"
    r" thu\w* fri(?:day)? sat(?:urday)? sun(?:day)? crazy old-fashioned a an"
)
KIN = _any(
    """
    husband wife partner spouse sister brother son daughter mother father mom mum dad dog cat boss manager
    girlfriend boyfriend fianc[eé]e? aunt uncle grandmother grandfather grandma grandpa niece nephew cousin
    baby child kid roommate neighbou?r colleague assistant designer doctor therapist client team[ ]lead
    """
)
_TRADE = _any(
    r"""
    developer designer teacher writer manager producer director editor lawyer painter photographer programmer
    researcher consultant accountant assistant student nurse doctor professor analyst architect founder owner
    officer chef coach driver farmer trainer author actor actress freelancer contractor entrepreneur parent
    mother father mom dad veteran beginner citizen resident immigrant vegan vegetarian pescatarian member
    newbie novice expert diabetic celiac \w{2,20}ist \w{2,20}eer \w{2,20}ian
    """
)
_STATE = _any(
    r"""
    vegetarian vegan pescatarian diabetic celiac lactose[ ]intolerant gluten[ -]free gluten[ ]intolerant
    colou?r-?[ ]?blind deaf blind dyslexic autistic pregnant left-handed right-handed married single divorced
    widowed engaged retired unemployed self-employed hard[ ]of[ ]hearing kosher halal muslim jewish hindu
    buddhist christian catholic asthmatic epileptic american canadian german french british english spanish
    italian irish dutch swiss indian chinese japanese korean australian non-binary bilingual
    """
)
_HABIT = _any(
    """
    use eat drink work write want run take buy watch read listen start travel fly commit test deploy review
    format drive wear sleep pay accept
    """
)
ACT = _any(
    """
    touch edit change modify use write run delete remove add install push commit merge deploy call send book
    cancel create rename move open read access log print share mention include show tell ask answer reply
    respond speak talk explain quote contact charge buy order upgrade update upload download execute drop
    rewrite refactor reformat format skip test query restart stop start disable enable make take give suggest
    recommend cite verify validate treat address mark round double-check list translate return
    """
)
_ASIDE = _any(
    r"""
    worry know think mind bother(?![ ]with) hesitate you get[ ](?:me|it|why|how|what|so|too|discouraged)
    give[ ]up let feel care see understand have like miss believe remember recall forget fret sweat
    stress panic blame judge lose expect suppose mean look seem work want need even appear laugh
    be[ ](?:afraid|sorry|shy|scared|sad|too|ashamed|discouraged|hard|silly|surprised|worried)
    """
)
"""Words after `don't` that make it a remark."""
_NO_REQUEST = _any(
    r"""
    mind been ever an? the in by at on again had was seen saw knew thought felt heard forget say too so more
    here there up for your? my give stop ends? ends get gets know too easy enough happy great good fun nice
    love loved be there [a-z]+ing [a-z]+ed [a-z]{2,}[^s\W]s
    """
)
"""Words after `always` and `never` that make it no request."""
_THIS = _any("this that it these those you him her them to when how seeing being feeling having")
_POINTED = (
    r"(?:this|that|it|these|those|your|his|her|their|option|number|version|approach"
    r"|the[ ](?:\w+[ ])?(?:first|second|third"
    r"|fourth|last|latter|former|other|one|ones|new|old|latest|option|approach|version|idea|way|same)|[a-d]\b)"
)
"""Objects that make a preference one of the moment."""
_STYLE = _any(
    r"""
    short brief concise terse long longer shorter detailed simple small formal informal casual polite friendly
    honest blunt direct specific precise thorough professional verbose strict plain minimal clean readable
    technical neutral
    """
)
_REPLY = _any(
    "answers? repl(?:y|ies) responses? messages? explanations? summar(?:y|ies) sentences? emails? e-mails?"
)
_MEASURED = _any(
    "temperatures? distances? prices? dates? times? weights? lengths? amounts? units? numbers? sizes? costs?"
)
_KEPT = rf"""(?:{_STYLE}|compatible|unchanged|private|confidential|secret|untouched|intact|in[ ]sync
    |up[ ]to[ ]date
    |backwards?[ -]compatible|as[ ](?:is|it[ ]is|they[ ]are)|(?:under|below|within|to
    |at)[ ](?:most[ ])?(?:[$€£]?\d+|a|one|two|three|four
    |five|the)|the[ ]same|in[ ]mind|separate|stable|alone|out[ ]of)\b"""
_ITEM = (
    r"(?:ticket|issue|order|reservation|booking|confirmation|case|invoice|account|policy|customer|user|member(?:ship)?"
    r"|tracking|pull[ ]request|pr|task|bug|story|jira|loyalty|passport|flight)"
)
_ITEM_ID = r"(?-i:\#?[A-Z0-9][A-Z0-9_-]{0,15}\d[\w-]*|\#?\d{3,}|(?=[A-Z0-9]{5,8}\b)[A-Z0-9]*\d[A-Z0-9]*)"
_PROJECT = _any(
    r"""
    project repo repository codebase app application api server servers service services database db
    production
    prod staging ci pipeline build builds cluster machine device laptop team company client customer customers
    deadline budget release releases launch frontend backend website site product schema config code suite
    framework stack infrastructure infra devs? users? office report limit quota ticket branch port endpoint
    invoice contract event wedding party trip flight meeting exam thesis essay paper manuscript presentation
    """
)
_OWN = _any(
    r"""
    (?:full[ ]|first[ ]|last[ ]|middle[ ]|user[ ]?|maiden[ ])?name e-?mail phone address time[ ]?zone birthday
    age job[ ]title profession occupation major role title pronouns handle diet blood[ ]type employer salary
    (?:native[ ]|first[ ]|mother[ ])?(?:language|tongue) working[ ]hours shoe[ ]size date[ ]of[ ]birth
    postcode zip(?:[ ]code)? editor os operating[ ]system shell goal
    """
)
"""What a user has one of in every session."""
_OWN_HERE = _any(
    r"""
    number user[ ]?id account(?:[ ]number|[ ]id)? budget deadline company team project repo(?:sitory)? branch
    stack machine laptop computer car weight height size schedule membership password[ ]manager domain website
    reservation(?:[ ]number|[ ]id|[ ]code)? order(?:[ ]number|[ ]id)? confirmation[ ](?:number|code)
    flight[ ]number payment[ ]method frequent[ ]flyer[ ]number
    """
)
"""What a user has one of for the work at hand."""

_RULES = rf"""
rule 0.8 - - | you(?:'re|[ ]are)[ ](?:only|not)[ ]allowed[ ]to[ ]\w
rule 0.7 - - | (?:{ACT}|output|do|name)[ ](?:nothing[ ]but|everything[ ]in|all)[ ]\w
rule 0.7 - - | no[ ](?!one|need|problem|idea|way|doubt|worries)[a-z-]{{3,20}}[ ](?:in|on|with|before|after
    |at)[ ]\w
rule 0.8 - - | spell[ ](?:my|our|his|her)[ ]name\b
rule 0.8 - - | keep[ ](?:all|every|each)[ ]\w
rule 0.6 - - | (?:{ACT}|check|escape|sort|label|capitali[sz]e)[ ](?:all|every|each|everything|any)\b
rule 0.7 - - | {ACT}[ ][^,.;!?]{{1,60}},[ ]not[ ]\w
rule 0.7 - - | (?:{ACT}|accept)[ ][^,.;!?]{{1,60}}?[ ](?:only|exclusively)[.!]?$
rule 0.7 - - | (?:write|speak|explain|design)[ ]for[ ](?:an?[ ])?(?:[\w-]+[ ])?(?:audience|readers?
    |beginners|children|kids|experts)
rule 0.7 - - | i'd[ ](?:appreciate|like|prefer)[ ]it[ ]if[ ]you[ ](?:never|always|don't|didn't|could[ ]
    (?:always|not)|only)\b
rule 0.6 - - | (?:let's|we[ ]should|we'll|we[ ]now|please)[ ]use[ ][^,.;!?]{{1,60}}?[ ](?:instead[ ]of
    |rather[ ]than|not)[ ]\w
rule 0.7 - - | make[ ](?:it|the|your)[ ](?:\w+[ ])?{_STYLE}(?:er)?\b
rule 0.7 - - | (?:switch|change|go)[ ](?:back[ ])?to[ ](?:english|french|german|spanish|italian|portuguese
    |formal|metric)\b
rule 0.6 - - | no[ ](?!kidding|nothing|something|morning|evening)[a-z]{{3,}}ing\b(?![ ](?:is|was))
rule 0.6 - - | i[ ](?:need|have)[ ]to[ ](?:be|leave|arrive|finish|submit|pay|return
    |check[ ]in)\b[^.!?]{{0,40}}?\b(?:by|before)[ ](?:\d|noon|(?-i:[A-Z])\w+|tomorrow|tonight)
rule 0.95 preference - | keep[ ](?:your[ ]|the[ ]|all[ ]|my[ ])?(?:{_REPLY}|output)[ ]
    (?:[\w-]{{1,20}}[ ]){{0,2}}?{_KEPT}
rule 0.9 preference - | (?:do[ ]not|don't|stop|avoid|never)[ ](?:use|using)[ ](?:any[ ])?(?:emojis?|markdown
    |jargon|bullet[ ]points|tables|slang|headings|exclamation[ ]\w+)\b
rule 0.9 - - | under[ ]no[ ]circumstances\b|(?:strictly[ ])?(?:forbidden|off[ ]limits)\b
rule 0.9 - - | (?:do[ ]not|don't|dont)[ ](?:ever[ ])?(?!{_ASIDE}\b|ever\b)[a-z-]{{2,}}[ ]?\S
rule 0.5 - - | (?:do[ ]not|don't|dont)[ ]forget[ ]to[ ](?:always[ ])?{ACT}\b
rule 0.9 preference - | (?:please[ ])?(?:do[ ]not|don't)[ ]ever[ ]\w
rule 0.95 preference - | never[ ](?:ever[ ])?(?!give[ ]up\b)(?:(?:{_HABIT}|{ACT})\b|
    (?!{_NO_REQUEST}\b)[a-z-]{{2,}}[ ]\S)
rule 0.95 preference - | always[ ](?:(?:{_HABIT}|{ACT})[ ]\S|(?!{_NO_REQUEST}\b)[a-z]{{2,}}[ ]\S+[ ]\w)
rule 0.6 - - | (?:avoid|refrain[ ]from|stop)[ ](?:\w+ly[ ])?(?:[a-z]{{2,}}ing|any|all)\b
rule 0.6 - - | avoid[ ](?!it\b|that\b|this\b)\w+
rule 0.85 - - | only[ ](?:ever[ ])?(?:{ACT}|work|allow|accept|consider|fly|support)[ ]\S
rule 0.85 - - | (?:{ACT}|work[ ]on)[ ](?:only|nothing[ ]but)[ ]\w
rule 0.45 - - | (?:make[ ]sure|ensure|be[ ]sure|see[ ]to[ ]it)[ ](?:to|that|you|it|all|the|every|no|not
    |any)\b
rule 0.9 preference - | {_MEASURED}[ ](?:are[ ]|should[ ]be[ ]|must[ ]be[ ]|always[ ])?in[ ]\w
rule 0.9 - - | keep[ ](?:the|your|a)[ ](?:\w+[ ])?(?:tone|style|voice|language)[ ]\w|keep[ ](?!going|up\b
    |me\b|in[ ]touch|at[ ]it|trying|doing|it[ ]up|on\b|an[ ]eye|us\b|pushing)
    (?:[\w'-]{{1,20}}[ ]){{1,6}}?{_KEPT}
rule 0.9 preference - | be[ ](?:more[ ]|less[ ]|very[ ]|as[ ]|a[ ]bit[ ](?:more[ ])?)?{_STYLE}\b
rule 0.9 preference - | (?:{_STYLE}|one-line|one-word)(?:er)?,?[ ](?:\w+,?[ ])?{_REPLY}\b
rule 0.9 preference - | (?:let's[ ])?(?:answer|reply|respond|write|speak|talk|communicate|chat)(?:[ ](?:to
    |with)[ ](?:me|us|customers))?[ ](?:me[ ])?(?:only[ ]|always[ ]|back[ ])?(?:in|with|as|like|
    (?-i:[A-Z][a-z]+(?:ish|an|ch|ese|ic|i|ian)))\b
rule 0.8 - - | write[ ](?:all[ ]|your[ ]|the[ ])?(?:{_REPLY}|comments|code|docs|documentation|tests|commit
    |everything)\b
rule 0.8 - - | write[ ](?:[\w'-]{{1,20}}[ ]){{1,4}}?in[ ](?-i:[A-Z][a-z]+(?:ish|an|ch|ese|ic|i|ian))\b
rule 0.8 - - | (?:write|spell)[ ](?:it[ ]|[\"'“][^\"'”]{{1,30}}[\"'”][ ])(?:with|as|without|like)\b
fact 0.7 - - | (?:it's|it[ ]is|that's|(?:[\w']{{1,20}}[ ]){{0,3}}name[ ]is|\b\w++[ ]is)[ ](?:spelled|spelt
    |pronounced|written)\b
rule 0.8 - - | explain[ ](?:things|everything|it|stuff)?[ ]?(?:as[ ]if|like|as[ ]though|as[ ]simply
    |simply)\b
rule 0.9 - - | use[ ](?:only|just)[ ]\w
rule 0.9 preference - | use[ ](?:an?[ ]|the[ ]|my[ ]|our[ ])?(?:[\w-]{{1,20}}[ ]){{0,2}}?(?:tone|language
    |style|spelling|units?|system|format|quotes|indentation|tabs|spaces|case|english|hints|emojis|voice
    |convention|conventions|names|time|times|clock)\b
rule 0.85 - - | (?:use|take|choose|pick|install|write|call)[ ][^,.;]{{1,60}}?,?[ ](?:not|instead[ ]of
    |rather[ ]than|over|never)[ ]\w
rule 0.7 - - | use[ ](?:[\w.+#-]{{1,30}}[ ]){{1,3}}?v?\d[\w.]*
rule 0.8 - - | use[ ](?:at[ ]most|no[ ]more[ ]than|fewer[ ]than|up[ ]to)\b
rule 0.6 - - | use[ ](?:[\w.+#-]{{1,30}}[ ]){{1,3}}?(?:for[ ](?!{_POINTED}\b)\w|everywhere|throughout)
rule 0.8 - - | prefer[ ](?!that\b|this\b|it\b)\w
rule 0.7 - - | sign[ ](?:[\w-]{{1,20}}[ ]){{0,3}}?(?:as|with)[ ]\w
rule 0.5 - - | when[ ]you[ ]\w+[^.!?,]{{0,60}},[ ](?:please[ ]|always[ ]|never[ ])?(?:{ACT}|cite)\b
rule 0.7 - - | (?:max|maximum|min|minimum|at[ ]most|no[ ]more[ ]than|up[ ]to)\.?[ ](?:of[ ])?\d+[ ]\w
rule 0.6 - - | we[ ](?:never|only)[ ](?:{_HABIT}|{ACT})\b
rule 0.85 - - | (?:give|show|send|tell)[ ](?:me[ ])?(?:only|just|code[ ]only|{_STYLE}[ ]{_REPLY}
    |{_MEASURED}[ ]in)\b
rule 0.85 - - | (?:code|text|answers?|json|results?|facts)[ ]only\b|(?:just|only)[ ]the[ ](?:code|answer
    |result)\b
rule 0.85 - - | no[ ](?!worries|thanks|problems?|issues?|ideas?|one|way|doubts?|need|matter|wonder|longer
    |more[ ]questions|questions|plans|rush|words|changes[ ]needed|errors|files|results|others?
    |hard[ ]feelings|regrets|stress|matches|kidding|big[ ]deal|i\b|it\b|that\b)(?:(?:new|more|external|extra
    |breaking|public|other|third-party|bullet|code|unnecessary|additional)[ ]){{0,2}}[a-z-]{{3,}}s\b(?!\s+
    (?:are|is|were|was|have|has)\b)
rule 0.9 - - | (?:leave[ ](?:[\w./'-]{{1,40}}[ ]){{1,6}}?(?:alone|untouched|unchanged|as[ ](?:is|it[ ]is
    |they[ ]are)|intact|out\b)|stay[ ](?:out[ ]of|away[ ]from|within|below|under)|hands[ ]off|keep[ ]
    (?:out[ ]of|away[ ]from|your[ ]hands[ ]off))
rule 0.9 - - | (?:[\w./'-]{{1,40}}[ ]){{1,6}}?(?:is|are)[ ](?:strictly[ ])?(?:off[ -]limits|read-only
    |forbidden|not[ ]allowed|prohibited|taboo|not[ ]negotiable|non-negotiable|mandatory|frozen)\b
rule 0.9 - - | (?:(?:you[ ]should[ ])?(?:always[ ])?ask[ ]before\b)|(?:you[ ]should[ ])?(?:always[ ])?(?:ask
    |check|consult|tell|warn|notify|confirm|wait|let|get|run[ ]it[ ]by|show|clear[ ]it)[ ](?:with[ ]
    |for[ ])?(?:me|us|my|the[ ]user|permission|confirmation|approval)\b[^.!?]{{0,60}}?\b(?:before|first
    |prior|approv\w{{1,4}}|confirm\w{{0,6}}|ok|okay|permission|sign-?off|go-ahead)\b
rule 0.7 - - | (?:{ACT}|lint|check|back[ ]up|squash|rebase|bump)\b[^.!?,]{{1,60}}?\b(?:before|after|with
    |on)[ ](?:you|each|every|any|all|committing|pushing|merging|editing|changing)\b
rule 0.6 - - | (?:before|after)[ ](?:you[ ]\w+|each|every|any|committing|pushing
    |merging)\b[^.!?]{{1,60}},[ ](?:please[ ])?(?:{ACT}|make|always|never|check|lint)\b
rule 0.8 preference - | from[ ]now[ ]on,?[ ]\w|going[ ]forward,?[ ](?:please|always|never|use|don't|I'd)
rule 0.8 preference - | in[ ](?:the[ ])?future,?[ ](?:please|always|never|use|don't)\b
rule 0.8 preference - | by[ ]default,?[ ](?:use|please|always)\b
rule 0.8 preference - | (?:whenever|every[ ]time|each[ ]time)[ ]you[ ](?!were\b|are\b|see\b|feel\b|need\b
    |want\b)\w+
rule 0.7 - - | until[ ]i[ ](?:say|tell)\b|unless[ ]i[ ](?:say|tell|ask)\b
rule 0.6 - - | stick[ ](?:to|with)[ ](?!it\b|that\b|me\b)\w|let's[ ]stick[ ](?:to|with)[ ]\w
rule 0.7 - - | follow[ ](?:the[ ]|our[ ]|my[ ])?(?:[\w-]{{1,20}}[ ]){{0,3}}?(?:guide|guidelines?
    |conventions?|style|rules|standards?|PEP)\b
rule 0.7 - - | limit[ ](?:yourself|your|the|all|it|{_REPLY})\b
rule 0.7 - - | skip[ ](?:the[ ]|all[ ]|any[ ])?(?:basics|explanations?|intro\w*|small[ ]talk|pleasantries
    |disclaimers|preamble)\b
rule 0.5 - - | assume[ ](?:that[ ])?(?:i|we|no|all|nothing)\b|treat[ ](?:all|every|any|my|user)\b
rule 0.6 preference - | (?:i[ ](?:want|need|would[ ]like|expect)|i'd[ ]like)[ ]you[ ](?:to[ ])?(?:always
    |never|only|not)[ ]
rule 0.8 preference - | (?:i[ ](?:want|need|would[ ]like)|i'd[ ]like)[ ](?:\w+,?[ ]){{0,2}}?
    (?:{_STYLE},?[ ]){{1,3}}{_REPLY}\b
rule 0.6 - - | (?:i[ ](?:want|need|would[ ]like)|i'd[ ]like)[ ]you[ ]to[ ](?:be[ ]\w|keep|stop|avoid|use
    |answer|reply|ask|check|include|call[ ]me|write[ ](?:all|every|your|in))\b
rule 0.55 - - | i[ ](?:really[ ]|definitely[ ]|also[ ])?(?:don't|do[ ]not|won't)[ ]want[ ](?:to[ ](?:spend
    |pay|be|use|change|fly|add|go[ ]over|exceed|break|lose[ ]any)\b|(?!to\b|this\b|that\b|it\b(?![ ]to))\w)
rule 0.6 - - | (?:i|we)[ ]can[ ]only[ ]\w|(?:i|we)[ ](?:can|could)[ ]spend[ ]
rule 0.6 - - | (?:we|it|this|that|everything)[ ](?:need|must|ha(?:s|ve)|needs|is)(?:[ ]to)?[ ]
    (?:\w+[ ]){{1,5}}?(?:by|before|until|due[ ]on|due[ ]by)[ ](?:\d|(?-i:[A-Z])\w+|tomorrow|tonight|next
    |the[ ]end|noon)
rule 0.5 - - | no[ ]need[ ]to[ ]{ACT}\b(?![^.!?]{{0,80}}\b(?:any[ ]?more|any[ ]longer)\b)
rule 0.7 - - | we[ ](?:must(?:n't|[ ]not|[ ]never|[ ]always|[ ]only)|may[ ]not|shouldn't
    |should[ ](?:not|never|always|only)|are[ ]not[ ]allowed[ ]to)[ ](?!have\b|be[ ])\w
"""
"""What must always or never happen, and how."""
_DEMANDS = rf"""
rule 0.6 - - | (?:anything|everyone|[a-z]{{3,20}}s)[ ](?:[\w$]{{1,15}}[ ]){{0,3}}?(?:needs?|must
    |should[ ]be)[ ](?!(?:be[ ])?(?:so|really|very|great)\b|to[ ]be\b|help\b)[\w'$,.-]+
    (?:[ ][\w'$,.-]+){{0,7}}$
rule 0.75 - - | (?:everything|anything)[ ](?:[\w']{{1,15}}[ ]){{0,3}}?(?:should|must|has[ ]to|needs[ ]to)[ ]
    (?:be|stay|run|work)\b
rule 0.6 - - | you[ ](?:must|have[ ]to|need[ ]to)[ ](?:also[ ])?{ACT}\b
rule 0.8 - - | (?:nothing|none[ ]of[ ][\w ]{{1,30}}|nobody|no[ ]one)[ ](?:should|must|may|can)[ ]\w
rule 0.8 - - | you(?:[ ](?:must|should|shall|may)(?:[ ](?:not|never|always|only)|n't)|[ ]mustn't
    |[ ]shouldn't|'re[ ]not[ ]allowed|[ ]are[ ](?:not|only)[ ]allowed|[ ](?:can't|cannot|can[ ]only
    |can[ ]not))[ ](?:to[ ])?{ACT}\b
rule 0.8 - - | (?!(?:i|you|we|he|she|they|there|what|which|who|that|this|it)\b)
    (?:[\w'./-]{{1,30}}[ ]){{1,7}}?(?<!would[ ])(?:(?:must|may|should|shall)(?:[ ]not|n't|[ ]never|[ ]always
    |[ ]only)|must|ha(?:s|ve)[ ]to|needs?[ ]to)[ ](?:be(?![ ](?:so|really|very|such|great|cool|nice|hard
    |tough|amazing|interesting|fun|an?|the|correct|something|awesome|quite|due)\b)|stay|remain|run|work|use
    |follow|support|fit|pass|contain|include|match|keep|return|change|leave|go|exceed|compile|build|handle
    |accept|allowed|permitted|start|end|come|comply|break|touch|know|see|contact)\b
rule 0.7 - - | (?:it|this|that|everything)[ ](?:must|has[ ]to|needs[ ]to)[ ](?:not[ ]|never[ ]|always[ ]
    |also[ ])?(?:stay|remain|run|work|use|support|fit|pass|match|keep|return|compile|build|handle|cost
    |arrive|leave|look|be[ ](?:valid|able|compatible|done|finished|ready|under|at|in|on|less|no|kept|written
    |available|backwards?|short|fast|safe|idempotent|deterministic|thread|before|by|delivered|accessible|
    (?:a[ ])?(?:direct|nonstop)))\b
rule 0.75 - - | (?:all|every|each|any|no)[ ](?!(?:of|day|days|time|moment|year|week|one|single|step|my|the
    |this|that|those)\b)(?:[\w'-]{{1,30}}[ ]){{1,4}}?(?:must|needs?|should|has[ ]to|have[ ]to|requires?|gets
    |may|are[ ]in|is[ ]in)\b
rule 0.85 - - | (?:{_REPLY}|output|comments?|commit[ ]messages?|code|names?)[ ](?:should|must|in|need)[ ]\w
rule 0.6 - - | it[ ]should[ ](?:also[ ]|still[ ])?(?:run|work)[ ](?:on|with|in|without|offline)\b
rule 0.6 - - | [^.!?]{{1,80}}?\b(?:at[ ]most|no[ ]more[ ]than|not[ ]more[ ]than|no[ ]later[ ]than
    |no[ ]earlier[ ]than|a[ ]maximum[ ]of)[ ](?:[$€£]?\d|(?:one|two|three|four|five|six|seven|eight|nine
    |ten)\b)
fact 0.5 - - | the[ ](?:[\w'-]{{1,20}}[ ]){{1,3}}?(?:requires?|forbids?|prohibits?|allows?[ ](?:only|no)
    |must[ ]not|rate[ ]limit[ ]is)\b
"""
"""What something must be or do: it may be quoted from a text, which makes it no rule of the user."""
_PREFERENCES = rf"""
preference 0.85 preference - | i[ ](?:really[ ]|strongly[ ]|generally[ ]|usually[ ]|always[ ]|much[ ]
    |definitely[ ]|also[ ])?prefer[ ](?!{_POINTED}\b)\w
preference 0.6 - - | (?:i'd|i[ ]would)[ ](?:much[ ])?(?:prefer|rather)[ ](?!{_POINTED}\b|show|say|talk
    |wait)\w
preference 0.6 preference - | my[ ](?:preference[ ]is|preferred|favou?rite)[ ]\w+
preference 0.75 preference - | i[ ](?:always|never|usually|only)[ ]{_HABIT}\b
preference 0.6 preference - | i[ ](?:don't|do[ ]not|can't|cannot)[ ](?:eat|drink|use|stand|like)\b
    (?![ ]{_THIS}\b)
preference 0.6 preference - | i[ ](?:really[ ])?(?:hate|dislike)[ ](?!{_THIS}\b)\w
"""
"""What the user likes better."""
_FACTS = rf"""
fact 1.0 identity called | refer[ ]to[ ]me[ ]as[ ]\w
fact 0.6 fact - | i[ ]get[ ](?:\w{{0,5}}sick|migraines|anxious[ ]in)\b|{_AM}recovering[ ]from[ ]
    |{_AM}moving[ ]to[ ]{NAME}
fact 0.35 - - | (?:my|our)[ ](?:[\w'-]{{1,20}}[ ]){{1,2}}?(?:is|are|has|have|doesn't|don't|can't|needs?
    |uses?|works?|lives?|holds?|allows?)[ ](?!so\b|really\b|very\b|such\b|going\b|great\b|doing\b|getting\b
    |amazing\b|coming\b|about\b)[\w'$€£.-]+(?:[ ][\w'$€£.-]+){{0,7}}$
fact 0.55 - - | my[ ](?:team|company|boss|school|house|apartment|flat|exam|appointment|flight|wedding
    |interview|surgery|visa|passport|lease|contract|thesis|landlord|insurance|website|shop|business)[ ](?:is
    |has|uses?|starts?|ends?|expires?|lands|leaves|allows|needs?)[ ](?!so\b|really\b|going\b|great\b)\w
fact 0.5 - - | (?:the|our)[ ](?:[\w'-]{{1,20}}[ ]){{0,2}}?{_PROJECT}[ ](?:ends?|starts?|expires?|begins?
    |opens?|closes?)[ ](?:in|on|at)\b
fact 0.6 fact - | i[ ]have[ ](?:an?[ ])?(?:bad|chronic|weak|broken)[ ]\w|i[ ](?:already[ ])?own[ ]an?[ ]\w
fact 0.6 - - | {_AM}on[ ](?:the|an?)[ ][\w-]+[ ](?:plan|tier|subscription)\b|we[ ]follow[ ](?-i:[A-Z])\w
    |it's[ ](?:a[ ]\w+[ ])?for[ ]my[ ]{KIN}\b
fact 0.4 - - | our[ ](?:[\w'-]{{1,20}}[ ]){{1,3}}?(?:is|are|has|have|uses?|runs?|needs?|requires?)\b(?![ ]
    (?:so|really|very|such|great|amazing|the[ ]best|always|been|going|getting|coming|not|just|like|about
    |a[ ](?:great|big|lot)))
fact 0.5 - - | we[ ](?:don't|do[ ]not|can't|cannot)[ ](?:allow|have|support|need|accept|ship|sell|offer
    |use)[ ](?!to\b|that\b|it\b|time\b)\w
fact 0.5 - - | we[ ](?:ship|sell|deliver|meet|open|close|work|train|release|operate)[ ](?:only[ ])?(?:to|on
    |in|at|from|between|every)\b
fact 0.5 - - | (?:i|we)[ ](?:[\w']{{1,15}}[ ]){{1,4}}?(?:every|each|on)[ ](?:other[ ])?(?:(?:mon|tues|wednes
    |thurs|fri|satur|sun)days?)\b(?<!ed[ ]on)
fact 0.8 identity - | (?:my|our)[ ](?:kids|children|sons|daughters|twins|boys|girls|parents)[ ]are[ ](?:\d
    |called|named)
fact 0.45 - - | (?:my|our)[ ]{KIN}(?:-in-law)?[ ](?:starts|goes[ ]to|works|lives|has[ ]an?|needs|can't|hates
    |has|is[ ](?:an?|\d|visiting|allergic|from|in|expecting|pregnant))[ ]\w
fact 0.55 - - | i[ ](?:don't|do[ ]not)[ ](?:have|speak|own|drive|work|smoke|cook)[ ](?!(?:to|time|an?[ ]clue
    |any[ ]idea|the|it|that|this|much|enough|with|my|a[ ]lot|access[ ]to[ ]it)\b)\w
fact 0.7 identity - | i[ ]was[ ]born[ ](?:in|on)\b|{_AM}(?:afraid|scared|terrified)[ ]of[ ][a-z]+ing\b
fact 0.6 - - | {_AM}on[ ]a[ ](?:\w+[ ])?(?:budget|diet|deadline)\b
fact 0.5 - - | (?:the|my|our)[ ](?:client|customer|boss|manager|team|user|editor|teacher|professor|landlord
    |board|audience|reviewer)s?[ ](?:hates?|loves?|prefers?|wants?|requires?|needs?|expects?|insists?
    |dislikes?)[ ]
fact 0.5 - - | the[ ](?:repo|repository|project|app|codebase|backend|frontend|database|product|site)[ ]is[ ]
    (?:an?[ ]|written|built)
fact 0.6 - - | [^!?]{{1,60}}?\b(?:oldest|minimum|lowest|latest|only)[ ](?:\w+[ ])?(?:that[ ])?we[ ]
    (?:support|require|use|have)\b
fact 1.0 identity name | (?:my[ ]name(?:'s|[ ]is)|{_AM}(?:called|named))[ ](?:actually[ ]|now[ ]
    |not[ ])?{NAME}
fact 1.0 identity called | (?:you[ ](?:can|may)[ ])?(?:just[ ])?call[ ]me[ ](?!{_WHEN}\b){NAME}
fact 1.0 identity called | address[ ]me[ ]as[ ]\w
fact 1.0 identity called | i[ ]go[ ]by[ ]{NAME}
fact 0.9 identity name | (?:{_AM}|this[ ]is[ ])(?!{_NO_NAME}\b){NAME}(?:[ ]{NAME})?(?=[.!]|$|,[ ]|[ ](?:from
    |at|here|and|by)\b)
correction 1.0 identity name | {_AM}not[ ](?!{_NO_NAME}\b){NAME}|(?:my[ ]name(?:'s|[ ]is)[ ]not
    |my[ ]name[ ]isn't)[ ]{NAME}
fact 0.8 identity - | {_AM}(?:an?|the|her|his|their|{NAME}'s)[ ](?:[\w-]{{1,20}}[ ]){{0,3}}?{_TRADE}\b
    (?!,[ ]so[ ]many)
fact 0.9 identity - | {_AM}(?:an?[ ])?(?:\w+ly[ ])?{_STATE}\b
correction 0.9 identity - | {_AM}(?:no[ ]longer|not)[ ](?:an?[ ])?{_STATE}\b
fact 1.0 preference - | (?:{_AM}|i[ ]have[ ]|my[ ]{KIN}(?:[ ]\w+)?[ ](?:is|has)[ ])(?:an?[ ])?
    (?:[\w-]+[ ]){{0,3}}?(?:allergic|allergy|allergies|intolerant|intolerance)\b
fact 0.7 identity - | (?:i|we)[ ](?:keep|eat|follow)[ ](?:only[ ]|an?[ ])?(?:\w+[ ])?(?:kosher|halal|vegan
    |vegetarian|keto|paleo|gluten-free)\b
fact 0.8 identity age | {_AM}\d{{1,2}}(?:[ ]years[ ]old|\.|$)
fact 0.8 identity home | (?:{_AM}{_NOW}(?:based|located|living)[ ]in|(?:i|we)[ ]{_NOW}(?:(?:live|reside)[ ]
    (?:in|near|at|on)|(?:have[ ]|just[ ]|'ve[ ])?moved[ ]to)|i've[ ](?:just[ ])?moved[ ]to)\b
fact 0.7 identity - | {_AM}from[ ]{NAME}|i[ ](?:grew[ ]up|was[ ]born)[ ]in[ ]{NAME}|i[ ]live[ ](?:with
    |alone)\b
fact 0.8 identity job | i[ ]{_NOW}work[ ](?:as|in)[ ](?!it\b|progress)|my[ ](?:job|profession
    |occupation)[ ]is\b
fact 0.8 identity - | i[ ]{_NOW}work[ ](?:at|for|with|from|alone|nights?|part-time|full-time|remotely|\w+[ ]
    (?:shifts|hours|days))\b
fact 0.6 identity - | i[ ]{_NOW}(?:study|teach|own|run[ ]an?|speak)[ ](?!{_THIS}\b)(?:an?[ ]|the[ ])?(?!few
    |lot|bit)\w
fact 0.5 - - | i[ ]{_NOW}(?:use|drive)[ ](?!{_THIS}\b)\w
fact 0.9 identity - | (?:my|our)[ ]{KIN}(?:'s[ ]name)?[ ](?:is|are)[ ](?:now[ ]|actually[ ])?(?:called[ ]
    |named[ ])?(?:{NAME}|\d|
    (?:one|two|three|four|five|six|seven|eight|nine|ten)\b)
fact 0.6 identity - | (?:my|our)[ ]{KIN},?[ ]{NAME}\b,?[ ](?:is|has|works|lives|comes|reviews|will|needs
    |can)\b
fact 0.7 fact - | (?:i|we)(?:[ ]have|'ve[ ]got|[ ]have[ ]got)[ ](?:an?|one|two|three|four|five|\d{{1,2}}|no
    |type[ ]\d|only|severe|celiac|chronic)[ ]?(?:[\w-]{{1,20}}[ ]){{0,3}}?(?:kids?|children|sons?|daughters?
    |dogs?|cats?|rabbits?|pets?|brothers?|sisters?|siblings|twins|diabetes|asthma|disease|allerg\w+|ADHD
    |dyslexia|condition|migraines|background|experience[ ]with|degree|licen[cs]e|subscription|membership
    |insurance|passport|visa)\b
fact 0.6 - - | we(?:[ ]have|'ve[ ]got)[ ](?:only[ ]|just[ ])?(?:an?|one|two|three|four|five|\d{{1,4}})[ ]
    (?:[\w-]{{1,20}}[ ]){{0,2}}?(?:employees|developers|engineers|gpus?|servers?|seats?|environments?
    |machines?|branches|guests|people|tenants)\b
fact 0.7 fact - | i[ ]take[ ](?:[\w-]+[ ]){{0,3}}?(?:medication|medicine|meds|insulin|pills|thinners
    |antidepressants|statins)\b
fact 0.6 fact - | i[ ](?:just[ ])?turned[ ]\d{{1,2}}\b|i[ ]weigh[ ]\d
fact 0.6 - - | i[ ]need[ ](?:an?[ ])?(?:[\w-]{{1,20}}[ ])?(?:vegetarian|vegan|gluten-free|wheelchair|aisle
    |kosher|halal|everything|step-free)\b
fact 0.6 - - | i[ ]only[ ](?:have|own|know|speak)[ ]\w
fact 0.6 - - | (?:the|our|his|her|their)[ ](?:[\w'-]{{1,20}}[ ]){{1,3}}?(?:name[ ]is[ ](?:\w+\.[ ])?{NAME}
    |is[ ](?:called|named)[ ]\S)
fact 0.5 - - | (?!(?:i|we|you|they|he|she|it)\b)(?:[\w'-]{{1,20}}[ ]){{1,3}}?(?:live|lives|go|goes|belong
    |belongs|are[ ]stored|is[ ]stored)[ ](?:in|to|under|into)[ ][\w.~-]*/
fact 0.6 - - | we(?:'ve|[ ]have)?[ ](?:just[ ]|now[ ])?(?:standardi[sz]ed|settled|agreed|switched
    |migrated)[ ](?:back[ ])?(?:on|to)[ ](?!do\b|go\b|meet\b)\w
fact 0.6 - - | {_AM}(?:writing|building|making|doing)[ ]this[ ]for\b
fact 0.7 fact - | i[ ]have[ ](?:diabetes|asthma|adhd|dyslexia|migraines|epilepsy|arthritis|type)\b
fact 0.55 - - | (?:i|we)[ ](?:can't|cannot|can[ ]not|(?:am|'m|are)[ ](?:not[ ]able|unable)[ ]to)[ ](?:eat
    |drink|have|use|travel|fly|climb|walk|drive|work|take|afford|install|access|meet|leave|arrive|upgrade
    |change[ ]the)\b
fact 0.6 - - | {_AM}(?:training|saving(?:[ ]up)?|studying|preparing)[ ]for\b|{_AM}learning[ ]{NAME}
fact 0.7 identity - | {_AM}(?:new[ ]to|not[ ](?:very[ ])?familiar[ ]with|not[ ]an?[ ](?:\w+[ ])?(?:native
    |developer|programmer|engineer|expert))\b
fact 0.6 identity - | i[ ]know[ ](?:\w+[ ]){{1,3}}(?:well|already|inside)\b|i've[ ]never[ ](?:used|written
    |learned)\b|i[ ]don't[ ]know[ ](?:any[ ]|much[ ])?{NAME}
fact 0.7 identity - | {_AM}(?:on|running|using)[ ](?:an?[ ])?(?:windows|macos|mac|linux|ubuntu|android|ios
    |iphone|fedora|arch|medication|a[ ]diet)\b
fact 0.8 identity time_zone | {_AM}in[ ](?:the[ ])?(?:[\w+]+[ ])?time[ ]?zone\b|{_AM}in[ ](?:utc|gmt|cet|pst
    |est)\b
fact 0.8 identity - | my[ ]{_OWN}(?:[ ]address|[ ]number)?(?:[ ](?:is|are|was)|:)[ ]\S
fact 0.8 - - | my[ ]{_OWN_HERE}(?:[ ](?:is|are|was)|:)[ ]\S
fact 0.6 - - | my[ ](?:[\w-]{{1,20}}[ ]){{1,3}}(?:number|id|code|address)[ ](?:is|are)[ ]
fact 0.75 - - | [^.!?]{{0,60}}?\b{_ITEM}s?(?:[ ](?:number|id|code|no\.?))?s?(?::|[ ](?:is|are))[ ]{_ITEM_ID}
fact 0.55 - - | [^.!?]{{0,60}}?\b{_ITEM}(?:[ ](?:number|id|code|no\.?))?[ ]{_ITEM_ID}
fact 0.7 fact - | (?:you[ ]can[ ])?(?:reach|contact|call|e-?mail|text)[ ](?:me|us)[ ](?:at|on|under
    |via)[ ]\S*[\d@]
fact 0.5 - - | [^.!?\s][^!?]{{0,60}}?\b(?:to|is|at|use)[ ][\w.+-]{{1,40}}@[\w-]{{1,40}}\.\w{{2,}}
fact 0.75 - - | (?:our|the)[ ](?:[\w-]{{1,20}}[ ]){{0,3}}?(?:deadline|due[ ]date|budget|limit)
    (?:[ ](?:for|of)(?:[ ][\w'-]{{1,20}}){{1,4}}?)?(?:[ ](?:is|was|has[ ]been|are)|:)[ ]
fact 0.7 - - | we[ ](?:only[ ]|always[ ]|never[ ]|usually[ ]|currently[ ]|now[ ]|still[ ]|mostly[ ]|don't[ ]
    |do[ ]not[ ]|can't[ ]|cannot[ ]|also[ ]|just[ ])?(?:use|deploy|ship|release|host|support|target|indent
    |self-host|develop|build[ ](?:on|with|for)|run[ ](?:everything|our|on|all|in)|write[ ](?:our|all
    |everything)|store|follow[ ](?:the|a|our)|work[ ]with|accept|require|offer|test[ ](?:on|with|in)|log[ ]
    (?:to|all))\b[ ]\S
fact 0.6 - - | we(?:'re|[ ]are)[ ](?:an?[ ](?:small[ ]|tiny[ ]|big[ ])?(?:team|company|startup|group|family
    |non-?profit|agency|shop)|stuck[ ]on|on[ ]{NAME}|using|running|limited[ ]to|bound[ ]by)\b
fact 0.5 - - | we[ ](?:want|plan|intend|aim)[ ]to[ ](?:migrate|move|launch|replace|drop|release|switch|ship
    |finish|publish|open)\b
fact 0.65 - - | our[ ](?:[\w'-]{{1,20}}[ ]){{0,3}}?(?:{_PROJECT}|day|policy|rule|convention|customers
    |servers|tests|guide|year|contract|process)[ ](?:only[ ]|also[ ]|always[ ]|never[ ]|already[ ])?(?:is
    |are|has|have|had|runs?|uses?|must|needs?|supports?|lives?|expects?|can|cannot|can't|doesn't|don't
    |requires?|costs?|goes|go|opens?|closes?|forbids?|starts?|ends?|allows?)\b
fact 0.5 - - | the[ ](?:[\w'-]{{1,20}}[ ]){{0,2}}?{_PROJECT}[ ](?:only[ ]|just[ ]|now[ ])?(?:uses|runs[ ](?:on
    |in|at|under|with)|has[ ](?:only[ ]|just[ ])?(?:\d|one|two|no)|lives[ ]in|is[ ](?:written[ ]in|hosted
    |called|due|on[ ](?:port|version|branch)|at|limited|located|planned|scheduled)|goes[ ]out|go[ ]out
    |requires|targets|supports[ ]only)\b
fact 0.5 - - | (?:releases?|deploys?|deployments?|builds|stand-?ups?|meetings)[ ](?:go|goes|happens?|are|is
    |take|takes|run)[ ](?:\w+[ ]){{0,2}}?(?:every|on|at|each|only|place)\b
fact 0.5 - - | (?-i:[A-Z][a-z]{{1,20}})[ ](?:reviews|approves|owns|maintains|signs[ ]off|manages|leads
    |handles)[ ]
fact 0.6 - - | (?:this|it)(?:'s|[ ]is)[ ]for[ ](?:an?[ ](?:\w+[ ])?(?:audience|class|course|thesis|client
    |customer|blog|book|journal|presentation)|children|beginners|kids)\b
"""
"""What is so: about the user, their family, their project."""
_WHAT = r"(?P<what>(?:[^.;!?]|\.(?=\w)){1,160})"
_FINE = _any("fine ok okay alright all[ ]right allowed permitted welcome")
_FORBIDDEN = _any("off[ ]limits read-only frozen forbidden prohibited confidential banned locked")
_NO_OBJECT = _any(
    """
    the this that these those it its my our your his her their he she we i you they there everything
    something nothing all both what which if as
    """
)
_NOTICED = _any("get(?:t)? see know remember think understand find feel hear")
_WORKS = _any("work run compile build load start open respond pass show appear exist happen fail crash seem")
"""What something does not do any more if it is broken."""
_ANY_MORE = r"(?:any[ ]?more|any[ ]longer|after[ ]all)\b"
_WITHDRAW = r"(?:forget|ignore|disregard|scratch|strike|drop|never[ ]mind|i[ ]take[ ]back|cancel)"
_SAID = r"""(?:what[ ]i[ ](?:just[ ])?(?:said|told[ ]you|asked|wrote)(?:[ ](?:earlier|before))?
    |(?:the|my|that|our)[ ](?:(?:earlier|previous|last|old|first)[ ])?(?:rule|limit|restriction|part|thing|bit
    |request|instruction|preference|ban|remark)s?)"""
_ABOUT = r"(?:[ ](?:earlier|before))?[ ](?:about|on|regarding|concerning|for|with|to|against|of)[ ]"
_REVOCATIONS = rf"""
last | (?:(?:scratch|forget|ignore|disregard|strike|drop|cancel|never[ ]mind)[ ](?:that|this
    |(?:the|my|that)[ ](?:last[ ])?(?:rule|one|part|request|instruction)|what[ ]i[ ](?:just[ ])?said)
    |i[ ]take[ ](?:that|this|it)[ ]back)[ .!]*$
demand | (?:you[ ](?:(?:don't|do[ ]not)[ ](?:have|need)[ ]to|needn't|no[ ]longer[ ](?:have|need)[ ]to
    |(?:can|may)[ ](?:now[ ])?(?:stop|skip|quit))|i[ ]no[ ]longer[ ](?:need|want)[ ]you[ ]to
    |i[ ]don't[ ](?:need|want)[ ]you[ ]to)[ ]{_WHAT}
demand | (?:there's[ ]|there[ ]is[ ])?no[ ](?:more[ ])?need[ ]to[ ]{_WHAT}
prohibition | (?:you[ ](?:may|can)|(?:you|we)(?:[ ]are|'re)[ ](?:now[ ])?(?:allowed|free)[ ]to)[ ]
    (?!not\b|only\b|never\b|see\b|imagine\b)(?:now[ ]|again[ ]|also[ ])?{_WHAT}
prohibition | (?:it's|it[ ]is|that's)[ ](?:now[ ])?{_FINE}[ ](?:now[ ]|again[ ])?(?:to|if[ ]you|if[ ]we)[ ]
    {_WHAT}
prohibition | feel[ ]free[ ]to[ ](?={ACT}\b){_WHAT}
prohibition | (?!{_NO_OBJECT}\b)(?P<what>[^,.;:!?]{{2,80}}?[ ](?:is|are)[ ]
    (?:now[ ]|also[ ]|totally[ ]|perfectly[ ])?{_FINE}\b[^.;!?]{{0,80}})
prohibition | (?:(?:let's|let[ ]us|we'll|we[ ]will|i'll|(?:i|we)(?:'ve|[ ]have)?[ ]decided[ ]to)[ ])?
    (?={ACT}\b)(?P<what>\w+[ ](?!it\b|this\b|that\b|them\b)[^.;!?]{{1,80}}?)[ ](?:again
    |after[ ]all)(?=[,.!]|$)
prohibition | (?:i|we)(?:'ve|[ ]have)?[ ]started[ ](?=[a-z]{{2,20}}ing\b){_WHAT}
prohibition | (?P<what>[^,.;!?]{{2,80}}?)[ ](?:is|are)[ ]no[ ]longer[ ]{_FORBIDDEN}\b
demand | (?P<what>[^,.;!?]{{2,80}}?)[ ](?:is|are)[ ]no[ ]longer[ ](?:mandatory|required|needed|necessary)\b
prohibition | (?:i|we)[ ](?:can[ ]|do[ ])?(?=[^.;!?]{{1,80}}\b(?:now|again)\b)(?:now[ ])?
    (?=(?:eat|drink|use|like|support|accept|take|smoke|drive|fly)\b){_WHAT}
any | {_WITHDRAW}[ ](?:about[ ])?{_SAID}{_ABOUT}{_WHAT}
any | (?:{_WITHDRAW}|cancel|lift)[ ](?:the|that|my|our)[ ](?P<what>[\w' -]{{2,40}}?)[ ](?:rule|limit
    |restriction|ban|requirement)\b
any | the[ ](?P<what>[\w' -]{{2,40}}?)[ ](?:rule|limit|restriction|ban|requirement)[ ](?:is|was|has[ ]been)[ ]
    (?:lifted|gone|dropped|over)\b
any | (?:forget|never[ ]mind)[ ]about[ ](?!{_NO_OBJECT}\b){_WHAT}
any | i(?:'ve|[ ]have)?[ ]changed[ ]my[ ]mind[ ](?:about|on|regarding)[ ]{_WHAT}
any | the[ ](?:rule|limit|restriction|freeze|ban)[ ](?:about|on|for|against)[ ](?P<what>[^.!?]{{1,60}}?)[ ]
    (?:no[ ]longer|is[ ](?:lifted|gone|over)|has[ ]been[ ]lifted|does[ ]not[ ]apply|doesn't[ ]apply)
state | {_AM}no[ ]longer[ ]{_WHAT}
state | {_AM}not[ ](?!{_NOTICED}ing\b)(?P<what>[^,.;!?]{{1,80}}?)[ ]{_ANY_MORE}
state | (?:i|we)[ ]no[ ]longer[ ]{_WHAT}
state | (?:i|we)[ ](?:don't|do[ ]not)[ ](?!{_NOTICED}\b)(?P<what>[^,.;!?]{{1,80}}?)[ ]{_ANY_MORE}
state | (?P<what>[^,.;!?]{{2,60}}?[ ](?:doesn't|does[ ]not)[ ](?!{_WORKS}\b)
    [^,.;!?]{{1,60}}?)[ ]{_ANY_MORE}
state | i[ ](?:just[ ])?(?:left|quit)[ ](?={NAME}){_WHAT}
"""
"""Withdrawals and permissions, each with what kind of statement it ends: they matter only if they end one."""
_CORRECTED_ORDER = rf"prohibition | (?={ACT}\b){_WHAT}"
"""After words that mark a correction, a plain order permits what was forbidden."""


def _revocations(table: str) -> Iterator[tuple[Ends, re.Pattern[str]]]:
    for row in re.split(r"\n(?=\S)", table.strip()):
        ends, _, pattern = row.partition(" | ")
        yield cast("Ends", ends), re.compile(pattern, re.IGNORECASE | re.VERBOSE)


PHRASES = (
    *_phrases(_RULES),
    *(replace(phrase, impersonal=True) for phrase in _phrases(_DEMANDS)),
    *_phrases(_PREFERENCES),
    *_phrases(_FACTS),
)
REVOCATIONS = tuple(_revocations(_REVOCATIONS))
CORRECTED_ORDERS = tuple(_revocations(_CORRECTED_ORDER))
