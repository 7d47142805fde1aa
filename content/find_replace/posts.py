"""Find and replace in posts and their modules: live content, by the rules of any edit, with revisions and events."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from content.changes import diff
from content.document import PostDocument
from content.find_replace.documents import MODULES, POSTS, edit_document, settle_hands
from content.layers.live import Written, record_updates, write_many
from content.models import Post, PostModule
from content.post_fields import POST_FIELDS
from content.posts import post_repository
from content.rules import check_changes
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from proofroom.core.find_replace import Edit, Hand, TextPlace, batches
from proofroom.core.json import JsonObject

_TEXTS: Final = tuple(field.column for field in POST_FIELDS.values() if field.is_text)
_JSON: Final = ("jsonld_overrides", "custom_fields")


class PostSource:
    """Live posts that have content of their own: neither in the trash nor still a placeholder."""

    tables: tuple[str, ...] = (POSTS, MODULES)

    def find(self, edit: Edit, tables: frozenset[str]) -> list[Any]:
        ids: set[UUID] = set()
        if POSTS in tables:
            ids.update(edit.keys(POSTS, _posts(), texts=_TEXTS, documents=_JSON))
        if MODULES in tables:
            places = PostModule.objects.filter(post__in=_posts())
            local = places.filter(instance__scope="local")
            ids.update(edit.keys(MODULES, local, documents=("instance__props",), key="post_id"))
            own = places.exclude(overrides={})
            ids.update(edit.keys(MODULES, own, documents=("overrides",), key="post_id"))
        variations = set(_posts().filter(variation_of__isnull=False).values_list("pk", flat=True))
        found: list[UUID] = []
        # A promotion and a change of slug lock the original first, and then its variations.
        for part in chain(batches(sorted(ids - variations)), batches(sorted(ids & variations))):
            posts = _posts().filter(pk__in=part).order_by("pk")
            if edit.writes:
                posts = posts.select_for_update(of=("self",), no_key=True)
            found += posts.values_list("pk", flat=True)
        return found

    def change(
        self, keys: Sequence[Any], edit: Edit, tables: frozenset[str], actor: Actor
    ) -> list[TextPlace]:
        places: list[TextPlace] = []
        told: list[tuple[UUID, JsonObject]] = []
        for part in batches(keys):
            changed: list[Written] = []
            for post, before in post_repository.load_many(
                _posts().filter(pk__in=part).order_by("pk")
            ):
                after, hands = _judged(post, before, edit, tables, actor)
                places += [place for hand in hands for place in hand.places]
                if any(hand.places for hand in hands):
                    changed.append(Written(post, before, after, diff(before, after)))
            if edit.writes and not edit.problems:
                write_many(changed, actor=actor, reason=edit.reason)
                told += [(item.post.pk, item.payload()) for item in changed]
        record_updates(told, actor=actor)
        return places


def _posts() -> QuerySet[Post]:
    return Post.objects.filter(deleted_at__isnull=True, is_placeholder=False)


def _judged(
    post: Post, before: PostDocument, edit: Edit, tables: frozenset[str], actor: Actor
) -> tuple[PostDocument, list[Hand]]:
    """The document as the edit wants it and the rules leave it; unchanged where they refuse it."""
    try:
        wanted, hands = edit_document(before, post.pk, edit, tables)
        if not hands:
            return before, []
        after = check_changes(post=post, before=before, after=wanted, actor=actor)
    except RuleViolation as error:
        # Those of modules name their module, which is enough.
        own = {path for path in error.details if path.startswith("modules.")}
        edit.refuse("" if own else f"{POSTS}.{post.pk}", error)
        return before, []
    if after != wanted:
        settle_hands(hands, after, post.pk, tables)
    return after, hands
