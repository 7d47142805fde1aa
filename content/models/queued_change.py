"""The queue of changes that wait for a decision: one row per staged change, derived from the drafts."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from content.models.draft import Draft, Layer
from content.models.post import Post


class QueuedChange(models.Model):
    """One change that waits in a layer. All data can be derived from the draft (`content.inbox`).

    - `subject`: path without ids, such as `post.title`, `module.hero.title`, `module.hero`.
    - `risk`, `risk_live`: 1 to 3, for an unpublished and for a published post. `flags`: the reasons.
    - `weight`: the risk that applies to the post's status. `rank`: order within a weight, by the heaviest flag.
    - `findings`: the assessment that review pages and the API return.
    - `pieces`: the differences, written by `content.inbox.rows`. `is_whole`: none of them is omitted.
    - `like`: equal for the same replacement by the same credential through the same channel.
    - `principal`: credential of the AI client. `reason`: the explanation by the agent or AI client.
    - `proposed`: hash of the proposed value. `seen`: the change in a reviewer's digest. `state`: hash of all inputs.
    """

    draft = models.ForeignKey(Draft, on_delete=models.CASCADE, related_name="queued")
    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="queued")
    layer = models.CharField(max_length=10, choices=Layer.choices)
    path = models.CharField(max_length=300)
    kind = models.CharField(max_length=10)
    subject = models.CharField(max_length=200)
    risk = models.PositiveSmallIntegerField()
    flags = models.JSONField(default=list)
    risk_live = models.PositiveSmallIntegerField()
    weight = models.PositiveSmallIntegerField()
    rank = models.PositiveSmallIntegerField(default=0)
    findings = models.JSONField(default=dict)
    is_ai = models.BooleanField(default=False)
    author_account = models.BigIntegerField(null=True)
    author_name = models.CharField(max_length=150, blank=True, default="")
    edited_by_name = models.CharField(max_length=150, blank=True, default="")
    agent_id = models.CharField(max_length=80, blank=True, default="")
    run_id = models.CharField(max_length=40, blank=True, default="")
    via = models.CharField(max_length=10, blank=True, default="")
    principal = models.CharField(max_length=100, blank=True, default="")
    reason = models.CharField(max_length=500, blank=True, default="")
    at = models.DateTimeField()
    pieces = models.JSONField(default=list)
    is_whole = models.BooleanField(default=False)
    like = models.CharField(max_length=32)
    proposed = models.CharField(max_length=32)
    seen = models.CharField(max_length=32)
    state = models.CharField(max_length=32)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["draft", "path"], name="queued_once"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["-weight", "rank", "-at", "-id"], name="queued_by_weight"),
            models.Index(fields=["layer", "-weight", "rank", "-at", "-id"], name="queued_in_layer"),
            models.Index(fields=["like", "id"], name="queued_like"),
        ]

    def __str__(self) -> str:
        return f"{self.path} in {self.layer} of {self.post_id}"
