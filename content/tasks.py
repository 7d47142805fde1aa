"""Scheduled tasks for content."""

from __future__ import annotations

import logging

from celery import shared_task

from content.find_replace.runs import REPLACEMENTS
from content.inbox.decision_batches import DECISION_BATCHES
from content.inbox.rejections import delete_old_rejections
from content.layers.edited_proposals import delete_old_edits
from content.post_checks.external_links import check_due_addresses, forget_unlinked_addresses
from content.posts.autosave import delete_expired_copies
from content.posts.jobs import POST_JOBS
from content.posts.schedule import run_due_dates
from content.posts.trash import purge_trash as purge
from content.store.live_changes import delete_old_changes
from content.store.search_words import collect_words
from proofroom.accounts.queries import first_admin
from proofroom.core.actor import Actor
from proofroom.core.background_jobs.registry import (
    forget_old_jobs,
    register_runner,
    resume_late_jobs,
)
from proofroom.core.independent_steps import independent_steps
from proofroom.core.privacy.declarations import days_of

logger = logging.getLogger(__name__)
register_runner(DECISION_BATCHES)
register_runner(POST_JOBS)
register_runner(REPLACEMENTS)


@shared_task(name="content.tasks.publish_due_posts")
def publish_due_posts() -> int:
    """Publish, change and unpublish the posts whose time has come.

    The rights of who set the time count; an administrator stands in where no person did.
    """
    admin = _admin()
    if admin is None:
        logger.warning("the dates of posts are not met: there is no active admin")
        return 0
    return run_due_dates(admin)


@shared_task(name="content.tasks.purge_trash")
def purge_trash() -> int:
    """Purge the trash after `TRASH_DAYS`; delete old rejections, edited proposals, draft copies and jobs."""
    count = 0
    with independent_steps() as step:
        with step("deleting expired draft copies"):
            delete_expired_copies()
        with step("forgetting old rejections"):
            delete_old_rejections()
        with step("forgetting old edited proposals"):
            delete_old_edits()
        with step("forgetting old jobs"):
            forget_old_jobs()
        with step("forgetting addresses that nothing links to"):
            forget_unlinked_addresses()
        with step("emptying the trash"):
            count = _empty_trash()
    return count


@shared_task(name="content.tasks.prune_changes")
def prune_changes() -> int:
    """Delete the rows of `/api/public/changes` older than `CHANGES_KEEP_DAYS`."""
    return delete_old_changes(days=days_of("live-changes"))


@shared_task(name="content.tasks.collect_search_words")
def collect_search_words() -> int:
    """Collect the words that the site search suggests for mistyped ones."""
    return collect_words()


@shared_task(name="content.tasks.check_links")
def check_links() -> int:
    """Check links to other sites that are due, and return their number."""
    return check_due_addresses()


@shared_task(name="content.tasks.sweep_decisions")
def sweep_decisions() -> int:
    """Resume background jobs whose worker died or whose message was lost, and return their number."""
    return resume_late_jobs()


def _empty_trash() -> int:
    admin = _admin()
    if admin is None:
        logger.warning("the trash is not emptied: there is no active admin")
        return 0
    return purge(actor=admin, days=days_of("trash"))


def _admin() -> Actor | None:
    """Return the first active administrator, in whose name the scheduler acts."""
    admin = first_admin()
    return Actor(user=admin, via="system") if admin is not None else None
