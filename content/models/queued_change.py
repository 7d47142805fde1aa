"""The queue of what waits for a decision: a row for each staged change, derived from the drafts."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from content.models.draft import Draft, Layer
from content.models.post import Post


class QueuedChange(models.Model):
    """One change that waits in a layer. Holds nothing that the draft does not say (`content.inbox`).

    `subject` is the place without the ids in it: `post.title`, `module.hero.title`, `module.hero`. `risk` is 1 to 3
    where the post is not published, `risk_live` where it is, and `flags` say why. `weight` is the one of the two that
    holds now: lists are ordered by it, and it follows the status of the post; within a weight by `rank`, the place of
    the heaviest flag. `findings` are the judgement that review pages and the API read. `pieces` are what differs, as
    `content.inbox.rows` writes it; `is_whole` where nothing of it is left out. Rows with one `like`
    put the same in place of the same, by the same door and credential. `principal` is the credential of the AI client
    that wrote it, and `reason` what the agent or AI client says of it. `proposed` is a hash of the value that is
    proposed. `seen` is the change as the digest of a reviewer knows it, `state` all that the row was made from.
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
