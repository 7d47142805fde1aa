"""What things are called that entries only name by id: each app says so for its own, to whoever may know."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

from core.actor import Actor

Namer = Callable[[Collection[str], Actor], Mapping[str, str]]
"""Answers names by id, in one query, leaving out what the actor may not know of."""
_namers: Final[dict[str, Namer]] = {}


def register(what: str, namer: Namer) -> None:
    """`what` is `post` or `token`."""
    _namers[what] = namer


def names_of(what: str, ids: Collection[str], actor: Actor) -> Mapping[str, str]:
    namer = _namers.get(what)
    return namer(ids, actor) if namer is not None and ids else {}
