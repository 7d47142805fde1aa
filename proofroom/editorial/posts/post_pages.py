"""Shared parts of the pages of one post: finding it, its tabs, and the frame of the admin around them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from uuid import UUID

from django.contrib import admin
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from content.layers import Layers, open_layers
from content.models import Layer, Post, Status
from proofroom.core.admin.permissions import may
from proofroom.editorial.posts.panels import PostTab, more_tabs
from proofroom.editorial.posts.titles import title_in

MAX_REJECTIONS: Final = 200
"""Rejections that one address names: there are servers that take no longer one."""


def find_post(post_id: UUID) -> Post:
    """The post, unless it is deleted. Raises `Http404`."""
    post = Post.objects.filter(pk=post_id, deleted_at__isnull=True).first()
    if post is None:
        raise Http404(_("No such post."))
    return post


def read(post_id: UUID) -> tuple[Post, Layers]:
    post = find_post(post_id)
    return post, open_layers(post)


def post_url(name: str, post: Post | str, query: str = "") -> str:
    """The address of a page of a post: `change`, `review`, `revisions`, …"""
    pk = post.pk if isinstance(post, Post) else post
    return reverse(f"admin:content_post_{name}", args=[pk]) + query


def review_url(post: Post | str, layer: str) -> str:
    return post_url("review", post, f"?layer={layer}")


def rejection_url(post: Post, rejections: Iterable[int]) -> str:
    """Return where these rejections of a post are shown and taken back: at most `MOST_REJECTIONS`."""
    ids = ",".join(map(str, rejections))
    return reverse("admin:content_post_rejection", args=[post.pk, ids])


def tabs(request: HttpRequest, post: Post, layers: Layers) -> list[PostTab]:
    """The links above every page of a post."""
    found = [
        PostTab("source", "Source", post_url("change", post)),
        PostTab("review", "Review", review_url(post, Layer.REVIEW), len(layers.review.changes)),
        PostTab(
            "ai-review",
            "AI Review",
            review_url(post, Layer.AI_REVIEW),
            len(layers.ai_review.changes),
        ),
        PostTab("preview", _("Preview"), post_url("preview", post)),
        PostTab("revisions", _("Revisions"), post_url("revisions", post)),
        *more_tabs(request, post),
    ]
    if may(request, "settings.manage"):
        log = reverse("admin:proofroom_core_event_changelist")
        found.append(PostTab("log", _("Log"), f"{log}?post={post.pk}"))
    if post.status == Status.PUBLISHED:
        found.append(PostTab("site", _("View on site"), post.path))
    return found


def page(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    *,
    title: str,
    status: int = 200,
) -> TemplateResponse:
    """A page in the frame of the admin."""
    frame = {
        **admin.site.each_context(request),
        "title": title,
        "opts": Post._meta,
        "can_approve": may(request, "posts.review.approve"),
        **context,
    }
    return TemplateResponse(request, template, frame, status=status)


def post_page(
    request: HttpRequest,
    template: str,
    post: Post,
    layers: Layers,
    context: dict[str, Any],
    *,
    title: str,
    tab: str,
    status: int = 200,
) -> TemplateResponse:
    """A page of one post, with its tabs."""
    frame = {
        "post": post,
        "post_title": title_in(post, layers),
        "tabs": tabs(request, post, layers),
        "tab": tab,
        **context,
    }
    return page(request, template, frame, title=title, status=status)
