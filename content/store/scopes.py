"""The posts that somebody may see, and those that they may change, where their rights are limited to a part of the
content (`proofroom.core.content_scope`).

The one place that says which posts a scope holds. For those without limits, which are most, nothing is added to a
query.
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
    """Those of the posts that somebody may see."""
    return _inside(posts, reading_scopes(who))


def in_scope_of(posts: QuerySet[Post], who: Scoped) -> QuerySet[Post]:
    """Those of the posts that somebody may change, as far as it depends on the post."""
    return _inside(posts, who.scopes)


def about_visible(
    rows: Rows, who: Scoped, field: str = "post", *, keeps_others: bool = False
) -> Rows:
    """Those of other rows that speak of a post which somebody may see, and with `keeps_others` those of no post.

    `field` is a foreign key, or a column with the id of a post.
    """
    return _about(rows, reading_scopes(who), field, keeps_others)


def about_in_scope(rows: Rows, who: Scoped, field: str = "post") -> Rows:
    """Those of other rows that speak of a post which somebody may change."""
    return _about(rows, who.scopes, field, False)


def hidden_title() -> str:
    """What stands for a post that somebody may not see, wherever something names it; say nothing else of it."""
    return _("A post that you cannot see")


def hidden_ids(ids: Collection[Any], who: Scoped) -> set[UUID]:
    """Those of the posts that somebody may not see. One query, none for those without limits."""
    if not ids or not reading_scopes(who):
        return set()
    posts = Post.objects.filter(pk__in=ids)
    seen = visible_to(posts, who).values("pk")
    return set(posts.exclude(pk__in=seen).values_list("pk", flat=True))


def sees(who: Scoped, post: Post) -> bool:
    """Whether somebody may see a post. At most one query, none for those without limits."""
    return all(is_in_scope(post, scope) for scope in reading_scopes(who))


def require_visible(post: Post, actor: Actor) -> None:
    """Raise `NotFound` for a post that the actor may not see, as for one that is not there."""
    if not sees(actor, post):
        raise post_not_found(post.pk)


def require_in_scope(post: Post, actor: Actor) -> None:
    """Before a post is written: raise `NotFound` for one that the actor may not see, `NotAllowed` for one that they
    may not change."""
    if not _is_in_scopes(post, actor):
        require_visible(post, actor)
        raise outside_of_scope()


def remember_sections(actor: Actor) -> None:
    """Look up where the sections begin, before something is written: nobody widens their own by giving the page that
    it begins with another address, or a translation at one. One query, none without sections."""
    for scope in actor.scopes:
        if scope.sections:
            _section_paths(scope)


def require_written_in_scope(post: Post, actor: Actor) -> None:
    """After a post was written: raise `NotAllowed` where its new place or terms are outside.

    Sections are those from before the write, see `remember_sections`.
    """
    if not _is_in_scopes(post, actor):
        raise outside_of_scope()


def require_all_written_in_scope(posts: Collection[Post], actor: Actor) -> None:
    """The same for several posts, with one query at most."""
    ids = [post.pk for post in posts]
    if actor.scopes and in_scope_of(Post.objects.filter(pk__in=ids), actor).count() < len(ids):
        raise outside_of_scope()


def outside_of_scope() -> NotAllowed:
    return NotAllowed(
        _("Your role does not cover this post."),
        code="outside_of_scope",
    )


def post_not_found(post_id: UUID | str) -> NotFound:
    return NotFound(_("No post has the ID %(post_id)s.") % {"post_id": post_id})


def is_in_scope(thing: Model, scope: ContentScope) -> bool:
    """Whether a post is inside, as it is stored now; True for what is no post. One query at most."""
    if not isinstance(thing, Post):
        return True
    if not _is_of_kind(scope, thing.type, thing.locale):
        return False
    if not scope.sections and not scope.terms:
        return True
    return Post.objects.filter(condition_of(scope), pk=thing.pk).exists()


def would_be_in_scope(
    scope: ContentScope, *, type: str, locale: str, path: str, term_ids: Collection[UUID]
) -> bool:
    """Whether a post that is not stored yet would be inside, at that address and with these terms.

    One query at most.
    """
    return (
        _is_of_kind(scope, type, locale)
        and (not scope.terms or not scope.terms.isdisjoint(term_ids))
        and (
            not scope.sections
            or any(f"{path}/".startswith(f"{root}/") for root in _section_paths(scope))
        )
    )


def condition_of(scope: ContentScope) -> Q:
    """The scope as a condition on posts. A variation is where its original is.

    Of a post that waits for its first approval, the terms that are proposed count: it has no others.
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
            Q(_carries(scope, "pk"), variation_of=None)
            | Q(_carries(scope, "variation_of"))
            | _is_to_carry(scope)
        )
    return condition


class SectionPart:
    """Sections: posts, by title and address. Those that limit somebody are no secret to them."""

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
    """Posts, for apps below this one."""

    def find(self, post_id: UUID) -> Post | None:
        return Post.objects.kept().filter(pk=post_id).first()

    def visible_ids(self, who: Scoped) -> QuerySet[Post, Any]:
        return visible_to(Post.objects.all(), who).values("pk")


def _is_of_kind(scope: ContentScope, type: str, locale: str) -> bool:
    return (not scope.types or type in scope.types) and (
        not scope.locales or locale in scope.locales
    )


def _is_in_scopes(post: Post, actor: Actor) -> bool:
    return all(is_in_scope(post, scope) for scope in actor.scopes)


def _inside(posts: QuerySet[Post], scopes: Iterable[ContentScope]) -> QuerySet[Post]:
    for scope in scopes:
        posts = posts.filter(condition_of(scope))
    return posts


def _about(rows: Rows, scopes: Collection[ContentScope], field: str, keeps_others: bool) -> Rows:
    if not scopes:
        return rows
    inside = Q(**{f"{field}__in": _inside(Post.objects.all(), scopes).values("pk")})
    if keeps_others:
        inside |= Q(**{f"{field}__isnull": True})
    return rows.filter(inside)


def _section_paths(scope: ContentScope) -> tuple[str, ...]:
    """The addresses where the sections begin, in every language. One query for each object of a scope."""
    if "paths" not in scope.found:
        groups = Post.objects.filter(pk__in=scope.sections).values("translation_group")
        roots = Post.objects.alive().filter(translation_group__in=groups).exclude(path="")
        scope.found["paths"] = tuple(roots.order_by("path").values_list("path", flat=True))
    return scope.found["paths"]


def _is_below(paths: Iterable[str], column: str) -> Q:
    """Whether the address is one of these or below it. Letters are compared exactly, which not every `LIKE` does."""
    below = Q(pk__in=[])
    for path in paths:
        begin = f"{path}/"
        below |= Q(Exact(Left(Concat(F(column), Value("/")), len(begin)), Value(begin)))
    return below


def _carries(scope: ContentScope, post: str) -> Exists:
    return Exists(PostTerm.objects.filter(post=OuterRef(post), term__in=scope.terms))


def _is_to_carry(scope: ContentScope) -> Q:
    """Whether the post waits for its first approval, and a term is proposed for it."""
    drafts = Draft.objects.filter(post=OuterRef("pk"), is_empty=False)
    named = JSONListHas("document", "taxonomyTermIds", map(str, scope.terms))
    return Q(Exists(drafts.filter(named)), is_placeholder=True)
