"""The kinds of rows that this app adds to an archive of a site, in the order in which an import reads them."""

from __future__ import annotations

from content.archive.layers import DraftArchive, RevisionArchive
from content.archive.posts import PostArchive
from content.archive.shared import GlobalArchive, GroupArchive, PatternArchive
from proofroom.archive.registry import archive_kinds


def register_kinds() -> None:
    archive_kinds.register(PatternArchive(), name=PatternArchive.name, order=40)
    archive_kinds.register(PostArchive(), name=PostArchive.name, order=50)
    archive_kinds.register(DraftArchive(), name=DraftArchive.name, order=60)
    archive_kinds.register(RevisionArchive(), name=RevisionArchive.name, order=70)
    archive_kinds.register(GlobalArchive(), name=GlobalArchive.name, order=80)
    archive_kinds.register(GroupArchive(), name=GroupArchive.name, order=90)
