"""What the scheduler does with content."""

from __future__ import annotations

import logging

from celery import shared_task
from django.conf import settings

from accounts.models import User
from accounts.roles import Role
from content.services.previews import forget_old_links
from content.services.publish import publish_due_posts as publish_due
from content.services.trash import purge_trash as purge
from core.actor import Actor

logger = logging.getLogger(__name__)


@shared_task
def publish_due_posts() -> int:
    """Publish what is due: the schedule was set by someone who may publish."""
    admin = _admin()
    if admin is None:
        logger.warning("nothing is published on schedule: there is no active admin")
        return 0
    return publish_due(admin)


@shared_task
def purge_trash() -> int:
    """Delete for good what was in the trash for `TRASH_DAYS`, and forget preview links that ended long ago."""
    forget_old_links()
    admin = _admin()
    if admin is None:
        logger.warning("the trash is not emptied: there is no active admin")
        return 0
    return purge(actor=admin, days=settings.CMS_ENV.trash_days)


def _admin() -> Actor | None:
    """The first active admin, in whose name the scheduler works."""
    admin = User.objects.filter(role=Role.ADMIN, is_active=True).order_by("pk").first()
    return Actor(user=admin, via="system") if admin is not None else None
