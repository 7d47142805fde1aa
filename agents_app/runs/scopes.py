"""The runs and batches that somebody may see, where their rights are limited to a part of the content.

A run is where its post is, and where the posts are that it wrote in. One that is about no post is seen by who started
it with the limits that they have. For those without limits nothing is added to a query.
"""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet

from agents_app.models import AgentBatch, AgentRun, RunPost
from content.models import Post
from content.store.scopes import visible_to
from proofroom.core.content_scope import Scoped, reading_scopes


def visible_runs(runs: QuerySet[AgentRun], who: Scoped, user_id: int) -> QuerySet[AgentRun]:
    """Those of the runs that somebody may see."""
    if not reading_scopes(who):
        return runs
    seen = visible_to(Post.objects.all(), who).values("pk")
    elsewhere = RunPost.objects.filter(run=OuterRef("pk")).exclude(post__in=seen)
    # What was begun with fewer limits may tell of what is outside of those that hold now.
    limits = [scope.to_json() for scope in who.scopes if scope.is_limited]
    own = Q(post=None, by=user_id, content_scopes=limits)
    return runs.filter(Q(post__in=seen) | own, ~Exists(elsewhere))


def visible_batches(
    batches: QuerySet[AgentBatch], who: Scoped, user_id: int
) -> QuerySet[AgentBatch]:
    """Those of the batches of which somebody may see every run."""
    if not reading_scopes(who):
        return batches
    seen = visible_runs(AgentRun.objects.all(), who, user_id).values("pk")
    hidden = AgentRun.objects.filter(batch=OuterRef("pk")).exclude(pk__in=seen)
    return batches.filter(~Exists(hidden))
