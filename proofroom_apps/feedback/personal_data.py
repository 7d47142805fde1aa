"""Personal data of feedback."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy

from proofroom.core.privacy.kinds import Erasure, Table, TableKind
from proofroom.core.privacy.retention import Retention

KINDS: Final = (
    TableKind(
        "feedback.written",
        gettext_lazy("Feedback that this person wrote or resolved"),
        Table(
            "proofroom_feedback.Feedback",
            ("category", "content", "status", "created_at"),
            owners=("author", "resolved_by"),
        ),
        erasure=Erasure.KEPT,
        reason=gettext_lazy("Feedback stays under “Former member”."),
    ),
    TableKind(
        "feedback.mentions",
        gettext_lazy("Feedback with this address in its text"),
        Table("proofroom_feedback.Feedback", ("content", "created_at"), texts=("content",)),
        erasure=Erasure.MASKED,
    ),
)
RETENTIONS: Final = (
    Retention(
        "feedback",
        gettext_lazy("Resolved feedback"),
        setting="FEEDBACK_DAYS",
        task_name="feedback.tasks.prune_feedback",
    ),
)
