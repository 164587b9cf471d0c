"""Word lists: capitalized words that are not names, and words that show what a name next to them is."""

from __future__ import annotations


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


NAMELESS = _listed(
    """
    flag severity monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays
    thursdays fridays saturdays sundays mon tue tues wed thu fri sat sun january february march april
    may june july august september october november december jan feb mar apr jun jul aug sep sept oct
    nov dec i i'm i'd i'll i've am pm a.m p.m ok okay tv mom dad mum mommy daddy mama papa grandma
    grandpa granny nana auntie god gosh lord wow yeah yay yep nope hey hi hello bye thanks thank
    congrats congratulations sorry please cheers lol omg haha btw fyi asap eta tbd tba todo note notes
    warning important tip tips example examples step steps phase week day month year part section
    chapter option version figure table page level item task tasks stage module lesson unit question
    answer faq pros cons summary overview conclusion introduction total final goal goals budget yes no
    true false none null nan id ids url urls http https www utc gmt est edt pst pdt cst cdt cet cest ist
    bst usd eur gbp bce get post put patch delete head options select from where insert update join
    group order limit and or not e.g i.e etc vs ie eg re ps today tomorrow yesterday tonight morning
    evening noon midnight spring summer autumn fall winter north south east west central northern
    southern eastern western ii iii iv vi tl pr prs mvp poc api apis ai ip cpu gpu ram q&a kpi kpis cli
    sdk sdks abc xyz foo bar master masters bachelor bachelors phd internet web email e-mail world
    critical high medium low stop start continue change error info debug senior junior one two three
    four five
    """
)
"""In lower case: not names by themselves, and no name at the start of a sentence begins with them."""
NEVER = _listed(
    """
    i i'm i'd i'll i've am pm a.m p.m ok okay id ids monday tuesday wednesday thursday friday saturday
    sunday january february april june july august september october november december mr mrs ms dr prof
    professor sir madam utc gmt est edt pst pdt cst cdt cet cest usd eur gbp
    """
)
"""Never part of a name."""
DEMONYMS = _listed(
    """
    american canadian mexican brazilian argentinian peruvian colombian jamaican cuban british english
    scottish irish welsh french german dutch spanish portuguese italian swiss austrian swedish norwegian
    danish finnish polish czech hungarian romanian bulgarian greek turkish russian ukrainian european
    african asian egyptian moroccan nigerian kenyan ethiopian indian pakistani chinese japanese korean
    vietnamese thai filipino indonesian malaysian australian israeli iranian iraqi arab arabic latin
    latino hispanic nordic western babylonian babylonians pythagorean roman victorian christian muslim
    jewish buddhist hindu catholic
    """
)
"""Adjectives of origin, which are not names by themselves."""
SHORT = _listed("uk eu un uae")
"""The only names of two letters."""
KIN = _listed(
    """
    sister brother mother father mom dad mum son daughter wife husband spouse fiance fiancé fiancée
    fiancee partner girlfriend boyfriend friend friends buddy pal cousin aunt uncle niece nephew
    grandmother grandfather grandma grandpa boss manager colleague coworker co-worker teammate mentor
    neighbor neighbour roommate classmate coach teacher professor advisor adviser therapist doctor
    dentist lawyer accountant client landlord assistant supervisor producer director editor agent twin
    kid kids
    """
)
TITLES = _listed("mr mrs ms dr prof professor sir madam aunt uncle captain coach president judge")
GREETINGS = _listed("hey hi hello thanks thank congrats congratulations bye goodbye dear sorry cheers")
SPEAKING = _listed(
    """
    said says told tells asked asks suggested suggests mentioned mentions thinks thought wants wanted
    agreed replied recommended loves loved likes liked laughed smiled helped helps called invited joined
    reminded advised prefers
    """
)
PET = _listed("dog cat puppy kitten pup pet hamster parrot bunny rabbit turtle horse")
ORGANIZED = _listed(
    """
    inc ltd llc corp corporation company university college school institute academy bank agency
    hospital clinic foundation association society ministry department museum library church club team
    studios studio records group labs lab council committee court press center centre
    """
)
"""Last words of the names of organizations."""
PLACED = _listed(
    """
    street avenue road square park beach lake river mountain mountains island islands bay city town
    county valley canyon forest coast desert ocean sea bridge airport station falls peninsula
    """
)
"""Last words of the names of places."""
WHERE = _listed("in near visit visited visiting")
TO = _listed("to from")
LIVES = _listed(
    "live lives lived living moved move moving born based trip travel traveled travelled flew fly drove road"
)
USING = _listed("use uses used using via install installed installing deploy deployed configure")
NAMING = _listed("called named titled nicknamed dubbed")
KINDS = {
    "project": "project",
    "repo": "project",
    "repository": "project",
    "app": "product",
    "library": "tool",
    "framework": "tool",
    "tool": "tool",
    "package": "tool",
    "plugin": "tool",
    "database": "tool",
    "language": "tool",
    "server": "tool",
    "book": "work",
    "novel": "work",
    "movie": "work",
    "film": "work",
    "song": "work",
    "album": "work",
    "series": "work",
    "show": "work",
    "game": "work",
    "company": "organization",
    "band": "organization",
    "startup": "organization",
    "organization": "organization",
    "city": "place",
    "town": "place",
    "restaurant": "place",
    "cafe": "place",
}
"""The type of a name that follows one of these: "the project Atlas", "a dog named Max"."""
ENDINGS = _listed(
    """
    py pyi js jsx ts tsx mjs cjs go rs java kt c h cc cpp hpp cs rb php swift scala sh bash zsh ps1 sql
    html htm css scss less json yaml yml toml ini cfg conf xml csv tsv md rst txt log pdf docx xlsx pptx
    png jpg jpeg gif svg ipynb lock env proto tf gradle vue svelte dart r jl lua pl ex exs erl hs ml clj
    diff patch zip tar gz db sqlite
    """
)
"""File extensions."""
OPENERS = _listed(
    """
    a an the my our your his her their this these those some any each every of for about on in with from
    at
    """
)
"""Words before a topic: articles, possessives and the like."""
CLOSERS = _listed(
    """
    is was are were be been and or but for in of with that which to has have had can could will would
    should may from as if when while because than on by
    """
)
"""Words after a topic."""
GENERAL = _listed(
    """
    latest free deep aloud flag good great new next different same specific other others another many
    few lot lots own whole first second third last little big small large long short high low best
    better worst bad nice real really right wrong sure able time times way ways thing things step steps
    idea ideas day days week weeks month months year years hour hours minute minutes people person
    someone something anything everything nothing one ones two three four five six seven eight nine ten
    hundred thousand couple bit kind sort type types part parts place places point points end start
    beginning moment side area areas number amount range rest top case cases fact reason reasons example
    examples question questions answer answers problem problems issue issues help helps need needs want
    wants make makes made making use uses used using work works worked working go goes going went gone
    come comes coming came see sees saw seen know knows think thinks feel feels look looks looking take
    takes took taking give gives gave giving keep keeps put puts try tries trying tried find finds found
    say says said tell tells told ask asks asked call calls called wanted let lets get gets getting got
    set sets run runs add adds added include includes including included provide provides provided based
    following follow follows ensure ensures helpful important potential possible available necessary
    useful various several certain common general main key major minor full entire total current
    previous final early late recent future past today tomorrow yesterday tonight morning afternoon
    evening night weekend weekends still always never often sometimes usually already yet again ever
    even much less least every each both either neither such quite rather pretty actually totally
    definitely probably maybe perhaps however though although since until unless whether without within
    between among against during along around across toward towards upon per via like well back away
    together apart alone ahead far near close hard easy simple clear quick fast slow strong extra
    additional detailed effective overall amazing awesome wonderful incredible fantastic lovely
    beautiful perfect special favorite favourite happy sad excited proud glad grateful fun cool
    interesting exciting inspiring tough old young similar positive negative must might shall don't
    doesn't didn't isn't aren't wasn't can't won't couldn't wouldn't shouldn't i'm i've i'd i'll you're
    you've it's that's there's let's we're they're what's list lists line lines detail details
    information info result results process approach method methods level levels form forms name names
    value values change changes chance sense piece pieces group plan plans okay thanks thank please
    hello hey hi yes no oh wow yeah sample updated version improved comprehensive complete proper single
    multiple basic initial original existing given particular related relevant appropriate significant
    """
)
"""A phrase with one of these is not a topic."""
