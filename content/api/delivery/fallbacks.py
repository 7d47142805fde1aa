"""The post in another language that is answered where a post has no translation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Final
from uuid import UUID

from content.models import Post
from content.store.post_queries import published_posts
from proofroom.core.caching.content_tags import depend_on, tag_of_group, tag_of_path
from proofroom.core.database.compiled_queries import CompiledQuery
from proofroom.core.site_urls import home_path, locale_of

_GROUP: Final = CompiledQuery(
    lambda post_id: (
        published_posts()
        .filter(
            translation_group__in=published_posts().filter(pk=post_id).values("translation_group")
        )
        .order_by("-published_at", "id")
        .values("id", "locale", "translation_group")
    )
)
_FALLBACKS_AT: Final = CompiledQuery(
    lambda paths: (
        Post.objects.alive()
        .filter(
            translation_group__in=Post.objects.alive()
            .filter(path__in=paths)
            .values("translation_group")
        )
        .order_by("id")
        .values(
            "id", "path", "locale", "translation_group", "published_at", "status", "is_placeholder"
        )
    )
)


def find_translation(post_id: UUID, locale: str | None, fallback: str) -> tuple[UUID, bool] | None:
    """Return the id of a published post in a language, or else in the fallback, and True for the fallback.

    `locale` None is the language of the post. None if the post is published in neither. One query.
    """
    rows = _GROUP.rows(post_id)
    depend_on(*(tag_of_group(row["translation_group"]) for row in rows[:1]))
    own = next((row["locale"] for row in rows if row["id"] == post_id), None)
    by_locale = {row["locale"]: row["id"] for row in rows}
    wanted = locale or own
    if wanted in by_locale:
        return by_locale[wanted], False
    return (by_locale[fallback], True) if fallback in by_locale else None


def find_fallbacks_at(paths: Collection[str], fallback: str) -> dict[str, UUID]:
    """Return the id of the published post in the fallback language for paths where none is published, by path.

    The translation of the post that was once published at the path, or else the post at the same path in the fallback
    language. None if its group is published in the language of the path. One query for all paths.
    """
    others = {
        path: home_path(fallback) + path.removeprefix(home_path(locale))
        for path in paths
        if (locale := locale_of(path)) != fallback and "\x00" not in path
    }
    if not others:
        return {}
    depend_on(*map(tag_of_path, {*others, *others.values()}))
    rows = _FALLBACKS_AT.rows(sorted({*others, *others.values()}))
    live = [row for row in rows if row["status"] == "published" and not row["is_placeholder"]]
    in_language = {(row["translation_group"], row["locale"]) for row in live}
    in_fallback = [row for row in live if row["locale"] == fallback]
    # Only posts that were published once: a path must not tell that a draft is there.
    groups = defaultdict[str, set[UUID]](set)
    for row in rows:
        if row["published_at"] is not None:
            groups[row["path"]].add(row["translation_group"])
    found: dict[str, UUID] = {}
    for path, other in others.items():
        candidates = [
            (row["path"] == other, row["id"])
            for row in in_fallback
            if (row["path"] == other or row["translation_group"] in groups[path])
            and (row["translation_group"], locale_of(path)) not in in_language
        ]
        if candidates:
            found[path] = min(candidates)[1]
    return found
