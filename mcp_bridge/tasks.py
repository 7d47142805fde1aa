"""Housekeeping of the call log."""

from __future__ import annotations

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from mcp_bridge.models import McpCall
from proofroom.core.privacy.declarations import days_of

CALLS_KEPT_DAYS = 90


@shared_task(name="mcp_bridge.tasks.prune_calls")
def prune_calls() -> int:
    """Delete the calls older than `CALLS_KEPT_DAYS` days. Return the number. Idempotent."""
    old = timezone.now() - timedelta(days=days_of("mcp-calls"))
    count, _ = McpCall.objects.filter(created_at__lt=old).delete()
    return count
