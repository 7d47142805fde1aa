"""The tables a user may search, and the tables a user may change."""

from __future__ import annotations

from collections.abc import Collection

from content.find_replace.review import REVIEW_TABLES
from proofroom.core.actor import Actor
from proofroom.core.find_replace import known_tables, select_sources


def writable_tables(actor: Actor) -> list[str]:
    """Return the tables that the actor may edit."""
    return [
        table
        for source in select_sources(known_tables())
        if actor.can(source.permission)
        for table in source.tables
    ]


def searchable_tables(actor: Actor) -> list[str]:
    """Return the tables whose texts the actor may see, because they may edit them or propose changes."""
    found = {*writable_tables(actor)}
    if actor.can("posts.review.save"):
        found |= REVIEW_TABLES
    return [table for table in known_tables() if table in found]


def require_searchable(actor: Actor, tables: Collection[str]) -> None:
    """Raise `NotAllowed` if the actor may not see the texts of one of these tables."""
    searchable = searchable_tables(actor)
    for source in select_sources(table for table in tables if table not in searchable):
        actor.require(source.permission)
