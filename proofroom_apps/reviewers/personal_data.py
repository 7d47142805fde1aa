"""Personal data of reviewers without an account, and of the people who invited them."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy

from proofroom.core.privacy.kinds import Erasure, Table, TableKind
from proofroom.core.privacy.retention import Retention
from proofroom_apps.reviewers.links import ADVICE_DAYS, KEPT_DAYS

_LINK: Final = "proofroom_reviewers.ReviewerLink"
KINDS: Final = (
    TableKind(
        "reviewers.links",
        gettext_lazy("Reviewers whom this person invited"),
        Table(
            _LINK,
            ("name", "layer", "created_at", "expires_at"),
            owners=("created_by",),
            names={"created_by_name": "created_by"},
        ),
        erasure=Erasure.PSEUDONYMISED,
    ),
    TableKind(
        "reviewers.mentions",
        gettext_lazy("Reviewers with this address as their name, or in their advice"),
        Table(_LINK, ("name", "created_at"), texts=("name",)),
        Table(
            "proofroom_reviewers.ReviewerAdvice",
            ("label", "verdict", "comment", "given_at"),
            texts=("comment",),
        ),
        erasure=Erasure.MASKED,
        reason=gettext_lazy("A reviewer is known by the name that was entered, not by an address."),
    ),
)
RETENTIONS: Final = (
    Retention(
        "reviewer-links",
        gettext_lazy("Expired reviewer links without advice"),
        fixed_days=KEPT_DAYS,
        task_name="reviewers.tasks.forget_old_links",
    ),
    Retention(
        "reviewer-advice",
        gettext_lazy("Advice of reviewers, after their link expired"),
        fixed_days=ADVICE_DAYS,
        task_name="reviewers.tasks.forget_old_links",
    ),
)
