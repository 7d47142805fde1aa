"""The rows of the list of posts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final
from uuid import UUID

import orjson
from django.contrib.admin.templatetags.admin_urls import add_preserved_filters
from django.db.models import Exists, F, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from content.comparison.references import media_view
from content.document.labels import type_label
from content.models import (
    SCHEDULED,
    SHOWN_STATUSES,
    Layer,
    Post,
    PostAuthor,
    Status,
    shown_status,
    status_label,
)
from content.store.opening_images import load_pictures, opening_module
from content.store.page_locks import HOLDER_COLUMNS, find_page_lock
from content.store.post_queries import has_changes_in
from content.store.scopes import changeable_by
from media.models import Asset
from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from proofroom.core.admin.lists import ViewChangeList, column_name
from proofroom.core.admin.permissions import actor_of, may
from proofroom.core.database.compiled_queries import CompiledQuery, instance_from_row
from proofroom.core.database.json_text import JSONValue, rows_as_text
from proofroom.core.i18n.ages import age_html
from proofroom.core.i18n.languages import language_name
from proofroom.core.i18n.time_zones import exact_time
from proofroom.core.row_templates import cached_stamp
from proofroom_apps.editorial.posts.extensions import PostBadge, list_badges
from proofroom_apps.editorial.posts.post_pages import post_url, with_proposed_titles

_PICTURE: Final = ("filename", "file", "mime", "width", "height", "variants", "alt_text")
_STAND_IN: Final = str(UUID(int=0))


def _row_data(ids: Sequence[UUID]) -> QuerySet[Any, Any]:
    posts: QuerySet[Any, Any] = with_proposed_titles(Post.objects.filter(pk__in=ids)).annotate(
        in_review=has_changes_in(Layer.REVIEW),
        in_ai_review=has_changes_in(Layer.AI_REVIEW),
        opening=opening_module(),
        by=F("author__username"),
        credited=rows_as_text(
            PostAuthor.objects.filter(post_id=OuterRef("pk"))
            .order_by("place")
            .values(entry=JSONValue("user__username"))
        ),
    )
    return posts.values(
        *("id", "type", "locale", "title", "proposed_title", "path", "status", "is_placeholder"),
        *("translated_from_id", "published_at", "publish_at", "unpublish_at"),
        *("created_at", "updated_at", "by", "credited", "locked_until", *HOLDER_COLUMNS),
        *("in_review", "in_ai_review", "opening", "featured_media_id"),
        *(f"featured_media__{name}" for name in _PICTURE),
    )


_ROW_DATA: Final = CompiledQuery(_row_data)


@dataclass(frozen=True, slots=True)
class PostRow:
    """A post in the list. `is_theirs` is True if it is in the user's scope."""

    pk: UUID
    type: str
    locale: str
    title: str
    path: str
    status: str
    is_proposed: bool
    is_translation: bool
    published_at: datetime | None
    publish_at: datetime | None
    unpublish_at: datetime | None
    created_at: datetime
    updated_at: datetime
    author: str
    locked_by: str
    in_review: bool
    in_ai_review: bool
    opening: str
    featured_media: Asset | None
    is_theirs: bool

    @property
    def has_page(self) -> bool:
        return self.status == Status.PUBLISHED and bool(self.path)

    @property
    def shown_status(self) -> str:
        return shown_status(self.status, published_at=self.published_at, publish_at=self.publish_at)

    @property
    def layer_to_review(self) -> str:
        if self.in_review:
            return Layer.REVIEW.value
        return Layer.AI_REVIEW.value if self.in_ai_review else ""


def found_keys(posts: QuerySet[Post], actor: Actor) -> QuerySet[Any, Any]:
    """Return the ids of posts, with `is_theirs` for users with limited access."""
    if not actor.scopes:
        return posts.values("id")
    own = changeable_by(Post.objects.filter(pk=OuterRef("pk")), actor)
    return posts.annotate(is_theirs=Exists(own)).values("id", "is_theirs")


def load_rows(keys: Iterable[Mapping[str, Any]]) -> list[PostRow]:
    """Return the rows of these posts in order. One query with cached SQL."""
    theirs = {key["id"]: bool(key.get("is_theirs", True)) for key in keys}
    rows = {row["id"]: row for row in _ROW_DATA.rows([*theirs])}
    return [
        PostRow(
            pk=id_,
            type=row["type"],
            locale=row["locale"],
            title=row["proposed_title"] or row["title"],
            path=row["path"],
            status=row["status"],
            is_proposed=row["is_placeholder"],
            is_translation=row["translated_from_id"] is not None,
            published_at=row["published_at"],
            publish_at=row["publish_at"],
            unpublish_at=row["unpublish_at"],
            created_at=row["created_at"],
            updated_at=row["updated_at"],
            # Posts from before there were authors have only the person who created them.
            author=", ".join(orjson.loads(row["credited"])) or row["by"] or "",
            locked_by=_holder_of(row),
            in_review=row["in_review"],
            in_ai_review=row["in_ai_review"],
            opening=row["opening"],
            featured_media=_picture_of(row),
            is_theirs=is_theirs,
        )
        for id_, is_theirs in theirs.items()
        # A post deleted since the first query is missing.
        if (row := rows.get(id_)) is not None
    ]


def _holder_of(row: Mapping[str, Any]) -> str:
    """Return who has locked the page; empty if nobody has."""
    post = instance_from_row(Post, {"id": row["id"], "locked_until": row["locked_until"]})
    holder = {name.partition("__")[2]: row[name] for name in HOLDER_COLUMNS}
    if holder["username"] is None:
        return ""
    post.locked_by = instance_from_row(User, {"id": 0, **holder})
    lock = find_page_lock(post)
    return lock.username if lock is not None else ""


def _picture_of(row: Mapping[str, Any]) -> Asset | None:
    pk = row["featured_media_id"]
    if pk is None:
        return None
    return instance_from_row(
        Asset, {"id": pk, **{name: row[f"featured_media__{name}"] for name in _PICTURE}}
    )


class PostChangeList(ViewChangeList):
    """The posts of a page. Templates use its `headers` and `rows`."""

    result_list: Sequence[PostRow]
    request: HttpRequest

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.request = request
        found: Any = self.result_list
        # A search returns keys, not posts: `PostAdmin.get_search_results` passed it `found_keys`.
        keys = found_keys(found, actor_of(request)) if isinstance(found, QuerySet) else found
        self.result_list = load_rows(keys)

    @property
    def rows(self) -> SafeString:
        """The rows as HTML. At most one query for pictures, and one for each app that adds badges.

        Django renders each cell through five functions and reverses each link. Here each kind of row is rendered
        once, and its texts are replaced for each row.
        """
        columns = tuple(map(column_name, self.list_display))
        address = post_url("change", _STAND_IN)
        # Links carry the filters, so that the post's page can return to the same list.
        preserved: dict[str, Any] = {
            "preserved_filters": self.preserved_filters,
            "opts": self.opts,
        }
        # The query is the same for all rows, so it is made once, with the address of a stand-in.
        query = str(add_preserved_filters(preserved, address)).removeprefix(address)
        may_edit = may(self.request, "posts.edit") or may(self.request, "posts.translate")
        may_delete, may_copy = (
            may(self.request, permission) for permission in ("posts.delete", "posts.create")
        )
        states = {one: status_label(one) for one in SHOWN_STATUSES}
        pictures = load_pictures(self.result_list)
        badges = list_badges({post.pk: post.type for post in self.result_list})
        # Translate labels once; many rows share them.
        type_of, language_of = cache(type_label), cache(language_name)
        rows, menus = (
            cached_stamp("admin/posts/list_row.html"),
            cached_stamp("admin/posts/row_menu.html"),
        )
        found, no_badge = [], PostBadge("", "")
        for post in self.result_list:
            picture = pictures.get(post.pk)
            badge = badges.get(post.pk, no_badge)
            picture_url = media_view(picture).url if picture is not None else ""
            menu = menus.fill(
                {
                    "layer": post.layer_to_review,
                    "has_page": post.has_page,
                    "may_edit": may_edit and post.is_theirs,
                    "may_delete": may_delete and post.is_theirs,
                    "may_copy": may_copy and post.is_theirs,
                },
                {"id": post.pk, "title": post.title, "path": post.path},
            )
            kind = {
                "columns": columns,
                "has_picture": bool(picture_url),
                "is_proposed": post.is_proposed,
                "is_locked": bool(post.locked_by),
                "has_path": bool(post.path),
                "is_translation": post.is_translation,
                "is_scheduled": post.shown_status == SCHEDULED,
                "in_ai_review": post.in_ai_review,
                "in_review": post.in_review,
                "has_badge": post.pk in badges,
            }
            texts = {
                "id": post.pk,
                "query": query,
                "title": post.title,
                "picture": picture_url,
                "path": post.path,
                "type": type_of(post.type),
                "language": language_of(post.locale),
                "status": post.shown_status,
                "state": states.get(post.shown_status, post.status),
                "author": post.author or "—",
                "locked_by": post.locked_by,
                "changed": age_html(post.updated_at),
                "first_published": age_html(post.published_at)
                if "first_published" in columns
                else "",
                "scheduled": exact_time(post.publish_at) if post.publish_at else "—",
                "expires": exact_time(post.unpublish_at) if post.unpublish_at else "—",
                "created": age_html(post.created_at) if "created" in columns else "",
                "badge": badge.label,
                "badge_url": badge.url,
                "menu": menu,
            }
            found.append(rows.fill(kind, texts))
        return SafeString("".join(found))
