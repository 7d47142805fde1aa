"""Comments: threads about a post, a field, a passage, a proposed change or a media file."""

from __future__ import annotations

from typing import ClassVar, Final
from uuid import uuid4

from django.conf import settings
from django.db import models
from django.db.models import Q

from content.models import Post
from media.models import Asset

PATH_MAX: Final = 300
QUOTE_MAX: Final = 1_000
CONTEXT_MAX: Final = 200
AGENT_ID_MAX: Final = 80


class CommentStatus(models.TextChoices):
    OPEN = "open"
    RESOLVED = "resolved"


class Comment(models.Model):
    """A comment. Replies have a `parent`, which never is a reply itself.

    Status, assignee and due date are those of the whole thread, so replies have none. `quote`, `prefix` and `suffix`:
    the passage as it was last found. `reminded_due_at` and `overdue_due_at`: the due dates that its assignee was
    reminded of, when they came and when they were over. `agent_id`: the agent that wrote it, empty for people.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    post = models.ForeignKey(Post, null=True, on_delete=models.CASCADE, related_name="comments")
    asset = models.ForeignKey(Asset, null=True, on_delete=models.CASCADE, related_name="comments")
    parent = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="replies")
    path = models.CharField(max_length=PATH_MAX, blank=True)
    change_path = models.CharField(max_length=PATH_MAX, blank=True)
    quote = models.TextField(blank=True)
    prefix = models.CharField(max_length=CONTEXT_MAX, blank=True)
    suffix = models.CharField(max_length=CONTEXT_MAX, blank=True)
    body = models.TextField()
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    agent_id = models.CharField(max_length=AGENT_ID_MAX, blank=True)
    status = models.CharField(
        max_length=8, choices=CommentStatus.choices, default=CommentStatus.OPEN
    )
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    resolved_at = models.DateTimeField(null=True)
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    due_at = models.DateTimeField(null=True)
    reminded_due_at = models.DateTimeField(null=True)
    overdue_due_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    edited_at = models.DateTimeField(null=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["post", "-created_at", "-id"], name="comment_of_post"),
            models.Index(fields=["asset", "-created_at", "-id"], name="comment_of_asset"),
            models.Index(
                fields=["assignee", "due_at"],
                condition=Q(status="open", assignee__isnull=False),
                name="comment_assigned",
            ),
        ]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=Q(post__isnull=False, asset__isnull=True)
                | Q(post__isnull=True, asset__isnull=False),
                name="comment_on_one_thing",
            ),
            models.CheckConstraint(
                condition=Q(status="resolved") | Q(resolved_at__isnull=True),
                name="comment_resolved_or_not",
            ),
            models.CheckConstraint(
                condition=Q(parent__isnull=True)
                | Q(status="open", assignee__isnull=True, due_at__isnull=True),
                name="comment_reply_has_no_state",
            ),
        ]

    def __str__(self) -> str:
        return f"comment {self.pk}"


class AgentMention(models.Model):
    """A mention of an agent that started a run. `reply` is what the agent answered in the thread."""

    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="agent_mentions")
    agent_id = models.CharField(max_length=AGENT_ID_MAX)
    run_id = models.UUIDField(unique=True)
    reply = models.OneToOneField(
        Comment, null=True, on_delete=models.SET_NULL, related_name="answered_mention"
    )
    answered_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["comment", "agent_id"], name="comment_agent_once"),
        ]

    def __str__(self) -> str:
        return f"{self.agent_id} in comment {self.comment_id}"
