"""Deliveries of events to receivers, their attempts, and the lock of the sending process."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from proofroom.core.models import Event


class DeliveryStatus(models.TextChoices):
    PENDING = "pending"
    SENDING = "sending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


UNFINISHED = (DeliveryStatus.PENDING, DeliveryStatus.SENDING)


class Delivery(models.Model):
    """One event for one receiver.

    The request is not stored but made from the event for each call, so that erasing the event's text also erases it
    here.

    `lane`: the channel of the receiver: `webhook:<id>`, `workflow:<id>`, `chat` or `reaction:<agent>:<place>`. In a
    lane, deliveries of the same post are sent in order; lanes never wait for each other. A sender holds the row until
    `claimed_until`. `next_attempt_at` is NULL exactly if the delivery is finished.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    lane = models.CharField(max_length=120)
    # The webhook may be deleted already: its deliveries are deleted after it, in batches.
    webhook = models.ForeignKey(
        "proofroom_webhooks.Webhook",
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="deliveries",
    )
    workflow_id = models.CharField(max_length=80, blank=True)
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="+")
    event_name = models.CharField(max_length=60)
    post_id = models.UUIDField(null=True, blank=True)
    status = models.CharField(
        max_length=10, choices=DeliveryStatus.choices, default=DeliveryStatus.PENDING
    )
    attempts = models.PositiveSmallIntegerField(default=0, help_text="Since it was last replayed.")
    next_attempt_at = models.DateTimeField(null=True, blank=True, default=timezone.now)
    claimed_until = models.DateTimeField(null=True, blank=True)
    last_status_code = models.PositiveSmallIntegerField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "deliveries"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["lane", "event"], name="delivery_once"),
        ]
        # Partial where the sender uses them, because nearly all rows are finished.
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["lane", "next_attempt_at", "event"],
                name="delivery_due",
                condition=Q(next_attempt_at__isnull=False),
            ),
            models.Index(
                fields=["lane", "post_id", "event"],
                name="delivery_of_post",
                condition=Q(next_attempt_at__isnull=False),
            ),
            models.Index(fields=["webhook", "-created_at"], name="delivery_of_webhook"),
            models.Index(fields=["status", "-created_at"], name="delivery_by_status"),
            models.Index(fields=["created_at"], name="delivery_at"),
        ]

    def __str__(self) -> str:
        return f"{self.event_name} to {self.lane}"

    @property
    def receiver(self) -> str:
        """The kind of receiver, the prefix of the lane."""
        return self.lane.partition(":")[0]

    @property
    def waits_for_retry(self) -> bool:
        """True if a call failed and the next one is not due yet."""
        return (
            self.status == DeliveryStatus.PENDING
            and self.attempts > 0
            and self.next_attempt_at is not None
            and self.next_attempt_at > timezone.now()
        )

    @property
    def is_held(self) -> bool:
        """True if it waits until its webhook is enabled. Tests do not wait."""
        is_off = self.webhook is not None and not self.webhook.is_active
        return is_off and self.next_attempt_at is not None and self.event_name != "webhook.test"


class Attempt(models.Model):
    """One call of a delivery: its headers and response. Secrets are redacted, the response is truncated."""

    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="tries")
    number = models.PositiveIntegerField()
    at = models.DateTimeField()
    ms = models.PositiveIntegerField()
    status_code = models.PositiveSmallIntegerField(null=True)
    error = models.CharField(max_length=300, blank=True)
    request_headers = models.JSONField(default=dict)
    response_headers = models.JSONField(default=dict)
    response_body = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["delivery", "number"], name="attempt_once"),
        ]

    def __str__(self) -> str:
        return f"{self.delivery_id} #{self.number}"


class WorkflowSwitch(models.Model):
    """The switch of a workflow. It overrides the file's `enabled`."""

    workflow_id = models.CharField(primary_key=True, max_length=80)
    is_enabled = models.BooleanField()
    updated_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = "workflow"
        verbose_name_plural = "workflows"

    def __str__(self) -> str:
        return f"{self.workflow_id}: {'on' if self.is_enabled else 'off'}"


class SenderLease(models.Model):
    """The lease of the sending process. One process has it until `until`, and can extend it."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    holder = models.UUIDField(null=True)
    until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return str(self.holder)
