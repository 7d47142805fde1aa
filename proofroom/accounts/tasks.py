"""Scheduled tasks of accounts."""

from __future__ import annotations

from celery import shared_task

from proofroom.accounts.services.invitations import prune_invitations
from proofroom.accounts.services.sessions import clear_expired_sessions
from proofroom.core.independent_steps import independent_steps
from proofroom.core.privacy.declarations import days_of


@shared_task(name="accounts.tasks.purge_sign_ins")
def purge_sign_ins() -> int:
    """Delete expired sessions, and invitations that ended more than `INVITATION_DAYS` ago."""
    count = 0
    with independent_steps() as step:
        with step("clearing expired sessions"):
            count += clear_expired_sessions()
        with step("pruning invitations"):
            count += prune_invitations(days=days_of("invitations"))
    return count
