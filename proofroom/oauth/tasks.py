"""Scheduled tasks of connected AI clients."""

from __future__ import annotations

from celery import shared_task

from proofroom.oauth import connections


@shared_task(name="oauth.tasks.purge")
def purge() -> int:
    """Delete expired data. Return how many connections and clients. Idempotent."""
    return connections.purge()
