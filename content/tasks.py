"""What the scheduler does with content."""

from __future__ import annotations

import logging

from celery import shared_task

from accounts.models import User
from accounts.roles import Role
from content.services.publish import publish_due_posts as publish_due
from core.actor import Actor

logger = logging.getLogger(__name__)


@shared_task
def publish_due_posts() -> int:
    """Publish what is due, in the name of the first active admin: the schedule was set by someone who may publish."""
    admin = User.objects.filter(role=Role.ADMIN, is_active=True).order_by("pk").first()
    if admin is None:
        logger.warning("nothing is published on schedule: there is no active admin")
        return 0
    return publish_due(Actor(user=admin, via="system"))
