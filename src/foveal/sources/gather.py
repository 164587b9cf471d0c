"""Ask every contributor, then price and weigh what they offer.

Contributors may be the caller's own code: an error in one is reported and stops no other.
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
from foveal.pipeline.material.categories import PenguinNumbers
from foveal.pipeline.material.placement import section
from foveal.pipeline.material.values import Material
from foveal.sources.code import codebase, definitions
from foveal.sources.contributor import (
    CODEBASE_MAP,
    CUSTOM,
    GIT,
    MAX_CHARS_PER_TOKEN,
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
from foveal.sources.working_set import find_working_set
from foveal.window import Contributed

NUMBERS = PenguinNumbers()
MOST = 200
"""Offers of one contributor."""
TITLE = 40
"""Tokens that a piece may cost in addition to its text."""
_KINDS: Mapping[str, Kind] = {PROJECT_DOCS: "critical_rag_document", RETRIEVAL: "rag_generic_chunk"}

Ask = Callable[[ContextRequest, "Sequence[Offer | Contributed]"], "Iterable[Offer | Contributed]"]
"""Takes the request and what other contributors offered already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What contributors offered."""

    material: tuple[Material, ...]
    left_out: tuple[Contributed, ...]
    """Contributors that failed, without tokens; and offers that fit into no room."""


def gather(
    request: ContextRequest,
    own: Sequence[Contributor | str] = (),
    *,
    numbers: PenguinNumbers = NUMBERS,
    progress: Progress | None = None,
) -> Gathered:
    """Ask the built-in contributors, then the caller's own: functions, or names of installed ones."""
    left_out: list[Contributed] = []
    callers: list[tuple[str, Ask]] = [(_name(each), partial(_ask, each)) for each in own]
    mentioned = mentions(request)
    offers: list[Offer | Contributed] = []
    # Files come last: requested ones may use the room that no other contributor needs.
    *builtin, working = _builtin(request, mentioned, numbers.project_docs, progress)
    for name, ask in (*builtin, *callers, working):
        try:
            offers += ask(request, offers)
        except Exception as error:  # noqa: BLE001 — the caller's code; the others go on
            left_out.append(_left_out(name if name in WEIGHTS else CUSTOM, name, _failure(error)))
    left_out += [each for each in offers if isinstance(each, Contributed)]
    usable: list[Offer] = []
    for offer in _without_repeated_docs([each for each in offers if isinstance(each, Offer)]):
        if why := _why_unusable(offer, request):
            left_out.append(_left_out(offer.type, offer.source_path, why))
        else:
            usable.append(offer)
    return Gathered(material=_price(usable, request, mentioned, numbers.weights), left_out=tuple(left_out))


def resolve_active_files(request: ContextRequest) -> ContextRequest:
    """Spell the open files as the workspace does; it reports those that are missing or must not be read."""
    found = [request.workspace.info(path, expected=True) for path in request.active_files]
    return replace(request, active_files=tuple(file.path for file in found if file))


def _price(
    offers: Sequence[Offer],
    request: ContextRequest,
    mentioned: Mentions,
    weights: Mapping[str, float] | None,
) -> tuple[Material, ...]:
    """The offers with their weight, their salience, and their tokens as a window shows them."""
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
        for offer, salience in zip(offers, saliences(offers, request, mentioned), strict=True)
    )
    return tuple(replace(each, tokens=request.count(section(each))) for each in found)


def _weight(offer: Offer, weights: Mapping[str, float] | None) -> float:
    if offer.weight is None:
        return weight_of(offer.type, weights)
    return max(0.0, offer.weight) if isfinite(offer.weight) else 0.0


def _builtin(
    request: ContextRequest,
    mentioned: Mentions,
    project_docs: Mapping[str, int],
    progress: Progress | None,
) -> Sequence[tuple[str, Ask]]:
    """The built-in contributors, files last. They share one scan, one parse and one working set."""
    scanned = cache(request.workspace.scan)
    defined = cache(lambda: definitions(request, files=scanned(), progress=progress))
    working = cache(
        lambda: find_working_set(
            request, files=scanned(), mentioned=mentioned, defined=defined(), project_docs=project_docs
        )
    )
    return (
        (PROJECT_DOCS, lambda request, _: docs(request, caps=project_docs)),
        (
            CODEBASE_MAP,
            lambda request, _: filter(None, [codebase(request, files=scanned(), progress=progress)]),
        ),
        (GIT, lambda request, _: git(request, working_set=working())),
        (TEST_RESULTS, lambda request, _: results(request, working_set=working())),
        (STATIC_ANALYSIS, lambda request, _: analysis(request, working_set=working())),
        (
            WORKING_FILES,
            lambda request, others: files(request, working_set=working(), spare=_spare(request, others)),
        ),
    )


def _spare(request: ContextRequest, offers: Sequence[Offer | Contributed]) -> int:
    """Tokens that are left when all other offers are in, each with a title."""
    texts = [each.text for each in offers if isinstance(each, Offer) and not _why_unusable(each, request)]
    return request.room - sum(map(request.count, texts)) - TITLE * (len(texts) + 1)


def _ask(contributor: Contributor | str, request: ContextRequest, _: object) -> Iterator[Offer]:
    function = contributor_named(contributor) if isinstance(contributor, str) else contributor
    yield from _offers(function(request), _name(contributor))


def _offers(given: object, name: str) -> Iterator[Offer]:
    """What a contributor returned, as offers: one, several, a text, or nothing."""
    if isinstance(given, Offer):
        yield _checked(given)
    elif isinstance(given, str):
        yield Offer(text=given, source_path=name)
    elif isinstance(given, Iterable) and not isinstance(given, bytes | Mapping):
        for each in islice(given, MOST):
            if not isinstance(each, Offer | str):
                raise _not_an_offer(each, name)
            yield from _offers(each, name)
    elif given is not None:
        raise _not_an_offer(given, name)


def _checked(offer: Offer) -> Offer:
    """The offer, once its fields have the types they should have."""
    for field in ("text", "type", "source_path"):
        if not isinstance(value := getattr(offer, field), str):
            raise InputError(f"its `Offer.{field}` is a {type(value).__name__}", remedy="pass a string")
    for field in ("weight", "salience", "touched_at"):
        if not isinstance(value := getattr(offer, field), int | float | None):
            raise InputError(f"its `Offer.{field}` is a {type(value).__name__}", remedy="pass a number")
    return offer


def _not_an_offer(given: object, name: str) -> InputError:
    return InputError(
        f"it gave a {type(given).__name__}",
        remedy=f"let `{name}` return an `Offer`, several, a string, or None",
    )


def _name(contributor: object) -> str:
    """A contributor's name in reports: that of the function, else that of the type."""
    if isinstance(contributor, str):
        return contributor
    own = contributor.func if isinstance(contributor, partial) else contributor
    return str(getattr(own, "__name__", type(own).__name__))


def _failure(error: Exception) -> str:
    """What happened and where; without the error's message, which may quote a file."""
    if isinstance(error, FovealError):
        return error.what
    frames = traceback.extract_tb(error.__traceback__)
    location = f" at {PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"it failed: {type(error).__name__}{location}"


def _without_repeated_docs(offers: Sequence[Offer]) -> list[Offer]:
    """Drop the project's document where it is offered as a working file as well."""
    working = {offer.source_path for offer in offers if offer.type == WORKING_FILES}
    return [each for each in offers if each.type != PROJECT_DOCS or each.source_path not in working]


def _why_unusable(offer: Offer, request: ContextRequest) -> str:
    """Why an offer is left out without counting it; empty where it may be shown."""
    most = MAX_CHARS_PER_TOKEN * request.room
    if not offer.text.strip():
        return "there is nothing in it"
    if len(offer.text) > most:
        return f"has {len(offer.text):,} characters; all contributors together have room for {most:,}"
    return ""


def _left_out(type: str, source: str, because: str) -> Contributed:
    return Contributed(
        type=type,
        source=source,
        tokens=0,
        weight=weight_of(type),
        salience=0.0,
        verdict="left out",
        because=because,
    )
