"""Units and room in → the best of them that fit; one too large is passed over, not the end.

What is forced is paid for outside the room and always in. Of equals, the newest stays.
"""

from __future__ import annotations

from collections.abc import Sequence

from foveal.pipeline.values import Pick, Unit


def importance(units: Sequence[Unit], room: int) -> Pick:
    """Take units from the best score down while `room` lasts."""
    because = {unit.turn: unit.forced for unit in units if unit.forced}
    kept, left = set(because), room
    free = [unit for unit in units if not unit.forced]
    for unit in sorted(free, key=lambda unit: (-unit.score.total, -unit.turn)):
        reason = f"importance {unit.score.total:.1f}"
        if unit.tokens <= left:
            kept.add(unit.turn)
            left -= unit.tokens
        else:
            reason += f", needed {unit.tokens:,} tokens, {left:,} were left"
        because[unit.turn] = reason
    return Pick(kept=frozenset(kept), because=because)
