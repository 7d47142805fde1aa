"""Links for reviewers without an account, and the advice they gave."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy

from content.models.draft import Layer
from content.models.post import Post

NAME_MAX = 100
COMMENT_MAX = 2_000


class Verdict(models.TextChoices):
    """What a reviewer says to a change. Empty: only a comment."""

    YES = "yes", gettext_lazy("Yes")
    NO = "no", gettext_lazy("No")


class ReviewerLink(models.Model):
    """A link that shows the changes at `paths` of one layer to the reviewer `name` until `expires_at`.

    `digest` is that of the changes as its maker saw them: the link ends when one of them differs. Only a hash of the
    token in its address is stored.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="reviewer_links")
    layer = models.CharField(max_length=10, choices=Layer.choices)
    name = models.CharField(max_length=NAME_MAX)
    digest = models.TextField()
    paths = models.JSONField()
    token_hash = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["post", "-created_at"], name="reviewer_link_of_post"),
            models.Index(fields=["expires_at"], name="reviewer_link_expires"),
        ]

    def __str__(self) -> str:
        return f"{self.name} until {self.expires_at:%Y-%m-%d %H:%M}"


class ReviewerAdvice(models.Model):
    """What a reviewer said to one change. `fingerprint` is the state of the change, `label` its name at that time."""

    link = models.ForeignKey(ReviewerLink, on_delete=models.CASCADE, related_name="advice")
    path = models.CharField(max_length=320)
    fingerprint = models.CharField(max_length=32)
    label = models.TextField()
    verdict = models.CharField(max_length=3, choices=Verdict.choices, blank=True)
    comment = models.TextField(max_length=COMMENT_MAX, blank=True)
    given_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["link", "path"], name="reviewer_advice_once"),
        ]

    def __str__(self) -> str:
        return f"{self.verdict or 'comment'} on {self.path}"
