"""The content that somebody's rights are limited to: by post type, language, section of the page tree and term.

A role has one, and so can a token or a run of an agent. What is outside of it does not exist for them, or, where
`reads_all` is set, can be read and not changed. Apps say of their own things whether they are inside.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Protocol, TypeVar, cast
from uuid import UUID

from django.db.models import Model, QuerySet

from proofroom.core.hooks import ExtensionPoint, Hook
from proofroom.core.json import JsonObject

READING: Final = frozenset(
    {
        "agents.view",
        "analytics.read",
        "analytics.view",
        "feedback.view",
        "media.view",
        "posts.preview",
        "posts.view",
    }
)
"""Permissions that change nothing: where a scope has `reads_all`, they hold outside of it, too."""
Rows = TypeVar("Rows", bound=QuerySet[Any, Any])
WHOLE_SITE: Final = frozenset(
    {
        "agents.edit",
        "database.manage",
        "redirects.edit",
        "seo.manage",
        "settings.manage",
        "tokens.manage",
        "urlPatterns.edit",
        "users.manage",
        "webhooks.manage",
    }
)
"""What cannot be limited to a part of the content: it changes or shows the whole site."""


@dataclass(frozen=True, slots=True)
class ContentScope:
    """Inside is what fits each part that is not empty.

    `types` and `locales` are names. `sections` are ids of posts: each stands for itself, for all below its address,
    and for the same in the other languages. `terms` are ids of terms, of which a post carries one.
    """

    types: frozenset[str] = frozenset()
    locales: frozenset[str] = frozenset()
    sections: frozenset[UUID] = frozenset()
    terms: frozenset[UUID] = frozenset()
    reads_all: bool = False
    found: dict[str, tuple[str, ...]] = field(
        init=False, default_factory=dict, compare=False, repr=False
    )
    """What apps have looked up for it, while this object lives: a request, or a task."""

    @property
    def is_limited(self) -> bool:
        """Whether anything at all is outside."""
        return any((self.types, self.locales, self.sections, self.terms))

    def is_within(self, other: ContentScope) -> bool:
        """Whether whoever has `other` can give this one: each part that limits them limits it at least as much."""
        return all(
            not theirs or (bool(own) and own <= theirs)
            for own, theirs in (
                (self.types, other.types),
                (self.locales, other.locales),
                (self.sections, other.sections),
                (self.terms, other.terms),
            )
        ) and (other.reads_all or not other.is_limited or not self.reads_all)

    def to_json(self) -> JsonObject:
        """What is set, in a fixed order; empty for a scope without limits."""
        if not self.is_limited:
            return {}
        parts: JsonObject = {
            "types": [*sorted(self.types)],
            "locales": [*sorted(self.locales)],
            "sections": [str(id_) for id_ in sorted(self.sections)],
            "terms": [str(id_) for id_ in sorted(self.terms)],
            "readsAll": self.reads_all,
        }
        return {name: value for name, value in parts.items() if value}

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> ContentScope:
        """Read what `to_json` wrote."""
        lists = cast("Mapping[str, Sequence[str]]", value)
        return cls(
            types=frozenset(lists.get("types", ())),
            locales=frozenset(lists.get("locales", ())),
            sections=frozenset(map(UUID, lists.get("sections", ()))),
            terms=frozenset(map(UUID, lists.get("terms", ()))),
            reads_all=bool(value.get("readsAll")),
        )


class Scoped(Protocol):
    """An account or an actor: somebody whose rights can be limited."""

    @property
    def scopes(self) -> Collection[ContentScope]:
        """All that limit them; none for most."""


scope_checks: Hook[[Model, ContentScope], bool] = Hook()
"""Functions that return whether an item is inside a scope, True for an item of another app. May query."""


class PostLookup(Protocol):
    """Posts, for apps below `content`, which registers its own."""

    def find(self, post_id: UUID) -> Model | None:
        """Return the post with this id, unless it is in the trash. One query."""

    def visible_ids(self, who: Scoped) -> QuerySet[Any, Any]:
        """Return the ids of the posts that the user may view."""


post_lookups: ExtensionPoint[PostLookup] = ExtensionPoint()


class ScopePart(Protocol):
    """What a part of scopes, `sections` or `terms`, is made of: things with ids and words for people."""

    def label_all(self, ids: Collection[UUID], who: Scoped) -> Mapping[UUID, str]:
        """Those of these ids that somebody may see, with what people call them. One query."""

    def offer(self, who: Scoped) -> Mapping[UUID, str]:
        """Some that they are likely to choose, where they have no search. One query."""


scope_parts: ExtensionPoint[ScopePart] = ExtensionPoint()
"""By the name of the part."""


def find_post(post_id: UUID) -> Model | None:
    """Return the post with this id, unless it is in the trash. One query."""
    found = (posts.find(post_id) for posts in post_lookups)
    return next((post for post in found if post is not None), None)


def visible_post_ids(who: Scoped) -> QuerySet[Any, Any] | None:
    """Return the ids of the posts that the user may view; None where no app defines posts."""
    return next((posts.visible_ids(who) for posts in post_lookups), None)


@dataclass(frozen=True, slots=True)
class ContentLimits:
    """Somebody of whom nothing counts but what limits them."""

    scopes: tuple[ContentScope, ...]


def limits_of(who: Scoped, permission: str) -> ContentLimits:
    """What limits one permission of somebody: where it changes something, what they may only read is outside too."""
    held = scopes_for(permission, who.scopes)
    return ContentLimits(tuple(replace(scope, reads_all=False) for scope in held))


def label_scope_ids(part: str, ids: Collection[UUID], who: Scoped) -> Mapping[UUID, str]:
    """What people call the `sections` or `terms` of a scope that `who` may see. One query, none without any."""
    found = scope_parts.get(part)
    return found.label_all(ids, who) if ids and found is not None else {}


def reading_scopes(who: Scoped) -> list[ContentScope]:
    """Those of the scopes that limit what somebody may see, too."""
    return [scope for scope in who.scopes if not scope.reads_all]


def scopes_for(permission: str, scopes: Iterable[ContentScope]) -> list[ContentScope]:
    """Those of the scopes that limit a permission."""
    return [scope for scope in scopes if not (scope.reads_all and permission in READING)]


def names_left(
    scopes: Iterable[ContentScope], part: Literal["types", "locales"], names: Iterable[str]
) -> list[str]:
    """Those of the names of types or languages that all the scopes leave. No query."""
    limits = [limit for scope in scopes if (limit := getattr(scope, part))]
    return [name for name in names if all(name in limit for limit in limits)]


def is_in_scopes(thing: Model, scopes: Iterable[ContentScope]) -> bool:
    """Whether a thing is inside of all the scopes. No query without any."""
    return all(all(scope_checks(thing, scope)) for scope in scopes)


def own_where_limited(rows: Rows, who: Scoped, user_id: int) -> Rows:
    """The runs that somebody may see, where one can name content of any part: who is limited sees their own."""
    return rows.filter(by=user_id) if reading_scopes(who) else rows
