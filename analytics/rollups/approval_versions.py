"""Versions of a post that visitors saw before and after one of its revisions."""

from __future__ import annotations

from typing import Literal

from content.models import Revision

Side = Literal["before", "after"]
Versions = tuple[int | None, int | None]
"""The first, and the one past the last; None is open."""


def versions_beside(revision: Revision, side: Side) -> Versions:
    """After: from this revision until the next. Before: from the one before until this. One statement."""
    others = Revision.objects.filter(post_id=revision.post_id).values_list("version", flat=True)
    if side == "after":
        later = others.filter(version__gt=revision.version).order_by("version").first()
        return revision.version, later
    return others.filter(version__lt=revision.version).order_by(
        "-version"
    ).first(), revision.version
