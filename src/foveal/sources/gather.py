"""Contributors and what they are asked in → what they offer, priced and weighed; and who could not.

A contributor is somebody's own code: a fault in one is told and stops no other.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from math import isfinite
from pathlib import PurePath

from foveal.errors import FovealError, InputError
from foveal.model import Kind
from foveal.pipeline.material.notes import section
from foveal.pipeline.material.values import Material
from foveal.sources.code import codebase, definitions
from foveal.sources.contributor import (
    CODEBASE_MAP,
    CUSTOM,
    DENSEST,
    GIT,
    PROJECT_DOCS,
    RETRIEVAL,
    STATIC_ANALYSIS,
    TEST_RESULTS,
    WEIGHTS,
    WORKING_FILES,
    ContextRequest,
    Contributor,
    Offer,
    Progress,
    contributor_named,
    weight_of,
)
from foveal.sources.contributors.docs import docs
from foveal.sources.contributors.files import files
from foveal.sources.contributors.git import git
from foveal.sources.contributors.reports import analysis, results
from foveal.sources.mentions import Mentions, mentions
from foveal.sources.salience import saliences
from foveal.sources.working_set import surroundings
from foveal.window import Contributed

MOST = 200
"""Offers of one contributor."""
TITLE = 40
"""Tokens that a piece may cost beside its text."""
_KINDS: Mapping[str, Kind] = {PROJECT_DOCS: "critical_rag_document", RETRIEVAL: "rag_generic_chunk"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What contributors brought."""

    material: tuple[Material, ...]
    left_out: tuple[Contributed, ...]
    """Contributors that failed, without tokens; and what no room could hold."""


def gather(
    request: ContextRequest,
    own: Sequence[Contributor | str] = (),
    *,
    weights: Mapping[str, float] | None = None,
    progress: Progress | None = None,
) -> Gathered:
    """Ask ours, then those of one's own: functions, or names under which installed packages bring them."""
    left_out: list[Contributed] = []
    theirs: list[tuple[str, Ask]] = [(_name(each), partial(_asked, each)) for each in own]
    named = mentions(request)
    offers: list[Offer | Contributed] = []
    # Files come last: those that somebody wants may have what nobody else needs.
    *ours, working = _ours(request, named, progress)
    for name, ask in (*ours, *theirs, working):
        try:
            offers += ask(request, offers)
        except Exception as fault:  # noqa: BLE001 — somebody else's code; the others go on
            left_out.append(_told(name if name in WEIGHTS else CUSTOM, name, _fault(fault)))
    left_out += [each for each in offers if isinstance(each, Contributed)]
    usable: list[Offer] = []
    for offer in _once([each for each in offers if isinstance(each, Offer)]):
        if why := _useless(offer, DENSEST * request.room):
            left_out.append(_told(offer.type, offer.source_path, why))
        else:
            usable.append(offer)
    return Gathered(material=priced(usable, request, named, weights=weights), left_out=tuple(left_out))


def resolve_active_files(request: ContextRequest) -> ContextRequest:
    """The open files as the workspace spells them; it tells of those that are not there or not to be read."""
    seen = [request.workspace.seen(path, expected=True) for path in request.active_files]
    return replace(request, active_files=tuple(each.path for each in seen if each))


def priced(
    offers: Sequence[Offer],
    request: ContextRequest,
    named: Mentions,
    *,
    weights: Mapping[str, float] | None = None,
) -> tuple[Material, ...]:
    """Offers with their weight, their salience, and their tokens as a window shows them."""
    found = (
        Material(
            type=offer.type,
            text=offer.text,
            tokens=0,
            source=offer.source_path,
            kind=_KINDS.get(offer.type, "rag_document_chunk"),
            weight=_weight(offer, weights),
            salience=salience,
        )
        for offer, salience in zip(offers, saliences(offers, request, named), strict=True)
    )
    return tuple(replace(each, tokens=request.count(section(each))) for each in found)


def _weight(offer: Offer, weights: Mapping[str, float] | None) -> float:
    if offer.weight is None:
        return weight_of(offer.type, weights)
    return max(0.0, offer.weight) if isfinite(offer.weight) else 0.0


Ask = Callable[[ContextRequest, "Sequence[Offer | Contributed]"], "Iterable[Offer | Contributed]"]
"""What is asked, and what others offered already."""


def _ours(request: ContextRequest, named: Mentions, progress: Progress | None) -> Sequence[tuple[str, Ask]]:
    """Our contributors, the files last. The workspace is looked around in once, for all of them."""
    scanned = cache(request.workspace.scan)
    defined = cache(lambda: definitions(request, files=scanned(), progress=progress))
    around = cache(lambda: surroundings(request, files=scanned(), mentioned=named, defined=defined()))
    return (
        (PROJECT_DOCS, lambda request, _: docs(request)),
        (
            CODEBASE_MAP,
            lambda request, _: filter(None, [codebase(request, files=scanned(), progress=progress)]),
        ),
        (GIT, lambda request, _: git(request, around=around())),
        (TEST_RESULTS, lambda request, _: results(request, around=around())),
        (STATIC_ANALYSIS, lambda request, _: analysis(request, around=around())),
        (
            WORKING_FILES,
            lambda request, others: files(request, around=around(), spare=_spare(request, others)),
        ),
    )


def _spare(request: ContextRequest, offers: Sequence[Offer | Contributed]) -> int:
    """Tokens that are left when everybody else has what they offer, with a title each."""
    most = DENSEST * request.room
    texts = [each.text for each in offers if isinstance(each, Offer) and not _useless(each, most)]
    return request.room - sum(map(request.count, texts)) - TITLE * (len(texts) + 1)


def _asked(contributor: Contributor | str, request: ContextRequest, _: object) -> Iterator[Offer]:
    found = contributor_named(contributor) if isinstance(contributor, str) else contributor
    yield from _offers(found(request), _name(contributor))


def _offers(given: object, name: str) -> Iterator[Offer]:
    """What a contributor gave, as offers: one, several, a text, or nothing."""
    if isinstance(given, Offer):
        yield _sound(given)
    elif isinstance(given, str):
        yield Offer(text=given, source_path=name)
    elif isinstance(given, Iterable) and not isinstance(given, bytes | Mapping):
        for each in islice(given, MOST):
            yield from _offers(each, name) if isinstance(each, Offer | str) else _strange(each, name)
    elif given is not None:
        _strange(given, name)


def _sound(offer: Offer) -> Offer:
    """An offer whose fields are what they say they are: the next who looks may trust it."""
    for field in ("text", "type", "source_path"):
        if not isinstance(value := getattr(offer, field), str):
            raise InputError(f"its `Offer.{field}` is a {type(value).__name__}", remedy="give a text")
    for field in ("weight", "salience", "touched_at"):
        if not isinstance(value := getattr(offer, field), int | float | None):
            raise InputError(f"its `Offer.{field}` is a {type(value).__name__}", remedy="give a number")
    return offer


def _strange(given: object, name: str) -> Iterator[Offer]:
    raise InputError(
        f"it gave a {type(given).__name__}",
        remedy=f"let `{name}` return an `Offer`, several, a text, or None",
    )


def _name(contributor: object) -> str:
    """What reports call it: a function by its name, anything else by its type's."""
    if isinstance(contributor, str):
        return contributor
    own = contributor.func if isinstance(contributor, partial) else contributor
    return str(getattr(own, "__name__", type(own).__name__))


def _fault(fault: Exception) -> str:
    """What happened and where; not in its words, which may quote a file."""
    if isinstance(fault, FovealError):
        return fault.what
    frames = traceback.extract_tb(fault.__traceback__)
    place = f" at {PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"it failed: {type(fault).__name__}{place}"


def _once(offers: Sequence[Offer]) -> list[Offer]:
    """Without the project's document where somebody works on it: it is one of the working files then."""
    worked_on = {offer.source_path for offer in offers if offer.type == WORKING_FILES}
    return [each for each in offers if each.type != PROJECT_DOCS or each.source_path not in worked_on]


def _useless(offer: Offer, most: int) -> str:
    """Why nobody need count it; empty where it may be shown."""
    if not offer.text.strip():
        return "there is nothing in it"
    if len(offer.text) > most:
        return f"has {len(offer.text):,} characters; all contributors together have room for {most:,}"
    return ""


def _told(type: str, source: str, because: str) -> Contributed:
    return Contributed(
        type=type,
        source=source,
        tokens=0,
        weight=weight_of(type),
        salience=0.0,
        verdict="left out",
        because=because,
    )
