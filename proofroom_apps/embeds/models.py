"""Facts about embedded addresses, as their providers give them."""

from __future__ import annotations

from typing import ClassVar, Final
from uuid import uuid4

from django.db import models
from django.utils import timezone

from proofroom.core.validation.limits import URL_MAX

TEXT_MAX: Final = 300
PROBLEM_MAX: Final = 300


class FactsState(models.TextChoices):
    """Whether the provider has answered."""

    PENDING = "pending"
    READY = "ready"
    FAILED = "failed"


class EmbedFacts(models.Model):
    """The facts about an address, by the hash `key` of the address.

    The task fetches facts for pending and failed rows whose `due_at` has come. The `thumbnail` is a WebP
    made here, so that visitors load nothing from the provider.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    key = models.CharField(max_length=64, unique=True)
    url = models.CharField(max_length=URL_MAX)
    state = models.CharField(max_length=10, choices=FactsState.choices, default=FactsState.PENDING)
    provider = models.CharField(max_length=100, blank=True, default="")
    title = models.CharField(max_length=TEXT_MAX, blank=True, default="")
    author = models.CharField(max_length=TEXT_MAX, blank=True, default="")
    width = models.PositiveIntegerField(null=True, blank=True)
    height = models.PositiveIntegerField(null=True, blank=True)
    thumbnail = models.BinaryField(null=True, blank=True)
    thumbnail_digest = models.CharField(max_length=16, blank=True, default="")
    thumbnail_width = models.PositiveIntegerField(null=True, blank=True)
    thumbnail_height = models.PositiveIntegerField(null=True, blank=True)
    problem = models.CharField(max_length=PROBLEM_MAX, blank=True, default="")
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(null=True, blank=True, default=timezone.now)
    fetched_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "facts about an embedded address"
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["due_at"],
                condition=models.Q(due_at__isnull=False),
                name="embed_facts_due",
            )
        ]

    def __str__(self) -> str:
        return self.url
