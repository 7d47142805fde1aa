"""Results of the tests whether a provider can be used."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class CheckOutcome(models.TextChoices):
    """The verdict on a provider's key and address, by its list of models or the absence of one."""

    WORKS = "works", _("It works")
    KEY_REFUSED = "key_refused", _("It refused the key")
    QUOTA = "quota", _("Its quota is used up")
    UNREACHABLE = "unreachable", _("It could not be reached")
    SILENT = "silent", _("It did not answer")
    NO_LIST = "no_list", _("It knows no list of models")
    FAILED = "failed", _("It failed")
    UNREADABLE = "unreadable", _("Its answer cannot be read")
    UNUSABLE = "unusable", _("Key or address cannot be used")


class ProviderCheck(models.Model):
    """The last test of a provider. Empty `checked_at`: a worker has still to ask it. Never a word of its answer."""

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
