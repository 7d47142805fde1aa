"""The lists of a renamed term, whose addresses have the slug of the term."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from content.models import PostTerm
from content.store.post_queries import published_posts
from proofroom.core.json import Json
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.definitions.listings import term_list_path

_WHAT: Final = "term"


@dataclass(frozen=True, slots=True)
class TermRename:
    """A change of a term's slug, as its event says it. `locale` is empty for a term of every language."""

    term_id: UUID
    taxonomy: str
    locale: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class MovedList:
    """A list of posts of a type with a term, whose address changed."""

    before: str
    after: str


def find_rename(payload: Mapping[str, Json]) -> TermRename | None:
    """Return the change of a slug in the payload of `content.changed`; None for any other change."""
    if payload.get("what") != _WHAT or "slugBefore" not in payload:
        return None
    term_id = parse_uuid(str(payload["id"]))
    if term_id is None:
        return None
    taxonomy, locale, before, after = (
        str(payload[name]) for name in ("taxonomy", "locale", "slugBefore", "slug")
    )
    return TermRename(term_id, taxonomy, locale, before, after)


def find_moved_lists(rename: TermRename) -> list[MovedList]:
    """Return the lists of a renamed term that visitors can open: those with published posts. One query."""
    uses = PostTerm.objects.filter(term_id=rename.term_id, post__in=published_posts().order_by())
    found: list[MovedList] = []
    for type_, locale in sorted({*uses.values_list("post__type", "post__locale")}):
        before, after = (
            term_list_path(type_, locale, rename.taxonomy, slug, rename.locale)
            for slug in (rename.before, rename.after)
        )
        if before and after:
            found.append(MovedList(before, after))
    return found


def find_remaining_lists(rename: TermRename) -> set[str]:
    """Return the addresses of lists with the former slug that another term of the same slug still has. One query."""
    uses = PostTerm.objects.filter(
        term__taxonomy=rename.taxonomy,
        term__slug=rename.before,
        post__in=published_posts().order_by(),
    )
    rows = uses.values_list("post__type", "post__locale", "term__locale").distinct()
    return {
        term_list_path(type_, locale, rename.taxonomy, rename.before, term_locale)
        for type_, locale, term_locale in rows
    }
