"""A manifest ⇄ the JSON it is stored as: decisions as runs, so a build's record stays small."""

from __future__ import annotations

import json
from dataclasses import asdict

from foveal.model import Decision, Manifest, Repair
from foveal.pipeline.explain import merged
from foveal.store import BuildRecord


def write_manifest(manifest: Manifest) -> str:
    return json.dumps(
        {
            "counter": manifest.counter,
            "parts": dict(manifest.parts),
            "decisions": [
                [d.first, d.last, d.verdict, d.tokens, d.because, d.detail]
                for d in merged(manifest.decisions)
            ],
            "repairs": [asdict(repair) for repair in manifest.repairs],
            "warnings": manifest.warnings,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def read_manifest(record: BuildRecord) -> Manifest:
    data = json.loads(record.manifest)
    return Manifest(
        preset=record.preset,
        counter=data["counter"],
        budget=record.budget,
        tokens=record.tokens,
        parts=data["parts"],
        decisions=tuple(
            Decision(first=first, last=last, verdict=verdict, tokens=tokens, because=because, detail=detail)
            for first, last, verdict, tokens, because, detail in data["decisions"]
        ),
        repairs=tuple(Repair(**repair) for repair in data["repairs"]),
        warnings=tuple(data["warnings"]),
    )
