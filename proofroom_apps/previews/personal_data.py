"""Personal data of preview links."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy

from proofroom.core.privacy.kinds import Erasure, Table, TableKind
from proofroom.core.privacy.retention import Retention
from proofroom_apps.previews.services import KEPT_DAYS

KINDS: Final = (
    TableKind(
        "previews.links",
        gettext_lazy("Preview links"),
        Table(
            "proofroom_previews.PreviewLink",
            ("layer", "created_at", "expires_at"),
            owners=("created_by",),
            names={"created_by_name": "created_by"},
        ),
        erasure=Erasure.PSEUDONYMISED,
    ),
)
RETENTIONS: Final = (
    Retention(
        "preview-links",
        gettext_lazy("Expired preview links"),
        fixed_days=KEPT_DAYS,
        task_name="previews.tasks.forget_old_links",
    ),
)
