"""The runs and batches a user may see, if the user's content scope is limited.

A run belongs to its post and to the posts it wrote to. A run without a post is visible to its
starter, with the same limits as at its start. Without limits, queries are unchanged.
"""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet

from agents_app.models import AgentBatch, AgentRun, RunPost
from content.models import Post
from content.store.scopes import visible_to
from proofroom.core.content_scope import Scoped, reading_scopes


def visible_runs(runs: QuerySet[AgentRun], who: Scoped, user_id: int) -> QuerySet[AgentRun]:
    """Return the runs the user may see."""
    if not reading_scopes(who):
        return runs
    seen = visible_to(Post.objects.all(), who).values("pk")
    elsewhere = RunPost.objects.filter(run=OuterRef("pk")).exclude(post__in=seen)
    # A run started with wider limits may contain content outside of the current ones.
    limits = [scope.to_json() for scope in who.scopes if scope.is_limited]
    own = Q(post=None, by=user_id, content_scopes=limits)
    return runs.filter(Q(post__in=seen) | own, ~Exists(elsewhere))


def visible_batches(
    batches: QuerySet[AgentBatch], who: Scoped, user_id: int
) -> QuerySet[AgentBatch]:
    """Return the batches whose runs are all visible to the user."""
    if not reading_scopes(who):
        return batches
    seen = visible_runs(AgentRun.objects.all(), who, user_id).values("pk")
    hidden = AgentRun.objects.filter(batch=OuterRef("pk")).exclude(pk__in=seen)
    return batches.filter(~Exists(hidden))
