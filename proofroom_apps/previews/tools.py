"""MCP tools for preview links: create, list and revoke."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from content.tools.arguments import OnPost, PostId, require_post
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject, format_time
from proofroom.core.site_urls import preview_url
from proofroom.core.tools import Result, tool
from proofroom.core.tools.pagination import Paged, ToolPage, page_after
from proofroom_apps.previews.models import PreviewLink
from proofroom_apps.previews.services import (
    LONGEST_HOURS,
    USUAL_HOURS,
    create_preview_link,
    revoke_preview_link,
)

LayerName = Literal["source", "review", "ai-review"]


class MadePreviewLink(Result):
    id: str
    url: str
    expires_at: str


class ListedPreviewLink(Result):
    id: str
    layer: LayerName
    expires_at: str
    created_by: str
    views: int
    created_at: str | None = None


class PreviewLinkPage(ToolPage):
    items: list[ListedPreviewLink]


class RevokedPreviewLink(Result):
    revoked: bool


class NewLink(OnPost):
    layer: LayerName = "ai-review"
    expires_in_hours: int = Field(USUAL_HOURS, ge=1, le=LONGEST_HOURS, strict=True)


class Links(Paged):
    post_id: PostId


class OneLink(OnPost):
    link_id: UUID


@tool(
    title="Make a preview link",
    kind="stage",
    permission="posts.preview",
    group="previews",
    result=MadePreviewLink,
)
def create_post_preview_link(actor: Actor, arguments: NewLink) -> JsonObject:
    """Create a secret, short-lived link that shows one layer of a post without an account. Returned only once."""
    post = require_post(arguments.post_id, actor)
    link, token = create_preview_link(
        post_id=post.pk, layer=arguments.layer, hours=arguments.expires_in_hours, actor=actor
    )
    return {
        "id": str(link.pk),
        "url": preview_url(token),
        "expiresAt": format_time(link.expires_at),
    }


@tool(
    title="Preview links",
    kind="read",
    permission="posts.preview",
    group="previews",
    result=PreviewLinkPage,
)
def list_post_preview_links(actor: Actor, arguments: Links) -> JsonObject:
    """Links of a post that were not revoked, newest first, without addresses."""
    rows = require_post(arguments.post_id, actor).preview_links.all()

    def links(part: list[PreviewLink]) -> list[JsonObject]:
        return [_link(row, arguments.is_full) for row in part]

    return page_after(arguments, "list_post_preview_links", rows, ("-created_at", "id"), links)


def _link(link: PreviewLink, full: bool) -> JsonObject:
    wire: JsonObject = {
        "id": str(link.pk),
        "layer": link.layer,
        "expiresAt": format_time(link.expires_at),
        "createdBy": link.created_by_name,
        "views": link.views,
    }
    return {**wire, "createdAt": format_time(link.created_at)} if full else wire


@tool(
    title="Revoke a preview link",
    kind="remove",
    permission="posts.preview",
    group="previews",
    result=RevokedPreviewLink,
)
def revoke_post_preview_link(actor: Actor, arguments: OneLink) -> JsonObject:
    """Revoke a preview link of this post. It stops working for everyone."""
    post = require_post(arguments.post_id, actor)
    revoke_preview_link(post_id=post.pk, link_id=arguments.link_id, actor=actor)
    return {"revoked": True}
