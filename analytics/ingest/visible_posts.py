"""Posts that visitors are shown: published ones, and the variations of them that are running."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from content.models import Post
from proofroom.core.database.statements import Statement

_SIZES: Final = (1, 4, 16, 100)
"""Numbers of ids that are asked for at once: each is a statement that the database keeps prepared."""


@dataclass(frozen=True, slots=True)
class VisiblePost:
    """A post as the server knows it. `tested` is the original while a variation of it runs."""

    locale: str
    version: int
    tested: UUID | None


def load_visible_posts(ids: Iterable[UUID]) -> dict[UUID, VisiblePost]:
    """Those of the posts that can be seen, 100 at most. One query, none without ids."""
    wanted = list(dict.fromkeys(ids))
    if wanted:
        size = next(size for size in _SIZES if size >= len(wanted))
        wanted += wanted[:1] * (size - len(wanted))
    return {
        row["id"]: VisiblePost(
            locale=row["locale"],
            version=row["version"],
            tested=row["variation_of_id"] or (row["id"] if row["is_tested"] else None),
        )
        for row in _SHOWN.rows(wanted)
    }


def _shown(ids: list[UUID]) -> QuerySet[Any, Any]:
    running = Post.objects.kept().filter(variation_running=True)
    of_published = Q(
        variation_running=True,
        variation_of__status="published",
        variation_of__is_placeholder=False,
        variation_of__deleted_at__isnull=True,
    )
    published = Q(variation_of__isnull=True, status="published", is_placeholder=False)
    return (
        Post.objects.kept()
        .filter(published | of_published, pk__in=ids)
        .annotate(is_tested=Exists(running.filter(variation_of=OuterRef("pk"))))
        .values("id", "locale", "version", "variation_of_id", "is_tested")
    )


_SHOWN: Final = Statement(_shown)
