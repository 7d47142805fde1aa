"""Personal data of comments."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy

from proofroom.core.privacy.kinds import Erasure, Table, TableKind
from proofroom.core.privacy.retention import Retention

KINDS: Final = (
    TableKind(
        "comments.written",
        gettext_lazy("Comments that this person wrote, resolved or was asked to answer"),
        Table(
            "proofroom_comments.Comment",
            ("body", "status", "due_at", "created_at"),
            owners=("author", "resolved_by", "assignee"),
        ),
        erasure=Erasure.KEPT,
        reason=gettext_lazy("Comments stay under “Former member”."),
    ),
    TableKind(
        "comments.mentions",
        gettext_lazy("Comments with this address in their text"),
        Table("proofroom_comments.Comment", ("body", "created_at"), texts=("body", "quote")),
        erasure=Erasure.MASKED,
    ),
)
RETENTIONS: Final = (
    Retention(
        "comments",
        gettext_lazy("Resolved comments"),
        setting="COMMENT_DAYS",
        task_name="comments.tasks.prune_comments",
    ),
)
WITHOUT_PERSONAL_DATA: Final = ("proofroom_comments.AgentMention",)
