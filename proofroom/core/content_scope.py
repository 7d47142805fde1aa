"""Limits of permissions to a part of the content: by post type, language, section of the page tree and term.

Roles, tokens and runs of agents can have one. Content outside is invisible to them or, with `reads_all`, read-only.
Apps decide for their own models what is inside.
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
        "comments.view",
        "feedback.view",
        "media.view",
        "posts.preview",
        "posts.view",
    }
)
"""Permissions that change nothing. With `reads_all` they also cover content outside of the scope."""
Rows = TypeVar("Rows", bound=QuerySet[Any, Any])
WHOLE_SITE: Final = frozenset(
    {
        "agents.edit",
        "agents.evaluate",
        "briefs.edit",
        "database.manage",
        "disclosure.edit",
        "privacy.manage",
        "quality.view",
        "redirects.edit",
        "releases.manage",
        "seo.manage",
        "settings.manage",
        "snippets.manage",
        "tokens.manage",
        "urlPatterns.edit",
        "users.manage",
        "webhooks.manage",
    }
)
"""Permissions that cannot be limited to a part of the content, because they cover the whole site."""


@dataclass(frozen=True, slots=True)
class ContentScope:
    """A limit to a part of the content. Inside is what matches each set that is not empty.

    `types` and `locales` are names. `sections` are ids of posts: each covers the post, all posts below its path, and
    their translations. `terms` are ids of terms, of which a post needs one.
    """

    types: frozenset[str] = frozenset()
    locales: frozenset[str] = frozenset()
    sections: frozenset[UUID] = frozenset()
    terms: frozenset[UUID] = frozenset()
    reads_all: bool = False
    found: dict[str, tuple[str, ...]] = field(
        init=False, default_factory=dict, compare=False, repr=False
    )
    """Lookups cached by apps for the lifetime of this object: a request or a task."""

    @property
    def is_limited(self) -> bool:
        """True if any content is outside."""
        return any((self.types, self.locales, self.sections, self.terms))

    def is_within(self, other: ContentScope) -> bool:
        """Return whether a user limited to `other` may grant this scope: it must be at least as narrow in each
        set.
        """
        return all(
            # An empty set is no limit, so an empty set is within another only if that one is empty too.
            not theirs or (bool(own) and own <= theirs)
            for own, theirs in (
                (self.types, other.types),
                (self.locales, other.locales),
                (self.sections, other.sections),
                (self.terms, other.terms),
            )
        ) and (other.reads_all or not other.is_limited or not self.reads_all)

    def to_json(self) -> JsonObject:
        """Return the limits in a fixed order; empty for a scope without limits."""
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
        """Parse the result of `to_json`."""
        lists = cast("Mapping[str, Sequence[str]]", value)
        return cls(
            types=frozenset(lists.get("types", ())),
            locales=frozenset(lists.get("locales", ())),
            sections=frozenset(map(UUID, lists.get("sections", ()))),
            terms=frozenset(map(UUID, lists.get("terms", ()))),
            reads_all=bool(value.get("readsAll")),
        )


class Scoped(Protocol):
    """An account or an actor whose rights may be limited."""

    @property
    def scopes(self) -> Collection[ContentScope]:
        """All limits; usually none."""


scope_checks: Hook[[Model, ContentScope], bool] = Hook()
"""Functions that return whether an item is inside a scope, True for an item of another app. May query."""


class PostLookup(Protocol):
    """A lookup of posts for apps below `content`. `content` registers its implementation."""

    def find(self, post_id: UUID) -> Model | None:
        """Return the post with this id, unless it is in the trash. One query."""

    def visible_ids(self, who: Scoped) -> QuerySet[Any, Any]:
        """Return the ids of the posts that the user may view."""


post_lookups: ExtensionPoint[PostLookup] = ExtensionPoint()


class ScopeDimension(Protocol):
    """The objects that `sections` or `terms` of scopes refer to, with their labels."""

    def label_all(self, ids: Collection[UUID], who: Scoped) -> Mapping[UUID, str]:
        """Return labels of the given ids that the user may view. One query."""

    def offer(self, who: Scoped) -> Mapping[UUID, str]:
        """Return likely choices for a form without search. One query."""


scope_dimensions: ExtensionPoint[ScopeDimension] = ExtensionPoint()
"""Dimensions by name: `sections` and `terms`."""


def find_post(post_id: UUID) -> Model | None:
    """Return the post with this id, unless it is in the trash. One query."""
    found = (posts.find(post_id) for posts in post_lookups)
    return next((post for post in found if post is not None), None)


def visible_post_ids(who: Scoped) -> QuerySet[Any, Any] | None:
    """Return the ids of the posts that the user may view; None where no app defines posts."""
    return next((posts.visible_ids(who) for posts in post_lookups), None)


@dataclass(frozen=True, slots=True)
class ContentLimits:
    """A user reduced to their limits."""

    scopes: tuple[ContentScope, ...]


def limits_of(who: Scoped, permission: str) -> ContentLimits:
    """Return the limits of one permission. If it changes content, content that is only readable counts as outside."""
    held = scopes_for(permission, who.scopes)
    return ContentLimits(tuple(replace(scope, reads_all=False) for scope in held))


def label_scope_ids(part: str, ids: Collection[UUID], who: Scoped) -> Mapping[UUID, str]:
    """Return labels of the `sections` or `terms` of a scope that the user may view. One query, none without ids."""
    found = scope_dimensions.get(part)
    return found.label_all(ids, who) if ids and found is not None else {}


def reading_scopes(who: Scoped) -> list[ContentScope]:
    """Return the scopes that also limit what the user may view."""
    return [scope for scope in who.scopes if not scope.reads_all]


def scopes_for(permission: str, scopes: Iterable[ContentScope]) -> list[ContentScope]:
    """Return the scopes that limit a permission."""
    return [scope for scope in scopes if not (scope.reads_all and permission in READING)]


def allowed_names(
    scopes: Iterable[ContentScope], part: Literal["types", "locales"], names: Iterable[str]
) -> list[str]:
    """Return the names of types or languages that all scopes allow. No query."""
    limits = [limit for scope in scopes if (limit := getattr(scope, part))]
    return [name for name in names if all(name in limit for limit in limits)]


def is_in_scopes(thing: Model, scopes: Iterable[ContentScope]) -> bool:
    """Return whether an object is inside of all scopes. No query if there are none."""
    return all(all(scope_checks(thing, scope)) for scope in scopes)


def limit_to_own_runs(rows: Rows, who: Scoped, user_id: int) -> Rows:
    """Return the runs the user may view.

    A run may contain content of any section, so a limited user sees only their own.
    """
    return rows.filter(by=user_id) if reading_scopes(who) else rows
