"""Personal data of files."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy

from proofroom.core.privacy.kinds import Erasure, Table, TableKind

KINDS: Final = (
    TableKind(
        "media.uploads",
        gettext_lazy("Files that this person uploaded"),
        Table("media.Asset", ("filename", "description", "created_at"), owners=("uploaded_by",)),
        erasure=Erasure.KEPT,
        reason=gettext_lazy(
            "Files are content of the site and refer to the account without its name."
        ),
    ),
    TableKind(
        "media.alt-texts",
        gettext_lazy("Alt texts that this person proposed or decided on"),
        Table(
            "media.AltTextProposal",
            ("locale", "text", "state", "created_at"),
            owners=("by", "decided_by"),
            names={"by_name": "by", "decided_by_name": "decided_by"},
        ),
        erasure=Erasure.PSEUDONYMISED,
    ),
)
WITHOUT_PERSONAL_DATA: Final = (
    "media.AssetSearchEntry",
    "media.FileCheck",
    "media.MediaReference",
    "media.StoredFile",
    "media.VariantWork",
)
