"""The user's own posts on the home page, with their states and what was sent back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, Max, OuterRef, QuerySet, Subquery
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from content.document.labels import type_label
from content.models import Draft, Layer, Post, Revision, Status
from content.store.scopes import visible_to
from proofroom.core.actor import Actor
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.notifications.models import Notification
from proofroom_apps.editorial.posts.post_pages import review_url, title_of, with_proposed_titles
from proofroom_apps.steps.models import StepAction, StepDecision, StepRound

MAX_SHOWN: Final = 6
_MAX_LOOKED_AT: Final = 40
_REJECTION_SHOWN: Final = timedelta(days=14)
_REJECTED: Final = ("post.review.reject:", "post.ai-review.reject:")
"""How the groups of notifications about rejected changes begin. The id of the post follows."""


@dataclass(frozen=True, slots=True)
class OwnPost:
    """A post of the user. `state` is the style of its badge; `note`: what the person who sent it back wrote."""

    post: Post
    title: str
    type: str
    url: str
    state: str
    label: str
    note: str = ""

    @property
    def is_sent_back(self) -> bool:
        return self.state == "returned"

    @property
    def is_done(self) -> bool:
        return self.state in (Status.PUBLISHED, Status.ARCHIVED)


def last_written(actor: Actor) -> list[UUID]:
    """Return the posts that the user changed last, the latest first. One query."""
    user = actor.user.pk
    drafts = Draft.objects.filter(updated_by=user, is_empty=False).order_by()
    revisions = Revision.objects.filter(by=user, agent_id="").order_by()
    staged, live = (
        rows.values("post").annotate(at=Max(moment)).values_list("post", "at")
        for rows, moment in ((drafts, "updated_at"), (revisions, "created_at"))
    )
    found = staged.union(live, all=True).order_by("-at")[:_MAX_LOOKED_AT]
    return [*dict.fromkeys(id_ for id_, _at in found)][:MAX_SHOWN]


def own_posts(actor: Actor) -> list[OwnPost]:
    """Return posts that the user wrote or sent through steps, with their states.

    Posts that were sent back come first, and published ones without changes last. At most three queries.
    """
    rejected = _find_rejections(actor)
    ids = {*_find_own(actor), *rejected}
    if not ids:
        return []
    found = [_describe(post, actor, rejected) for post in _with_states(ids, actor)]
    return sorted(found, key=lambda own: (not own.is_sent_back, own.is_done))[:MAX_SHOWN]


def _find_rejections(actor: Actor) -> dict[UUID, datetime]:
    """Return when changes of the user were last rejected, by post."""
    notifications = Notification.objects.filter(
        user=actor.user.pk,
        kind="review.decided",
        updated_at__gte=timezone.now() - _REJECTION_SHOWN,
    )
    found: dict[UUID, datetime] = {}
    for group, at in notifications.order_by("updated_at").values_list("group", "updated_at"):
        if group.startswith(_REJECTED) and (post := parse_uuid(group.partition(":")[2])):
            found[post] = at
    return found


def _find_own(actor: Actor) -> list[UUID]:
    user = actor.user.pk
    written = Post.objects.alive().filter(author=user).order_by().values_list("pk", "updated_at")
    started = StepRound.objects.filter(started_by=user, opened_at__isnull=False)
    both = written.union(started.order_by().values_list("pk", "opened_at"), all=True)
    return [id_ for id_, _at in both.order_by("-updated_at")[:_MAX_LOOKED_AT]]


def _with_states(ids: Collection[UUID], actor: Actor) -> QuerySet[Post]:
    waiting = Draft.objects.filter(post=OuterRef("pk"), is_empty=False)
    own_drafts = Draft.objects.filter(post=OuterRef("pk"), updated_by=actor.user.pk)
    decided = StepDecision.objects.filter(round=OuterRef("pk")).order_by("-at", "-id")
    rows = visible_to(Post.objects.alive().filter(pk__in=ids), actor)
    return (
        with_proposed_titles(rows)
        .annotate(
            in_review=Exists(waiting.filter(layer=Layer.REVIEW)),
            in_ai_review=Exists(waiting.filter(layer=Layer.AI_REVIEW)),
            edited_at=Subquery(own_drafts.order_by("-updated_at").values("updated_at")[:1]),
            step_action=Subquery(decided.values("action")[:1]),
            step_note=Subquery(decided.values("note")[:1]),
        )
        .order_by("-updated_at", "pk")
    )


def _describe(post: Post, actor: Actor, rejected: Mapping[UUID, datetime]) -> OwnPost:
    facts: Any = post  # annotated by `_with_states`
    title, kind = title_of(post), type_label(post.type)
    change = reverse("admin:content_post_change", args=[post.pk])
    if facts.step_action == StepAction.RETURNED:
        steps = reverse("admin:content_post_steps", args=[post.pk])
        return OwnPost(post, title, kind, steps, "returned", _("Sent back to you"), facts.step_note)
    at = rejected.get(post.pk)
    if at is not None and (facts.edited_at is None or facts.edited_at < at):
        return OwnPost(post, title, kind, change, "returned", _("Changes rejected"))
    if facts.in_review:
        return OwnPost(post, title, kind, review_url(post, Layer.REVIEW), "review", _("In Review"))
    if facts.in_ai_review:
        address = review_url(post, Layer.AI_REVIEW)
        return OwnPost(post, title, kind, address, "ai-review", _("In AI Review"))
    return OwnPost(post, title, kind, change, post.shown_status, str(post.shown_status_label))
