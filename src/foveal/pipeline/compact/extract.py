"""An `Ask` in → its summary without a model: an overview, then what was decided, asked, found and broken.

Sentences as they were written, in their order, the weightiest of them that fit: never more than was asked
for, never as long as the source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from foveal.pipeline.compact.lines import Line, counts, of_messages, of_summaries
from foveal.pipeline.compact.sentences import clipped, sentences, typed
from foveal.pipeline.compact.values import Ask, Passage, Summary
from foveal.pipeline.cut import cut
from foveal.pipeline.signals import identifier_counts, word_counts

Count = Callable[[str], int]
TOPICS = 5
MISFITS = 24
"""Lines too long for what is left, after which no other is tried."""


def extractive(ask: Ask, count: Count) -> Summary:
    """The summary of what is asked for, in at most `ask.tokens` and less than the source."""
    room = min(ask.tokens, sum(count(passage.text) for passage in ask.passages) - 1)
    lines = _lines(ask)
    overview = next((each for each in _overviews(ask.passages, lines) if count(each) <= room // 2), "")
    text = chosen(lines, room, count, overview=overview)
    if not text and room > 0:
        text = _shortest(ask.passages, room, count)
    return Summary(text=text, tokens=count(text) if text else 0)


def _lines(ask: Ask) -> list[Line]:
    if ask.level == 1:
        return list(of_messages(ask.passages))
    below = of_summaries([passage.text for passage in ask.passages])
    # Their overviews count messages, which the new overview does again.
    return [line for line in below if not counts(line.text)]


def digested(texts: Sequence[str], room: int, count: Count, *, known: Collection[str] = ()) -> str:
    """The weightiest lines of several summaries within the room, without sentences that are known already."""
    return chosen([line for line in of_summaries(texts) if line.said not in known], room, count)


def chosen(lines: Sequence[Line], room: int, count: Count, *, overview: str = "") -> str:
    """The overview and the weightiest lines that fit, in their order; of equals the newest."""
    left = room - (count(f"{overview}\n") if overview else 0)
    kept: list[Line] = []
    told: set[str] = set()
    misfits = 0
    for line in sorted(lines, key=lambda line: (-line.weight, -line.place)):
        cost = count(f"{line.text}\n")
        if line.said in told or cost > left:
            misfits += cost > left
            if misfits > MISFITS:
                break
            continue
        told.add(line.said)
        kept.append(line)
        left -= cost
    return _written(kept, room, count, overview)


def _written(kept: list[Line], room: int, count: Count, overview: str) -> str:
    while True:
        lines = [line.text for line in sorted(kept, key=lambda line: line.place)]
        text = "\n".join(filter(None, (overview, *lines)))
        # Lines together can cost a token more than one by one.
        if not text or count(text) <= room:
            return text
        overview = overview if kept else ""
        del kept[-1:]


def _shortest(passages: Sequence[Passage], room: int, count: Count) -> str:
    """For a source too short for an overview: its first words."""
    own = next((typed(passage.text)[0] for passage in passages if passage.role in ("user", "assistant")), "")
    text = clipped(next(iter(sentences(own)), ""), 8 * room)
    short = cut(text, room, count) if text else ""
    return short if short and count(short) <= room else ""


def _overviews(passages: Sequence[Passage], lines: Sequence[Line]) -> Iterator[str]:
    """What there is, the longest form first. No positions: the same content may stand elsewhere."""
    total = sum(last - first + 1 for first, last in {(p.first, p.last) for p in passages})
    many = f"{total:,} message{'' if total == 1 else 's'}"
    about = ", ".join(topics(line.said for line in lines if not line.text.startswith("- tool")))
    if about:
        yield f"{many} about {about}."
    yield f"{many}."


def topics(texts: Iterable[str], most: int = TOPICS) -> list[str]:
    """The words and names that come up most; of several forms of one the most frequent."""
    counts: Counter[str] = Counter()
    for text in texts:
        names = identifier_counts(text)
        counts.update({name: 2 * number for name, number in names.items() if not name.isdigit()})
        inside = {word for name in names for word in word_counts(name)}
        counts.update({w: n for w, n in word_counts(text).items() if len(w) > 3 and w not in inside})
    forms = {
        word.rstrip("s()").lower(): word for word, _ in reversed(counts.most_common()) if len(word) <= 40
    }
    return sorted(forms.values(), key=lambda word: -counts[word])[:most]
