"""The posts that a user with a limited scope may view and change (`proofroom.core.content_scope`).

Only this module translates scopes to conditions on posts. For users without limits, queries stay unchanged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final, TypeVar
from uuid import UUID

from django.db.models import Exists, F, Model, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat, Left
from django.db.models.lookups import Exact
from django.utils.translation import gettext as _

from content.models import Draft, Post, PostTerm
from proofroom.core.actor import Actor
from proofroom.core.content_scope import ContentScope, Scoped, reading_scopes
from proofroom.core.database.json_text import JSONListHas
from proofroom.core.errors import NotAllowed, NotFound

MAX_OFFERED: Final = 200
Rows = TypeVar("Rows", bound=QuerySet[Any, Any])


def visible_to(posts: QuerySet[Post], who: Scoped) -> QuerySet[Post]:
    """Return the posts the user may view."""
    return _filter_by_scopes(posts, reading_scopes(who))


def changeable_by(posts: QuerySet[Post], who: Scoped) -> QuerySet[Post]:
    """Return the posts the user may change, as far as it depends on the post."""
    return _filter_by_scopes(posts, who.scopes)


def filter_by_visible_post(
    rows: Rows, who: Scoped, field: str = "post", *, include_without_post: bool = False
) -> Rows:
    """Return the rows about posts the user may view, with `include_without_post` also rows without a post.

    `field`: a foreign key, or a column with the id of a post.
    """
    return _filter_by_post(rows, reading_scopes(who), field, include_without_post)


def filter_by_changeable_post(rows: Rows, who: Scoped, field: str = "post") -> Rows:
    """Return the rows about posts the user may change."""
    return _filter_by_post(rows, who.scopes, field, False)


def hidden_title() -> str:
    """Return the replacement for the title of a post the user may not view. Show no other data of the post."""
    return _("A post that you cannot see")


def hidden_post_ids(ids: Collection[Any], who: Scoped) -> set[UUID]:
    """Return the ids of the posts the user may not view. One query, none without limits."""
    if not ids or not reading_scopes(who):
        return set()
    posts = Post.objects.filter(pk__in=ids)
    seen = visible_to(posts, who).values("pk")
    return set(posts.exclude(pk__in=seen).values_list("pk", flat=True))


def can_view(who: Scoped, post: Post) -> bool:
    """Return whether the user may view a post. At most one query, none without limits."""
    return all(is_in_scope(post, scope) for scope in reading_scopes(who))


def require_visible(post: Post, actor: Actor) -> None:
    """Raise `NotFound` if the actor may not view the post, the same error as for a missing post."""
    if not can_view(actor, post):
        raise post_not_found(post.pk)


def require_in_scope(post: Post, actor: Actor) -> None:
    """Check a post before a write. Raises `NotFound` if the actor may not view it, `NotAllowed` if not change it."""
    if not _is_in_scopes(post, actor):
        # "Out of scope" would reveal a post that the actor may not view.
        require_visible(post, actor)
        raise outside_of_scope()


def remember_sections(actor: Actor) -> None:
    """Load the paths of the actor's sections. One query, none without sections."""
    # Before the write: an editor must not extend their own scope by moving the root page of a section, or by adding a
    # translation of it at another path.
    for scope in actor.scopes:
        if scope.sections:
            _section_paths(scope)


def require_written_in_scope(post: Post, actor: Actor) -> None:
    """Check a post after a write. Raises `NotAllowed` if its new place or terms are out of scope.

    The sections are those before the write, see `remember_sections`.
    """
    if not _is_in_scopes(post, actor):
        raise outside_of_scope()


def require_all_written_in_scope(posts: Collection[Post], actor: Actor) -> None:
    """Check several posts after a write, see `require_written_in_scope`. At most one query."""
    ids = [post.pk for post in posts]
    if actor.scopes and changeable_by(Post.objects.filter(pk__in=ids), actor).count() < len(ids):
        raise outside_of_scope()


def outside_of_scope() -> NotAllowed:
    return NotAllowed(
        _("Your role does not cover this post."),
        code="outside_of_scope",
    )


def post_not_found(post_id: UUID | str) -> NotFound:
    return NotFound(_("No post has the ID %(post_id)s.") % {"post_id": post_id})


def is_in_scope(thing: Model, scope: ContentScope) -> bool:
    """Return whether the stored post is in scope. True for objects that are not posts. At most one query."""
    if not isinstance(thing, Post):
        return True
    if not _matches_type_and_locale(scope, thing.type, thing.locale):
        return False
    if not scope.sections and not scope.terms:
        return True
    return Post.objects.filter(condition_of(scope), pk=thing.pk).exists()


def would_be_in_scope(
    scope: ContentScope, *, type: str, locale: str, path: str, term_ids: Collection[UUID]
) -> bool:
    """Return whether an unsaved post with this path and these terms would be in scope. At most one query."""
    return (
        _matches_type_and_locale(scope, type, locale)
        and (not scope.terms or not scope.terms.isdisjoint(term_ids))
        and (
            # With a slash, so that /news does not include /newsletter.
            not scope.sections
            or any(f"{path}/".startswith(f"{root}/") for root in _section_paths(scope))
        )
    )


def condition_of(scope: ContentScope) -> Q:
    """Return the scope as a condition on posts.

    A variation is in scope if its original is. For a post that waits for its first approval, the proposed terms
    count, because it has no others.
    """
    condition = Q()
    if scope.types:
        condition &= Q(type__in=scope.types)
    if scope.locales:
        condition &= Q(locale__in=scope.locales)
    if scope.sections:
        paths = _section_paths(scope)
        condition &= _is_below(paths, "path") | _is_below(paths, "variation_of__path")
    if scope.terms:
        condition &= (
            Q(_has_term(scope, "pk"), variation_of=None)
            | Q(_has_term(scope, "variation_of"))
            | _has_proposed_term(scope)
        )
    return condition


class SectionPart:
    """The sections of a scope: posts, labelled by title and path. Users may view the labels of their own sections."""

    def label_all(self, ids: Collection[UUID], who: Scoped) -> dict[UUID, str]:
        posts = Post.objects.alive().filter(pk__in=ids)
        own = {id_ for scope in who.scopes for id_ in scope.sections}
        seen = visible_to(posts, who)
        return self._label(seen | posts.filter(pk__in=own) if own else seen)

    def offer(self, who: Scoped) -> dict[UUID, str]:
        seen = visible_to(Post.objects.alive(), who)
        has_pages = Exists(seen.filter(parent=OuterRef("pk")))
        return self._label(seen.filter(has_pages).order_by("path")[:MAX_OFFERED])

    @staticmethod
    def _label(posts: QuerySet[Post]) -> dict[UUID, str]:
        rows = posts.values_list("pk", "title", "path")
        return {pk: f"{title} ({path})" for pk, title, path in rows}


class PostTableLookup:
    """The implementation of `PostLookup`, for apps that may not import `content`."""

    def find(self, post_id: UUID) -> Post | None:
        return Post.objects.kept().filter(pk=post_id).first()

    def visible_ids(self, who: Scoped) -> QuerySet[Post, Any]:
        return visible_to(Post.objects.all(), who).values("pk")


def _matches_type_and_locale(scope: ContentScope, type: str, locale: str) -> bool:
    return (not scope.types or type in scope.types) and (
        not scope.locales or locale in scope.locales
    )


def _is_in_scopes(post: Post, actor: Actor) -> bool:
    return all(is_in_scope(post, scope) for scope in actor.scopes)


def _filter_by_scopes(posts: QuerySet[Post], scopes: Iterable[ContentScope]) -> QuerySet[Post]:
    for scope in scopes:
        posts = posts.filter(condition_of(scope))
    return posts


def _filter_by_post(
    rows: Rows, scopes: Collection[ContentScope], field: str, include_without_post: bool
) -> Rows:
    if not scopes:
        return rows
    inside = Q(**{f"{field}__in": _filter_by_scopes(Post.objects.all(), scopes).values("pk")})
    if include_without_post:
        inside |= Q(**{f"{field}__isnull": True})
    return rows.filter(inside)


def _section_paths(scope: ContentScope) -> tuple[str, ...]:
    """Return the root paths of the sections in every locale. One query per scope object."""
    # `remember_sections` relies on this cache.
    if "paths" not in scope.found:
        groups = Post.objects.filter(pk__in=scope.sections).values("translation_group")
        roots = Post.objects.alive().filter(translation_group__in=groups).exclude(path="")
        scope.found["paths"] = tuple(roots.order_by("path").values_list("path", flat=True))
    return scope.found["paths"]


def _is_below(paths: Iterable[str], column: str) -> Q:
    """Return a condition: the path is one of these or below it."""
    # Matches no post: without its root pages, a section is empty and not unlimited.
    below = Q(pk__in=[])
    for path in paths:
        # Not LIKE, which ignores case on SQLite.
        begin = f"{path}/"
        below |= Q(Exact(Left(Concat(F(column), Value("/")), len(begin)), Value(begin)))
    return below


def _has_term(scope: ContentScope, post: str) -> Exists:
    return Exists(PostTerm.objects.filter(post=OuterRef(post), term__in=scope.terms))


def _has_proposed_term(scope: ContentScope) -> Q:
    """Return a condition: the post waits for its first approval, with one of the scope's terms proposed."""
    drafts = Draft.objects.filter(post=OuterRef("pk"), is_empty=False)
    named = JSONListHas("document", "taxonomyTermIds", map(str, scope.terms))
    return Q(Exists(drafts.filter(named)), is_placeholder=True)
