"""Tasks of embeds."""

from __future__ import annotations

from celery import shared_task

from proofroom_apps.embeds import facts_fetch


@shared_task(name="embeds.tasks.fetch_due_facts")
def fetch_due_facts() -> int:
    """Fetch facts about embedded addresses that are due. Returns their number."""
    return facts_fetch.fetch_due_facts()
