"""The secret addresses of calendar feeds."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class CalendarFeed(models.Model):
    """A user's feed. Its address needs `nonce` and the key of the site, so that a copy of the table opens no feed."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="+"
    )
    nonce = models.CharField(max_length=32, unique=True)
    created_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"calendar feed of {self.user_id}"
