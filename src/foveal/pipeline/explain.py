"""A manifest in → the same in words and a table, for a person at a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

from foveal.model import Decision, Manifest


def explain(manifest: Manifest) -> str:
    """Tokens by part, every decision with its reason, what was repaired."""
    return "\n".join(_lines(manifest))


def _lines(manifest: Manifest) -> Iterator[str]:
    share = 100 * manifest.tokens / manifest.budget
    yield (
        f"{manifest.tokens:,} of {manifest.budget:,} tokens ({share:.0f}%), "
        f"preset {manifest.preset}, counted with {manifest.counter}"
    )
    yield "  " + ", ".join(f"{part} {tokens:,}" for part, tokens in manifest.parts.items())
    yield ""
    yield f"{'messages':>12}  {'verdict':<8} {'detail':<8} {'tokens':>9}  because"
    yield from map(_row, merged(manifest.decisions))
    for repair in manifest.repairs:
        yield f"repaired at {repair.seq + 1}: {repair.what}"
    for warning in manifest.warnings:
        yield f"warning: {warning}"


def _row(decision: Decision) -> str:
    first, last = decision.first + 1, decision.last + 1
    place = f"{first}" if first == last else f"{first}–{last}"
    detail = decision.detail if decision.verdict == "kept" else ""
    return f"{place:>12}  {decision.verdict:<8} {detail:<8} {decision.tokens:>9,}  {decision.because}"


def merged(decisions: tuple[Decision, ...]) -> Iterator[Decision]:
    """Neighbours with the same verdict, detail and reason as one decision."""
    run: Decision | None = None
    for decision in decisions:
        if run is None:
            run = decision
        elif (run.verdict, run.detail, run.because) == (decision.verdict, decision.detail, decision.because):
            run = Decision(
                first=run.first,
                last=decision.last,
                verdict=run.verdict,
                tokens=run.tokens + decision.tokens,
                because=run.because,
                detail=run.detail,
            )
        else:
            yield run
            run = decision
    if run is not None:
        yield run
