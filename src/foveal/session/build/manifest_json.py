"""Write a manifest as the JSON that the store keeps, and read it back.

Decisions that share a reason are stored as runs, and each reason once: as a code and its numbers, from which
its sentence is built again, or as the preset's own words. For a preset that scores, kept decisions and the
best of the left-out ones keep their scores and the rest become runs, so a build's record costs its window
and not its history. Decisions about the past of a kept layout, and the notes in it, are in the record of the
build that made it; later builds have `since`: [that build's number, the number of past messages].
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import Any, Literal

from foveal.model import Detail, Repair
from foveal.pipeline.explain import merged
from foveal.pipeline.reasons import Reason
from foveal.pipeline.sensitivity import nearest
from foveal.session.costs import Tally, read_costs, write_costs, write_totals
from foveal.session.state import SessionState, StoredLayout
from foveal.store import BuildRecord
from foveal.store.decode import checked, damaged, decoding
from foveal.window import (
    Code,
    Conflict,
    Contributed,
    Decision,
    Manifest,
    PoolShare,
    Retrieved,
    Score,
    Slot,
    Verdict,
    WindowNote,
)
from foveal.wire.jsontext import compact

NEAR_MOST = 50
"""Left-out decisions that are stored with their scores: the nearest to the cut."""
FURTHER = "further out than those listed with their scores"


def write_manifest(
    manifest: Manifest, totals: Tally | None = None, stored: StoredLayout | None = None
) -> str:
    decisions = tuple(_stored(manifest.decisions, stored))
    reasons = {why: at for at, why in enumerate(dict.fromkeys(map(_why, decisions)))}
    entry = totals.pending if totals else None
    costs = (
        {"costs": write_costs(entry.costs), "book": write_totals(entry, totals)} if totals and entry else {}
    )
    since = {"since": [stored.build, stored.layout.full_from]} if stored and stored.build else {}
    return compact(
        {
            "counter": manifest.counter,
            "parts": dict(manifest.parts),
            "why": [json.loads(why) for why in reasons],
            "first": decisions[0].first if decisions else 0,
            "decisions": [_row(decision, reasons[_why(decision)]) for decision in decisions],
            "notes": [] if since else [_note(each) for each in manifest.notes],
            "repairs": [asdict(repair) for repair in manifest.repairs],
            "warnings": manifest.warnings,
            "slots": [asdict(slot) for slot in manifest.slots],
            "conflicts": [asdict(conflict) for conflict in manifest.conflicts[:NEAR_MOST]],
            "metrics": dict(manifest.metrics),
            "record": dict(manifest.record),
            "retrieved": [asdict(each) for each in manifest.retrieved],
            "contributed": [asdict(_anonymous(each)) for each in manifest.contributed],
            **({"share": asdict(manifest.share)} if manifest.share else {}),
            **since,
            **costs,
        }
    )


def _stored(decisions: Sequence[Decision], stored: StoredLayout | None) -> Iterator[Decision]:
    """Runs end where the layout begins, so that a later build can continue from there."""
    past = stored.past if stored else 0
    if stored and not stored.build:
        yield from merged(_condensed(decisions[:past]))
    yield from merged(_condensed(decisions[past:]))


def _anonymous(piece: Contributed) -> Contributed:
    """Without its title: a name that its owner makes us forget must not survive in a build's record."""
    return replace(piece, title="")


def _condensed(decisions: Sequence[Decision]) -> tuple[Decision, ...]:
    out = [d for d in decisions if d.verdict == "left out" and d.score]
    if len(out) <= NEAR_MOST:
        return tuple(decisions)
    shown = {decision.first for decision in nearest(out)[:NEAR_MOST]}
    return tuple(
        replace(d, score=None, slot="", flags=(), because=FURTHER, brief="", numbers={})
        if d.verdict == "left out" and d.score and d.first not in shown
        else d
        for d in decisions
    )


def _row(d: Decision, why: int) -> list[object]:
    return [d.last, d.tokens, why, *([[d.score.total, dict(d.score.parts)]] if d.score else [])]


def _why(d: Decision) -> str:
    """All but the messages, tokens and score of a decision; a sentence only if it is not that of the code."""
    same = Reason(code=d.code, numbers=d.numbers).sentence == d.because and not d.brief
    plain = same and not d.slot and not d.flags
    flags = [d.flags] if d.flags else []
    words = [] if plain else ["" if same else d.because, d.brief, d.slot, *flags]
    return compact([d.verdict, d.detail, d.code, dict(d.numbers), *words])


def _note(note: WindowNote) -> list[object]:
    """Neighbouring lines from the same messages are stored as their number and the messages."""
    runs = [[len(list(group)), *line] for line, group in groupby(note.lines)]
    return [note.kind, note.position, note.first, note.last, note.tokens, runs]


def read_manifest(state: SessionState, record: BuildRecord) -> Manifest:
    """The manifest of a stored build, with the decisions that another build's record has."""
    data = stored_json(record)
    maker = _maker(state, data)
    with decoding(f"the manifest of build {record.number}"):
        return checked(_manifest(record, data, maker))


def stored_json(record: BuildRecord) -> dict[str, Any]:
    """Everything that is stored of a build beside its numbers."""
    with decoding(f"the record of build {record.number}"):
        return dict(json.loads(record.manifest).items())


def _manifest(record: BuildRecord, data: Mapping[str, Any], maker: Mapping[str, Any] | None) -> Manifest:
    return Manifest(
        preset=record.preset,
        counter=data["counter"],
        budget=record.budget,
        tokens=record.tokens,
        parts=data["parts"],
        decisions=(*_past(data, maker), *_decisions(data)),
        notes=tuple(_notes(maker or data)),
        repairs=tuple(Repair(**repair) for repair in data["repairs"]),
        warnings=tuple(data["warnings"]),
        slots=tuple(Slot(**slot) for slot in data["slots"]),
        conflicts=tuple(Conflict(**conflict) for conflict in data["conflicts"]),
        metrics=data["metrics"],
        record=data.get("record", {}),
        retrieved=tuple(Retrieved(**each) for each in data.get("retrieved", ())),
        contributed=tuple(Contributed(**each) for each in data.get("contributed", ())),
        costs=read_costs(data["costs"]) if "costs" in data else None,
        share=PoolShare(**data["share"]) if "share" in data else None,
    )


def _maker(state: SessionState, data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The record of the build that made the layout, if that is another one."""
    if "since" not in data:
        return None
    build = _since(data)
    maker = state.store.build(state.id, build)
    if maker is None:
        raise damaged(f"build {build} is gone, its session is not")
    return stored_json(maker)


def _past(data: Mapping[str, Any], maker: Mapping[str, Any] | None) -> Iterator[Decision]:
    if maker:
        messages = data["since"][1]
        yield from (each for each in _decisions(maker) if each.first < messages)


def _decisions(data: Mapping[str, Any]) -> Iterator[Decision]:
    if "why" not in data:
        yield from (_older_decision(data.get("reasons", ()), *row) for row in data["decisions"])
        return
    first = data["first"]
    for last, tokens, why, *scored in data["decisions"]:
        yield _decision(first, last, tokens, data["why"][why], *scored)
        first = last + 1


def _decision(
    first: int,
    last: int,
    tokens: int,
    why: Sequence[Any],
    scored: tuple[float, dict[str, float]] | None = None,
) -> Decision:
    verdict, detail, code, numbers, *words = why
    because, brief, slot, *flags = words or ("", "", "")
    return Decision(
        first=first,
        last=last,
        verdict=verdict,
        code=code,
        tokens=tokens,
        because=because or Reason(code=code, numbers=numbers).sentence,
        brief=brief,
        numbers=numbers,
        detail=detail,
        score=Score(total=scored[0], parts=scored[1]) if scored else None,
        slot=slot,
        flags=tuple(flags[0]) if flags else (),
    )


def _notes(data: Mapping[str, Any]) -> Iterator[WindowNote]:
    for kind, position, first, last, tokens, runs in data.get("notes", ()):
        lines = tuple(tuple(seqs) for count, *seqs in runs for _ in range(count))
        yield WindowNote(kind=kind, position=position, first=first, last=last, tokens=tokens, lines=lines)


def since(build: BuildRecord) -> int:
    """The build whose layout this one keeps; 0 if it has its own, or none."""
    return _since(stored_json(build))


def _since(data: Mapping[str, Any]) -> int:
    with decoding("the record of a build"):
        return int(data.get("since", [0])[0])


def build_record(build: BuildRecord) -> Mapping[str, str]:
    """What is stored about a build beside its decisions."""
    with decoding(f"the record of build {build.number}"):
        return {str(key): str(text) for key, text in (stored_json(build).get("record") or {}).items()}


def sent_length(build: BuildRecord) -> int:
    """The length of the history at that build."""
    with decoding(f"the record of build {build.number}"):
        return int((stored_json(build).get("book") or {}).get("messages", 0))


def _older_decision(  # noqa: PLR0913, PLR0917 — one for each column of a row
    reasons: Sequence[str],
    first: int,
    last: int,
    verdict: Verdict,
    tokens: int,
    because: int | str,  # a sentence in the oldest stores
    detail: Detail,
    scored: tuple[float, dict[str, float]] | None,
    slot: str,
    code: Code | Literal["noted"] | None = None,  # absent from the oldest stores
) -> Decision:
    """A decision as it was stored when each row had all of its fields."""
    reason = because if isinstance(because, str) else reasons[because]
    return Decision(
        first=first,
        last=last,
        verdict=verdict,
        code=_older_code(verdict, detail, reason, tokens) if code is None else _known(code),
        tokens=tokens,
        because=reason,
        detail=detail,
        score=Score(total=scored[0], parts=scored[1]) if scored else None,
        slot=slot,
    )


def _known(code: Code | Literal["noted"]) -> Code:
    return "replaced" if code == "noted" else code


OLDER_SENTENCES: Mapping[str, Code] = {
    "system prompt": "system_prompt",
    "pinned": "pinned",
    "the user's newest message": "newest_user",
    "open turn": "open_turn",
    "erased": "erased",
    "left out on request, until restored": "left_out",
    "empty: nothing of it can be sent": "empty",
    "a summary in place of messages that were left out": "replaced",
    "selected": "selected",
    "not selected": "not_selected",
}
"""What the sentences of decisions began with, up to a semicolon, when they were stored without a code.

They are as they were stored: what is said today of a code does not change them."""


def _older_code(verdict: Verdict, detail: Detail, reason: str, tokens: int) -> Code:
    """The code of a decision that was stored before decisions had one."""
    if code := OLDER_SENTENCES.get(reason.partition(";")[0]):
        return code
    if verdict == "left out":
        return "not_selected"
    return "replaced" if detail == "folded" and not tokens else "selected"
