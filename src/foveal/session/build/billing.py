"""What a provider charged for a build in → estimates that learn from it, and the bill in the record."""

from __future__ import annotations

from foveal.errors import InputError
from foveal.pipeline.tokens.count import SCALED
from foveal.session.arguments import a_count, a_number
from foveal.session.build.build import built
from foveal.session.build.manifest_json import read_manifest
from foveal.session.costs import charged, with_bill, with_sums
from foveal.session.state import SessionState


def billed(
    state: SessionState,
    input_tokens: int,
    build: int | None,
    *,
    cached: int | None = None,
    written: int | None = None,
) -> None:
    """Take in the usage of a request: all tokens of its input, of which some may be the cache's."""
    _check(input_tokens, cached_tokens=cached, cache_write_tokens=written)
    record = built(state, build)
    manifest = read_manifest(state, record)
    name, _, factor = manifest.counter.partition(SCALED)
    counted = round(record.tokens / float(factor or 1))
    before = state.learned(record.model, name)
    state.store.save_bill(record.model, name, counted=counted, billed=input_tokens)
    bill = charged(manifest.costs, input_tokens, cached, written)
    with state.writing():
        record = built(state, record.number)
        state.store.amend_build(state.id, record.number, with_bill(record, bill))
        newest = built(state, None)
        state.store.amend_build(state.id, newest.number, with_sums(newest, record.model, bill))
    if state.learned(record.model, name) != before:
        state.reset_targets()


def _check(input_tokens: int, **parts: int | None) -> None:
    a_count(input_tokens, "input_tokens")
    given = [a_number(value, name) for name, value in parts.items() if value is not None]
    if sum(given) > input_tokens:
        raise InputError(
            f"{sum(given):,} tokens of the cache are more than `input_tokens`, which is {input_tokens:,}",
            remedy="count those of the cache in `input_tokens` too",
            field="input_tokens",
        )
