"""Record what a provider billed for a build, and correct token estimates with it."""

from __future__ import annotations

from foveal.errors import InputError
from foveal.pipeline.tokens.count import SCALE_SIGN
from foveal.session.arguments import a_count, a_non_negative
from foveal.session.build.build import stored_build
from foveal.session.build.manifest_json import read_manifest
from foveal.session.costs import bill_of, charged, with_bill, with_sums
from foveal.session.state import SessionState


def record_bill(
    state: SessionState,
    input_tokens: int,
    build: int | None,
    *,
    cached: int | None = None,
    written: int | None = None,
) -> None:
    """Record the usage of a request: all input tokens, and how many of them the cache served or stored."""
    _check(input_tokens, cached_tokens=cached, cache_write_tokens=written)
    record = stored_build(state, build)
    manifest = read_manifest(state, record)
    name, _, factor = manifest.counter.partition(SCALE_SIGN)
    counted = round(record.tokens / float(factor or 1))
    before = state.learned(record.model, name)
    state.store.save_bill(record.model, name, counted=counted, billed=input_tokens)
    bill = charged(manifest.costs, input_tokens, cached, written)
    with state.writing():
        record, after = stored_build(state, record.number), state.store.build(state.id, record.number + 1)
        new = bill_of(record, after, bill)
        state.store.amend_build(state.id, record.number, with_bill(record, bill))
        latest = stored_build(state, None)
        state.store.amend_build(state.id, latest.number, with_sums(latest, record.model, new))
    if state.learned(record.model, name) != before:
        state.reset_targets()


def _check(input_tokens: int, **parts: int | None) -> None:
    a_count(input_tokens, "input_tokens")
    given = [a_non_negative(value, name) for name, value in parts.items() if value is not None]
    if sum(given) > input_tokens:
        raise InputError(
            f"cached and written tokens add up to {sum(given):,}, more than `input_tokens`: {input_tokens:,}",
            remedy="include cached and written tokens in `input_tokens`",
            field="input_tokens",
        )
