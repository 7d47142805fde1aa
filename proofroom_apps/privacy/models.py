"""Requests of people about their data, and the files of exports."""

from __future__ import annotations

from typing import ClassVar, Final

from django.db import models
from django.utils import timezone

from proofroom.core.background_jobs.models import BackgroundJob, JobState
from proofroom.core.privacy.person import EMAIL_MAX, Person

CHUNK_BYTES: Final = 1024 * 1024
KEPT_DAYS: Final = 30


class RequestAction(models.TextChoices):
    SEARCH = "search"
    EXPORT = "export"
    ERASE = "erase"


class PersonalDataRequest(BackgroundJob):
    """A search, export or erasure of the data about one person.

    `email`, `account_id` and `username` identify the person; the first and the last are empty after an erasure.
    `pending` are the names of the kinds that are left, `results` the numbers by kind: `found`, and `erased` of an
    erasure. `copies` are sentences about data outside of the database. The file of an export is stored in chunks
    until `expires_at`.
    """

    action = models.CharField(max_length=10, choices=RequestAction.choices)
    email = models.CharField(max_length=EMAIL_MAX, blank=True)
    account_id = models.BigIntegerField(null=True)
    username = models.CharField(max_length=150, blank=True)
    pending = models.JSONField(default=list)
    results = models.JSONField(default=dict)
    copies = models.JSONField(default=list)
    via = models.CharField(max_length=10, default="admin")
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "request about personal data"
        verbose_name_plural = "requests about personal data"
        ordering: ClassVar[list[str]] = ["-created_at", "-id"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["-created_at", "-id"], name="privacy_request_newest"),
            models.Index(
                fields=["touched_at"],
                name="privacy_request_running",
                condition=models.Q(state="running"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.pk}"

    @property
    def person(self) -> Person:
        return Person(self.email, self.account_id, self.username)

    @property
    def total(self) -> int:
        """The number of kinds."""
        return len(self.results) + len(self.pending)

    @property
    def has_file(self) -> bool:
        """Return whether the file of an export can be downloaded."""
        return (
            self.action == RequestAction.EXPORT
            and self.state == JobState.DONE
            and self.expires_at is not None
            and self.expires_at > timezone.now()
        )


def requests_about(person: Person) -> models.QuerySet[PersonalDataRequest]:
    """Return the requests that still name the person."""
    found = models.Q(email=person.email)
    if person.user_id is not None:
        found |= models.Q(account_id=person.user_id) & ~models.Q(email="")
    return PersonalDataRequest.objects.filter(found)


class ExportChunk(models.Model):
    """A part of the records of a kind, as lines of JSON. In the database, because workers may run elsewhere."""

    request = models.ForeignKey(
        PersonalDataRequest, on_delete=models.CASCADE, related_name="chunks"
    )
    kind = models.CharField(max_length=100)
    number = models.PositiveIntegerField()
    content = models.BinaryField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["request", "kind", "number"], name="privacy_chunk_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.request_id}"
