"""Settings of agents: switches, defaults, budgets and provider tests. Definitions are files, not rows."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from proofroom.core.definition_files import ID_MAX


class AgentSwitch(models.Model):
    """An admin's settings of an agent: the switch that overrides its file, and its content scope."""

    agent_id = models.CharField(max_length=ID_MAX, primary_key=True)
    is_enabled = models.BooleanField(null=True, help_text="Empty: as its file says.")
    content_scope = models.JSONField(default=dict, blank=True)
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        verbose_name = "agent"
        verbose_name_plural = "agents"

    def __str__(self) -> str:
        state = {True: "on", False: "off", None: "as its file says"}[self.is_enabled]
        return f"{self.agent_id}: {state}"


class AiSettings(models.Model):
    """The defaults of all agents, in one row. An empty provider means the first one with a key or an address."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    text_provider = models.CharField(max_length=20, blank=True, default="")
    text_model = models.CharField(max_length=120, blank=True, default="")
    media_provider = models.CharField(max_length=20, blank=True, default="")
    media_model = models.CharField(max_length=120, blank=True, default="")
    fallback_provider = models.CharField(max_length=20, blank=True, default="", db_default="")
    fallback_model = models.CharField(max_length=120, blank=True, default="", db_default="")
    unmasked = models.JSONField(
        null=True, help_text="Kinds of personal data that are not masked for AI providers."
    )
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        verbose_name = "AI settings"
        verbose_name_plural = "AI settings"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(condition=Q(pk=1), name="ai_settings_once"),
        ]

    def __str__(self) -> str:
        return "AI settings"


class ProviderPause(models.Model):
    """A model that did not answer because of an outage. Runs with a fallback skip it until `ends_at`."""

    provider = models.CharField(max_length=20)
    model = models.CharField(max_length=120)
    ends_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["provider", "model"], name="provider_pause_once"),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.model}"


class Budget(models.Model):
    """The maximum usage of an agent in a day and in a month, in UTC; empty: no limit. Money is US
    dollars.

    An empty `agent_id` is the default, whose limits apply to agents without their own. `*` is the
    budget of all agents together; its row exists after the first reservation, because it serves as
    the lock of all budgets.
    """

    agent_id = models.CharField(max_length=ID_MAX, primary_key=True)
    tokens_per_day = models.PositiveBigIntegerField(null=True)
    tokens_per_month = models.PositiveBigIntegerField(null=True)
    cost_per_day = models.DecimalField(max_digits=12, decimal_places=6, null=True)
    cost_per_month = models.DecimalField(max_digits=12, decimal_places=6, null=True)
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    def __str__(self) -> str:
        return self.agent_id or "every agent"


class Spending(models.Model):
    """Usage of an agent on one day (UTC). An empty `agent_id` is usage without an agent."""

    agent_id = models.CharField(max_length=ID_MAX)
    day = models.DateField()
    tokens = models.PositiveBigIntegerField(default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    cached_tokens = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="Part of the tokens, read from the provider's cache."
    )
    saved = models.DecimalField(
        max_digits=14,
        decimal_places=6,
        default=0,
        db_default=0,
        help_text="How much more it would have cost without the provider's cache.",
    )

    class Meta:
        verbose_name_plural = "spending"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["agent_id", "day"], name="spending_once_a_day"),
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["day"], name="spending_day")]

    def __str__(self) -> str:
        return f"{self.agent_id} {self.day}"


class Reservation(models.Model):
    """The maximum usage of a pending request. Settling replaces it with spending of the same day.

    If the worker died, the sweep settles it as fully used, because the provider may have worked.
    `input_tokens`: the input part of `tokens`.
    """

    run = models.ForeignKey(
        "AgentRun", null=True, on_delete=models.SET_NULL, related_name="reservations"
    )
    attempt = models.UUIDField(null=True)
    agent_id = models.CharField(max_length=ID_MAX)
    day = models.DateField()
    tokens = models.PositiveBigIntegerField()
    input_tokens = models.PositiveBigIntegerField(default=0)
    cost = models.DecimalField(max_digits=12, decimal_places=6)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["agent_id", "day"], name="reservation_of_agent"),
        ]

    def __str__(self) -> str:
        return f"{self.agent_id} {self.tokens}"


class BudgetNotice(models.Model):
    """A notice about a budget in a period, stored so that people are notified once. `*` is all agents together."""

    agent_id = models.CharField(max_length=ID_MAX)
    period = models.CharField(max_length=5, choices=[("day", "day"), ("month", "month")])
    begins = models.DateField()
    level = models.CharField(max_length=7, choices=[("near", "near"), ("reached", "reached")])
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["agent_id", "period", "begins", "level"], name="budget_notice_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.agent_id} {self.period} {self.level}"


class CheckOutcome(models.TextChoices):
    """The result of a connection test, judged by the provider's list of models."""

    WORKS = "works", _("Works")
    KEY_REFUSED = "key_refused", _("API key rejected")
    QUOTA = "quota", _("Out of credit or over a limit")
    UNREACHABLE = "unreachable", _("Cannot be reached")
    SILENT = "silent", _("No response")
    NO_LIST = "no_list", _("No list of models")
    FAILED = "failed", _("Test failed")
    UNREADABLE = "unreadable", _("Invalid response")
    UNUSABLE = "unusable", _("Invalid API key or address")


class ProviderCheck(models.Model):
    """The last test of a provider. Without `checked_at` it is still pending. Stores nothing of the
    provider's answer.
    """

    provider = models.CharField(max_length=20, primary_key=True)
    asked_at = models.DateTimeField(null=True)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    checked_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=12, choices=CheckOutcome.choices, blank=True, default="")
    status = models.PositiveSmallIntegerField(null=True, help_text="Of its answer over HTTP.")
    models_listed = models.PositiveIntegerField(default=0)
    lacks = models.JSONField(default=list, help_text="Models in use that its list does not name.")

    def __str__(self) -> str:
        return f"{self.provider}: {self.outcome or 'asked'}"
