"""Tasks of personal data."""

from __future__ import annotations

from celery import shared_task

from proofroom.core.background_jobs.registry import register_runner
from proofroom_apps.privacy.request_runs import REQUESTS
from proofroom_apps.privacy.services import requests

register_runner(REQUESTS)


@shared_task(name="privacy.tasks.delete_expired_exports")
def delete_expired_exports() -> int:
    """Delete the files of exports after a day. Return the number of parts."""
    return requests.delete_expired_exports()
