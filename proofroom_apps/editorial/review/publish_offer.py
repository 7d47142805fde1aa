"""The effects of "Approve and publish", shown in the review beforehand."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

from django.http import HttpRequest
from django.utils import timezone

from content.layers import Layers, LayerView
from content.models import Layer, Post, Status
from content.posts.decide import paths_waiting_in_review
from content.store.post_paths import path_for
from content.store.publish_permissions import APPROVE_AND_PUBLISH
from proofroom.core.admin.permissions import may
from proofroom.core.errors import CmsError


@dataclass(frozen=True, slots=True)
class PublishOffer:
    """The offer to publish.

    `address` is the address after publishing; `moved_address` is that with the staged slug or parent accepted,
    empty if neither is staged.

    `held` are paths that cannot go live from AI Review because Review changes them too; `other_count` is the number
    of changes that stay in the other layer.
    """

    post: Post
    address: str
    moved_address: str
    held: tuple[str, ...]
    other_count: int

    @property
    def is_draft(self) -> bool:
        return self.post.status == Status.DRAFT

    @property
    def is_first(self) -> bool:
        return self.post.published_at is None


def offer_publishing(request: HttpRequest, layers: Layers, view: LayerView) -> PublishOffer | None:
    """Return the offer. None without permission, or if it would equal the layer's main button."""
    post = layers.post
    is_draft = post.status == Status.DRAFT
    is_useful = is_draft or (view.layer == Layer.AI_REVIEW and post.status == Status.PUBLISHED)
    if not is_useful or post.variation_of_id is not None or not view.exists:
        return None
    if not all(
        may(request, permission, layers.post) for permission in APPROVE_AND_PUBLISH[view.layer]
    ):
        return None
    is_review = view.layer == Layer.REVIEW
    other = layers.ai_review if is_review else layers.review
    held = () if is_review else tuple(paths_waiting_in_review(layers, view.changes.paths))
    live, staged = layers.live.fields, view.document.fields
    has_moved = any(live.get(name) != staged.get(name) for name in ("slug", "parentId"))
    return PublishOffer(
        post,
        _address(post, str(live.get("slug")), live.get("parentId")),
        _address(post, str(staged.get("slug")), staged.get("parentId")) if has_moved else "",
        held,
        len(other.changes),
    )


def _address(post: Post, slug: str, parent_id: object) -> str:
    """Return the path of the post after publishing; empty if it would have none."""
    # On a copy, since the page shows the post with its present values.
    shown = copy(post)
    shown.slug = slug
    # The URL pattern can contain the day of publication.
    shown.published_at = post.published_at or timezone.now()
    if str(parent_id or "") != str(post.parent_id or ""):
        shown.parent = Post.objects.filter(pk=str(parent_id)).first() if parent_id else None
    try:
        return path_for(shown)
    except CmsError:
        return ""
