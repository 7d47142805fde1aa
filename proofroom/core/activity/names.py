"""What things are called that entries only name by id: each app says so for its own, to whoever may know."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from proofroom.core.actor import Actor
from proofroom.core.hooks import ExtensionPoint

Namer = Callable[[Collection[str], Actor], Mapping[str, str]]
"""Answers names by id, in one query, leaving out what the actor may not know of."""
name_lookups: ExtensionPoint[Namer] = ExtensionPoint()
"""By what they name: `post` or `token`."""


def names_of(what: str, ids: Collection[str], actor: Actor) -> Mapping[str, str]:
    namer = name_lookups.get(what)
    return namer(ids, actor) if namer is not None and ids else {}
