"""Find and replace in the Review layer: each post's new texts are proposed there, and live content stays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from content.document.document import PostDocument
from content.find_replace.documents import MODULES, POSTS, edit_document, settle_hands
from content.layers.stage import stage
from content.models import Layer, PostModule
from proofroom.core.actor import Actor
from proofroom.core.batches import batches
from proofroom.core.errors import NotFound, RuleViolation
from proofroom.core.find_replace import Edit, Hand, TextPlace

REVIEW_TABLES = frozenset({POSTS, MODULES})
"""What can be proposed: the rest of the site has no layers."""


@dataclass(slots=True)
class ReviewEdit:
    """The texts that were staged, and why a post was left as it is, by its id."""

    places: list[TextPlace] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def edit_review(edit: Edit, actor: Actor) -> ReviewEdit:
    """Stage what the edit makes of Review, post by post. What it does not find there stays."""
    return edit_review_of(sorted(posts_of(edit.rows_named())), edit, actor)


def edit_review_of(post_ids: Collection[str], edit: Edit, actor: Actor) -> ReviewEdit:
    """The same for these posts."""
    found = ReviewEdit()
    for post_id in post_ids:
        hands: list[Hand] = []

        def rewrite(
            document: PostDocument, hands: list[Hand] = hands, post_id: str = post_id
        ) -> PostDocument:
            edited, made = edit_document(document, post_id, edit, REVIEW_TABLES)
            hands += made
            return edited

        try:
            staged = stage(post_id=post_id, layer=Layer.REVIEW, actor=actor, edit=rewrite)
        except (NotFound, RuleViolation) as error:
            found.refused[post_id] = error.message
            continue
        settle_hands(hands, staged.document, post_id, REVIEW_TABLES)
        found.places += [place for hand in hands for place in hand.places]
    return found


def posts_of(rows: Collection[tuple[str, str]]) -> set[str]:
    """The posts of rows of posts and modules, named by table and id. A query for a batch of modules."""
    ids: dict[str, set[str]] = defaultdict(set)
    for table, row in rows:
        ids[table].add(row)
    posts = ids[POSTS]
    for part in batches(sorted(ids[MODULES])):
        places = PostModule.objects.filter(pk__in=part)
        posts.update(str(post_id) for post_id in places.values_list("post_id", flat=True))
    return posts
