"""Tools of media for agents and AI clients: they read. What files there are, what they show, where they are used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from pydantic import Field

from core.actor import Actor
from core.errors import RuleViolation
from core.json import JsonObject
from core.tool_pages import Page, Paged, page, page_together
from core.tools import Arguments, Result, tool
from media import holders, integrity, queries
from media.models import Asset, FileCheck, MediaReference, StoredFile
from media.presenters import present_asset, url_of
from media.services.update import find_asset

_MOST_CHECKED: Final = 5_000
"""Files that one call goes through."""


class ListedFile(Result):
    id: str
    filename: str
    url: str
    alt_text: str
    mime: str
    width: int | None
    height: int | None
    categories: list[str]


class FilePage(Page):
    items: list[ListedFile]


class ListMedia(Paged):
    q: str | None = Field(None, max_length=200)
    category: str | None = Field(None, max_length=60)
    mime: str | None = Field(None, max_length=100, description="image/png, or image")


class SearchMedia(Paged):
    q: str = Field(min_length=1, max_length=200)


class OneFile(Arguments):
    id: UUID


class UsesOfFile(Paged):
    id: UUID


class SomeFiles(Arguments):
    id: UUID | None = None


@tool(
    title="List media",
    kind="read",
    permission="media.view",
    arguments=ListMedia,
    group="media",
    result=FilePage,
)
def list_media(actor: Actor, arguments: ListMedia) -> JsonObject:
    """Images and files, newest first; with q the best match first."""
    rows = queries.list_assets(
        category=arguments.category or "", search=arguments.q or "", mime=arguments.mime or ""
    )
    return page(rows, _listed, total=rows.count(), limit=arguments.limit, cursor=arguments.cursor)


@tool(
    title="Search media",
    kind="read",
    permission="media.view",
    arguments=SearchMedia,
    group="media",
    result=FilePage,
)
def search_media(actor: Actor, arguments: SearchMedia) -> JsonObject:
    """Files by words in alt text, description, filename or category, ranked in that order."""
    rows = queries.list_assets(search=arguments.q)
    return page(rows, _listed, total=rows.count(), limit=arguments.limit, cursor=arguments.cursor)


@tool(title="One file", kind="read", permission="media.view", arguments=OneFile, group="media")
def get_media(actor: Actor, arguments: OneFile) -> JsonObject:
    """A file with its variants, and in how many places it is used."""
    asset = find_asset(arguments.id)
    wire = present_asset(asset)
    del wire["alt_text"]
    used = queries.where_used(asset.pk, layers=holders.visible_layers(actor)).count()
    return {**wire, "altText": asset.alt_text, "whereUsedCount": used}


@tool(
    title="Categories of media",
    kind="read",
    permission="media.view",
    arguments=Paged,
    group="media",
)
def list_media_categories(actor: Actor, arguments: Paged) -> JsonObject:
    """Categories in use, each with the number of its files."""
    found, _ = queries.category_counts(0, 10_000)
    return page(found, _category, total=len(found), limit=arguments.limit, cursor=arguments.cursor)


def _category(row: tuple[str, int]) -> JsonObject:
    return {"name": row[0], "count": row[1]}


@tool(
    title="Where a file is used",
    kind="read",
    permission="media.view",
    arguments=UsesOfFile,
    group="media",
)
def media_where_used(actor: Actor, arguments: UsesOfFile) -> JsonObject:
    """The places that use a file, live and staged: postId or globalSlug, title, locale, layer, path."""
    asset = find_asset(arguments.id)
    rows = queries.where_used(asset.pk, layers=holders.visible_layers(actor))

    def named(part: list[MediaReference]) -> list[JsonObject]:
        return holders.places(part, actor)

    return page_together(
        rows, named, total=rows.count(), limit=arguments.limit, cursor=arguments.cursor
    )


@tool(
    title="Check media",
    kind="read",
    permission="media.view",
    arguments=SomeFiles,
    group="media",
    waits=True,
)
def check_media_integrity(actor: Actor, arguments: SomeFiles) -> JsonObject:
    """Whether the files of one or of all media are there; orphaned ones belong to none."""
    if arguments.id is not None:
        find_asset(arguments.id)
    elif StoredFile.objects.count() > _MOST_CHECKED:
        return _last_check()
    report = integrity.check(arguments.id)
    return _report(report.checked, report.missing, report.orphaned)


def _last_check() -> JsonObject:
    """What a worker found: to go through so many files takes longer than a call may."""
    found = FileCheck.objects.filter(finished_at__isnull=False).first()
    if found is None:
        raise RuleViolation(
            "There are too many files for one call, and no check of them all has ended yet: a person starts one "
            "in the admin, below Media. Name the id of a file to check just that one.",
            code="too_many_files",
        )
    return {**_report(found.checked, found.missing, found.orphaned), "at": str(found.finished_at)}


def _report(checked: int, missing: Sequence[Sequence[str]], orphaned: Sequence[str]) -> JsonObject:
    return {
        "checked": checked,
        "missing": [{"id": id_, "file": name} for id_, name in missing],
        "orphaned": list(orphaned),
    }


def _listed(asset: Asset) -> JsonObject:
    return {
        "id": str(asset.pk),
        "filename": asset.filename,
        "url": url_of(asset.file.name),
        "altText": asset.alt_text,
        "mime": asset.mime,
        "width": asset.width,
        "height": asset.height,
        "categories": asset.categories,
    }
