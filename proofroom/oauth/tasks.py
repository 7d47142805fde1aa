"""Housekeeping of connected AI clients."""

from __future__ import annotations

from celery import shared_task

from proofroom.oauth import connections


@shared_task(name="oauth.tasks.purge")
def purge() -> int:
    """Delete what has expired. Returns how many connections and clients. Safe to run twice."""
    return connections.purge()
