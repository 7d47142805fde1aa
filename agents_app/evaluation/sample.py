"""The decided runs that an evaluation repeats: the latest ones, a part of them with held-out decisions."""

from __future__ import annotations

from typing import Final

from agents_app.replay.replay import DecidedRun, decided_runs
from agents_app.runs.examples import is_held_out

_POOL: Final = 3
"""Number of decided runs that are loaded for each one of the sample."""
_HELD_OUT_PART: Final = 3
"""At least one of so many runs has a held-out decision, as far as there are such runs."""


def choose_sample(agent_id: str, size: int) -> list[DecidedRun]:
    """Return at most `size` decided runs, newest first. Three queries."""
    pool = decided_runs(agent_id, size * _POOL)
    held_out = [one for one in pool if held_out_paths(one)][: -(-size // _HELD_OUT_PART)]
    chosen = {one.run.pk for one in held_out}
    for one in pool:
        if len(chosen) == size:
            break
        chosen.add(one.run.pk)
    return [one for one in pool if one.run.pk in chosen]


def held_out_paths(decided: DecidedRun) -> list[str]:
    """Return the decided paths that no prompt ever gets as an example."""
    post_id = decided.run.post_id
    if post_id is None:
        return []
    paths = (*decided.approved, *decided.rejected)
    return [path for path in paths if is_held_out(post_id=post_id, path=path)]
