"""Editorial steps: where a post is on its way to publication, what people decided, and who stands in for whom."""

from __future__ import annotations

from typing import ClassVar, Final

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy

from content.models import Post
from proofroom.accounts.models import USERNAME_MAX
from proofroom.definitions.step import STEP_NAME_MAX

NOTE_MAX: Final = 2_000
SEAL_MAX: Final = 32
MAX_PUBLIC_SEALS: Final = 50


class StepRound(models.Model):
    """The way of the content of one post through the steps of its type. A post has one row, used again.

    `step`: the open step, empty if none is. `opened_at` and `due_at` are its dates, `remind_at` is when those asked
    are reminded next, null after the last time. `run_id`: the run of the agent that it asks, `run_digest`: hash of
    the content when it was started, `problem`: why people must decide.

    When all steps are done, `completed_at` is set, `passed` are their names, and the content is sealed:
    `sealed_changes` is the digest of the changes in Review, `sealed_document` the hash of the live content. Only what
    is sealed may be approved and published. `public_seals`: hashes of the latest content that was public, which may
    be restored.
    """

    post = models.OneToOneField(
        Post, on_delete=models.CASCADE, primary_key=True, related_name="step_round"
    )
    step = models.CharField(max_length=STEP_NAME_MAX, blank=True)
    opened_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    remind_at = models.DateTimeField(null=True)
    run_id = models.UUIDField(null=True, unique=True)
    run_digest = models.CharField(max_length=SEAL_MAX, blank=True, default="", db_default="")
    problem = models.TextField(blank=True)
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    completed_at = models.DateTimeField(null=True)
    passed = models.JSONField(default=list)
    sealed_changes = models.TextField(blank=True)
    sealed_document = models.CharField(max_length=SEAL_MAX, blank=True)
    public_seals = models.JSONField(default=list)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["step", "due_at"], condition=~Q(step=""), name="step_open"),
            models.Index(
                fields=["remind_at"], condition=Q(remind_at__isnull=False), name="step_to_remind"
            ),
        ]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=Q(step="") | Q(completed_at__isnull=True, opened_at__isnull=False),
                name="step_open_or_completed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.post_id}: {self.step or 'no open step'}"

    def add_public_seals(self, *seals: str) -> None:
        """Remember content that is public, the latest last. Does not save."""
        known = [seal for seal in self.public_seals if seal not in seals]
        self.public_seals = [*known, *dict.fromkeys(seals)][-MAX_PUBLIC_SEALS:]


class StepAction(models.TextChoices):
    STARTED = "started", gettext_lazy("Started")
    AGREED = "agreed", gettext_lazy("Agreed")
    RETURNED = "returned", gettext_lazy("Sent back")


class StepDecision(models.Model):
    """What somebody decided.

    `step`: the step it was about; for `returned` the step that the content was sent back to. `deputy_for`: the person
    whose deputy `by` is. `stands_for`: the guest, role or other name for which `by` decided. `agent_id`: the agent
    that did the step. `counts`: the decision counts towards the quorum of the open step; the others are history.
    `digest`: hash of the content at that time.
    """

    round = models.ForeignKey(StepRound, on_delete=models.CASCADE, related_name="decisions")
    step = models.CharField(max_length=STEP_NAME_MAX, blank=True)
    action = models.CharField(max_length=8, choices=StepAction.choices)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    by_name = models.CharField(max_length=USERNAME_MAX, blank=True)
    deputy_for = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    stands_for = models.CharField(max_length=USERNAME_MAX, blank=True)
    agent_id = models.CharField(max_length=80, blank=True)
    note = models.TextField(max_length=NOTE_MAX, blank=True)
    counts = models.BooleanField(default=False)
    digest = models.CharField(max_length=SEAL_MAX, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["round", "-at", "-id"], name="step_decision_of_round"),
        ]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["round", "step", "by"],
                condition=Q(counts=True, by__isnull=False),
                name="step_agreed_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.step} by {self.by_name or self.agent_id}"


class Absence(models.Model):
    """A time in which `deputy` may decide for `user` in editorial steps. A person has one."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="absence"
    )
    deputy = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="deputy_of"
    )
    begins_at = models.DateTimeField()
    ends_at = models.DateTimeField()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["ends_at"], name="absence_ends"),
        ]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(condition=~Q(user=F("deputy")), name="absence_of_another"),
            models.CheckConstraint(
                condition=Q(ends_at__gt=F("begins_at")), name="absence_ends_later"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} until {self.ends_at:%Y-%m-%d}"
