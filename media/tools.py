"""Media tools for agents and AI clients: files, their descriptions and uses, and proposals for alt texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, cast
from uuid import UUID

from pydantic import Field

from media import integrity, queries, usage_sources
from media.models import ALT_TEXT_MAX, Asset, FileCheck, MediaReference, StoredFile
from media.presenters import present_asset
from media.scopes import filter_visible_assets
from media.services import alt_text_proposals
from media.services.alt_text_proposals import REASON_MAX
from media.services.update import find_asset
from proofroom.core.actor import Actor
from proofroom.core.content_scope import reading_scopes
from proofroom.core.errors import RuleViolation
from proofroom.core.json import Json, JsonObject
from proofroom.core.tools import Arguments, Result, tool
from proofroom.core.tools.pagination import Paged, ToolPage, page, page_after, page_of_ranked
from proofroom.core.validation.limits import LOCALE_MAX

_MAX_CHECKED: Final = 5_000
"""Maximum number of files checked in one call."""


class ListedFile(Result):
    id: str
    filename: str
    url: str
    alt_text: str
    mime: str
    categories: list[str]
    width: int | None = None
    height: int | None = None
    description: str | None = None
    variants: dict[str, str] | None = None
    created_at: str | None = None


class NearFile(Result):
    id: str
    filename: str
    alt_text: str


class FilePage(ToolPage):
    """`near`: files with similar words, if a search found none."""

    items: list[ListedFile]
    near: list[NearFile] | None = None


class WholeFile(ListedFile):
    size: int
    status: str
    where_used_count: int


class CountedCategory(Result):
    name: str
    count: int


class CategoryPage(ToolPage):
    items: list[CountedCategory]


class PlaceOfUse(Result):
    layer: str
    path: str
    post_id: str | None = None
    global_slug: str | None = None
    title: str | None = None
    locale: str | None = None


class PlacePage(ToolPage):
    items: list[PlaceOfUse]


class MissingFile(Result):
    id: str
    file: str


class CheckedFiles(Result):
    """`at`: time of a worker's check, if there are too many files."""

    checked: int
    missing: list[MissingFile]
    orphaned: list[str]
    at: str | None = None


class ListMedia(Paged):
    q: str | None = Field(None, max_length=200)
    category: str | None = Field(None, max_length=60)
    mime: str | None = Field(None, max_length=100, description="image/png, or image")


class SearchMedia(Paged):
    q: str = Field(min_length=1, max_length=200)


class OneFile(Arguments):
    id: UUID


class ProposeAltText(Arguments):
    media_id: UUID
    alt: str = Field(min_length=1, max_length=ALT_TEXT_MAX)
    locale: str | None = Field(None, max_length=LOCALE_MAX)
    note: str = Field("", max_length=REASON_MAX)


class ProposedAltText(Result):
    """`before`: the alt text that stays until a person accepts the proposal."""

    proposal_id: str
    media_id: str
    locale: str
    alt: str
    before: str
    state: str


class UsesOfFile(Paged):
    id: UUID


class SomeFiles(Arguments):
    id: UUID | None = None


@tool(title="List media", kind="read", permission="media.view", group="media", result=FilePage)
def list_media(actor: Actor, arguments: ListMedia) -> JsonObject:
    """List images and files, newest first; with q best match first."""
    words = (arguments.q or "").strip()
    rows = queries.list_assets(
        actor=actor, category=arguments.category or "", search=words, mime=arguments.mime or ""
    )
    if words:
        found = page_of_ranked(arguments, "list_media", rows, _files(arguments))
        return _with_near(found, words, actor, arguments.category or "", arguments.mime or "")
    return page_after(arguments, "list_media", rows, ("-created_at", "-id"), _files(arguments))


@tool(title="Search media", kind="read", permission="media.view", group="media", result=FilePage)
def search_media(actor: Actor, arguments: SearchMedia) -> JsonObject:
    """Search files by words in alt text, description, filename or category, in that order."""
    rows = queries.list_assets(actor=actor, search=arguments.q)
    found = page_of_ranked(arguments, "search_media", rows, _files(arguments))
    return _with_near(found, arguments.q, actor)


def _with_near(
    answer: JsonObject, words: str, actor: Actor, category: str = "", mime: str = ""
) -> JsonObject:
    """Return a page, with the files of similar words if it is empty."""
    if answer["total"]:
        return answer
    near: list[Json] = [
        {"id": str(one.pk), "filename": one.filename, "altText": one.alt_text}
        for one in queries.near_assets(actor=actor, words=words, category=category, mime=mime)
    ]
    return {**answer, "near": near} if near else answer


@tool(title="One file", kind="read", permission="media.view", group="media", result=WholeFile)
def get_media(actor: Actor, arguments: OneFile) -> JsonObject:
    """A file with its variants, texts and number of uses."""
    asset = find_asset(arguments.id, actor)
    used = usage_sources.visible_uses_of(asset, actor).count()
    return {**_whole(asset), "whereUsedCount": used}


@tool(
    title="Categories of media",
    kind="read",
    permission="media.view",
    group="media",
    result=CategoryPage,
)
def list_media_categories(actor: Actor, arguments: Paged) -> JsonObject:
    """List the categories in use, with their number of files."""
    found, _ = queries.category_counts(actor, 0, 10_000)
    return page(
        arguments, "list_media_categories", found, lambda row: {"name": row[0], "count": row[1]}
    )


@tool(
    title="Where a file is used",
    kind="read",
    permission="media.view",
    group="media",
    result=PlacePage,
)
def media_where_used(actor: Actor, arguments: UsesOfFile) -> JsonObject:
    """List places that use a file, live and staged: postId or globalSlug, title, locale, layer, path."""
    asset = find_asset(arguments.id, actor)
    rows = usage_sources.visible_uses_of(asset, actor)

    def named(part: list[MediaReference]) -> list[JsonObject]:
        return [
            _without_none(cast(JsonObject, place))
            for place in usage_sources.present_places(part, actor)
        ]

    order = ("holder_kind", "holder_id", "layer", "path", "id")
    return page_after(arguments, "media_where_used", rows, order, named)


@tool(
    title="Check media",
    kind="read",
    permission="media.view",
    group="media",
    waits=True,
    result=CheckedFiles,
)
def check_media_integrity(actor: Actor, arguments: SomeFiles) -> JsonObject:
    """Check that the files of one or all media exist, and list orphaned files, which no media owns."""
    if arguments.id is not None:
        find_asset(arguments.id, actor)
    elif StoredFile.objects.count() > _MAX_CHECKED:
        # Checking so many files exceeds the time limit of a call, so the result of the last worker check is
        # returned.
        found = FileCheck.objects.filter(finished_at__isnull=False).first()
        if found is None:
            raise RuleViolation(
                "There are too many files for one call, and no check of them all has ended yet: a person starts "
                "one in the admin, below Media. Name the id of a file to check just that one.",
                code="too_many_files",
            )
        last = _report(actor, found.checked, found.missing, found.orphaned)
        return {**last, "at": str(found.finished_at)}
    report = integrity.check(arguments.id)
    return _report(actor, report.checked, report.missing, report.orphaned)


@tool(
    title="Propose an alt text",
    kind="stage",
    permission="posts.ai-review.save",
    group="media",
    idempotent=True,
    result=ProposedAltText,
)
def propose_alt_text(actor: Actor, arguments: ProposeAltText) -> JsonObject:
    """Propose an alt text for an image, for a locale or the default one. It waits in the inbox for a person."""
    proposal = alt_text_proposals.propose_alt_text(
        asset_id=arguments.media_id,
        text=arguments.alt,
        actor=actor,
        locale=arguments.locale or "",
        reason=arguments.note,
    )
    return {
        "proposalId": str(proposal.pk),
        "mediaId": str(proposal.asset_id),
        "locale": proposal.locale,
        "alt": proposal.text,
        "before": proposal.before,
        "state": proposal.state,
    }


def _report(
    actor: Actor, checked: int, missing: Sequence[Sequence[str]], orphaned: Sequence[str]
) -> JsonObject:
    """Return the result of a check, limited to files visible to the actor."""
    seen = {id_ for id_, _ in missing}
    if reading_scopes(actor):
        seen = set(filter_visible_assets(queries.load_assets(seen), actor))
    return {
        "checked": checked,
        "missing": [{"id": id_, "file": name} for id_, name in missing if id_ in seen],
        "orphaned": list(orphaned),
    }


def _files(arguments: Paged) -> Callable[[list[Asset]], list[JsonObject]]:
    present = _whole if arguments.is_full else _listed
    return lambda rows: [present(row) for row in rows]


def _listed(asset: Asset) -> JsonObject:
    names = ("id", "filename", "url", "altText", "mime", "width", "height", "categories")
    whole = _whole(asset)
    return {name: whole[name] for name in names if name in whole}


def _whole(asset: Asset) -> JsonObject:
    """Return a file as in the REST API, in camelCase, without empty values."""
    wire = cast(JsonObject, present_asset(asset))
    return _without_none({"altText": wire.pop("alt_text"), **wire})


def _without_none(wire: JsonObject) -> JsonObject:
    return {name: value for name, value in wire.items() if value is not None}
