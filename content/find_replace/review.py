"""Find and replace in Review: stages the new texts of each post and leaves live content unchanged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from content.document.document import PostDocument
from content.find_replace.documents import (
    MODULES,
    POSTS,
    edit_document,
    update_hands_after_validation,
)
from content.layers.stage import stage
from content.models import Layer, PostModule
from proofroom.core.actor import Actor
from proofroom.core.batches import batches
from proofroom.core.errors import Conflict, NotFound, RuleViolation
from proofroom.core.find_replace import Edit, Hand, TextPlace

REVIEW_TABLES = frozenset({POSTS, MODULES})
"""Tables with a Review layer."""


@dataclass(slots=True)
class ReviewEdit:
    """The staged texts, and the reasons for refused posts by post id."""

    places: list[TextPlace] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def edit_review(edit: Edit, actor: Actor) -> ReviewEdit:
    """Stage the result of the edit in Review, post by post."""
    return edit_review_of(sorted(post_ids_of_rows(edit.rows_named())), edit, actor)


def edit_review_of(post_ids: Collection[str], edit: Edit, actor: Actor) -> ReviewEdit:
    """Stage the result of the edit in Review for these posts."""
    found = ReviewEdit()
    for post_id in post_ids:
        hands: list[Hand] = []

        # The defaults bind the values of this iteration; a closure could see later ones.
        def rewrite(
            document: PostDocument, hands: list[Hand] = hands, post_id: str = post_id
        ) -> PostDocument:
            edited, made = edit_document(document, post_id, edit, REVIEW_TABLES)
            hands += made
            return edited

        try:
            staged = stage(post_id=post_id, layer=Layer.REVIEW, actor=actor, edit=rewrite)
        except (NotFound, RuleViolation, Conflict) as error:
            found.refused[post_id] = error.message
            continue
        update_hands_after_validation(hands, staged.document, post_id, REVIEW_TABLES)
        found.places += [place for hand in hands for place in hand.places]
    return found


def post_ids_of_rows(rows: Collection[tuple[str, str]]) -> set[str]:
    """Return the post ids of rows of posts and modules, given as table and id. One query per batch of modules."""
    ids: dict[str, set[str]] = defaultdict(set)
    for table, row in rows:
        ids[table].add(row)
    posts = ids[POSTS]
    for part in batches(sorted(ids[MODULES])):
        places = PostModule.objects.filter(pk__in=part)
        posts.update(str(post_id) for post_id in places.values_list("post_id", flat=True))
    return posts
