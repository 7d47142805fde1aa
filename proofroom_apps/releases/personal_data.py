"""Personal data of releases: who made them."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy

from proofroom.core.privacy.kinds import Erasure, Table, TableKind

KINDS: Final = (
    TableKind(
        "releases.history",
        gettext_lazy("Releases that this person created, scheduled or published"),
        Table(
            "proofroom_releases.Release",
            ("name", "state", "at", "created_at", "published_at"),
            owners=("created_by", "scheduled_by"),
            names={
                "created_by_name": "created_by",
                "scheduled_by_name": "scheduled_by",
                "published_by_name": "",
            },
        ),
        Table(
            "proofroom_releases.ReleaseItem",
            ("kind", "title", "added_at"),
            owners=("added_by", "approved_by"),
        ),
        Table(
            "proofroom_releases.ReleaseRun",
            ("kind", "state", "created_at"),
            owners=("by",),
            names={"by_name": "by"},
        ),
        Table(
            "proofroom_releases.ReleasePreviewLink",
            ("created_at", "expires_at"),
            owners=("created_by",),
            names={"created_by_name": "created_by"},
        ),
        erasure=Erasure.PSEUDONYMISED,
        reason=gettext_lazy("Releases stay under “Former member”."),
    ),
)
