"""Personal data of changes to menus, terms and other shared content."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy

from proofroom.core.privacy.kinds import Erasure, Table, TableKind

KINDS: Final = (
    TableKind(
        "shared-content.changes",
        gettext_lazy("Changes of menus, terms, global modules and briefs"),
        Table(
            "proofroom_shared_content.SharedProposal",
            ("kind", "title", "state", "created_at"),
            owners=("by", "decided_by"),
            names={"by_name": "by", "decided_by_name": "decided_by"},
        ),
        Table(
            "proofroom_shared_content.SharedRevision",
            ("kind", "reason", "created_at"),
            owners=("by",),
            names={"by_name": "by", "approved_by_name": ""},
        ),
        erasure=Erasure.PSEUDONYMISED,
    ),
    TableKind(
        "shared-content.mentions",
        gettext_lazy(
            "Menus, terms, global modules and briefs: versions with this address in their text"
        ),
        Table(
            "proofroom_shared_content.SharedRevision",
            ("kind", "version", "created_at"),
            texts=("document",),
        ),
        Table(
            "proofroom_shared_content.SharedProposal",
            ("kind", "title", "created_at"),
            texts=("title", "document", "note"),
        ),
        erasure=Erasure.KEPT,
        reason=gettext_lazy("Texts of the site are changed by editors."),
    ),
)
WITHOUT_PERSONAL_DATA: Final = ("proofroom_shared_content.ApprovalRule",)
