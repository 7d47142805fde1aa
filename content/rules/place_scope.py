"""Checks of the scope of a new place, before any rule could reveal what exists there."""

from __future__ import annotations

from copy import copy

from content.document.changes import TERMS_PATH, diff
from content.document.document import PostDocument
from content.models import Post
from content.store.post_paths import path_for
from content.store.scopes import can_view, outside_of_scope, would_be_in_scope
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from proofroom.core.validation.input_validation import parse_uuid

_PLACE_PATHS = frozenset({"post.slug", "post.parentId"})


def require_kind_in_scope(*, type: str, locale: str, actor: Actor) -> None:
    """Raise `NotAllowed` if the actor may not change posts of this type and language."""
    for scope in actor.scopes:
        if (scope.types and type not in scope.types) or (
            scope.locales and locale not in scope.locales
        ):
            raise outside_of_scope()


def require_place_in_scope(
    *, post: Post, before: PostDocument, after: PostDocument, actor: Actor, is_live: bool = True
) -> None:
    """Raise `NotAllowed` if the new path or terms of a post are out of the actor's scope.

    Called before the rules. A parent that the actor may not view counts as missing: below it no section can match,
    and without sections the rules refuse it. Without `is_live` the change is a proposal, which may propose terms
    that take the post out of scope.
    """
    if not actor.scopes or post.variation_of_id is not None:
        return
    paths = set(diff(before, after).paths)
    is_new = post._state.adding or post.is_placeholder
    if not is_new and not (_PLACE_PATHS & paths or (is_live and TERMS_PATH in paths)):
        return
    require_kind_in_scope(type=post.type, locale=post.locale, actor=actor)
    path = _future_path(post, after, paths, actor)
    terms = set(after.taxonomy_term_ids)
    if not is_live and not is_new:
        # A proposal leaves the post in scope by its current terms until it is approved.
        terms |= set(before.taxonomy_term_ids)
    term_ids = {id_ for id_ in map(parse_uuid, terms) if id_ is not None}
    for scope in actor.scopes:
        if not would_be_in_scope(
            scope, type=post.type, locale=post.locale, path=path, term_ids=term_ids
        ):
            raise outside_of_scope()


def _future_path(post: Post, after: PostDocument, paths: set[str], actor: Actor) -> str:
    """Return the path the post would have, empty if it could have none."""
    if post.is_placeholder:
        return post.path  # the proposed place applies after the approval only
    wanted = after.fields.get("parentId")
    parent_id = parse_uuid(str(wanted or ""))
    parent = Post.objects.alive().filter(pk=parent_id).first() if parent_id else None
    if wanted and parent is None:
        return ""
    if parent is not None and "post.parentId" in paths and not can_view(actor, parent):
        return ""
    # A copy, because the change may still be refused.
    moved = copy(post)
    moved.slug, moved.parent = str(after.fields.get("slug") or ""), parent
    try:
        return path_for(moved)
    except RuleViolation:
        return ""
