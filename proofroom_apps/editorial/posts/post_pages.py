"""Shared parts of the pages of one post: lookup, title, tabs, and the admin frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import admin
from django.db.models import Case, OuterRef, QuerySet, Subquery, TextField, When
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from content.layers import Layers, open_layers
from content.models import Draft, Layer, Post, QueuedChange, Status
from content.store.scopes import can_view
from proofroom.core.admin.permissions import actor_of, may
from proofroom.core.database.compiled_queries import CompiledQuery, columns_of, first_instance
from proofroom_apps.editorial.posts.extensions import PostTab, extension_tabs
from proofroom_apps.editorial.posts.state_badge import badge_of, state_of

MAX_REJECTIONS: Final = 200
"""Maximum number of rejections in one address, since some servers reject longer URLs."""

_STAND_IN: Final = UUID(int=0)
_STAGED_TITLE: Final = Cast(KT("document__post__title"), TextField())


_POST: Final = CompiledQuery(
    lambda post_id: Post.objects.filter(pk=post_id).values(*columns_of(Post))
)


def get_post_or_404(request: HttpRequest, post_id: UUID) -> Post:
    """Return the post. Raises `Http404` if it is deleted or the user may not see it."""
    post = first_instance(Post, _POST.rows(post_id))
    # First, so that the answer doesn't tell users that a post they may not view is in the trash.
    if post is None or not can_view(actor_of(request), post):
        raise Http404(_("Post not found."))
    if post.deleted_at is not None:
        raise Http404(_("This post is in the trash. Restore it there first."))
    return post


def read(request: HttpRequest, post_id: UUID) -> tuple[Post, Layers]:
    post = get_post_or_404(request, post_id)
    return post, open_layers(post)


def may_edit_live(request: HttpRequest, post: Post) -> bool:
    """Return whether the user may change a post without a review. Same rule as in `edit_post`."""
    # Translators may write drafts, but not change what visitors see.
    is_draft = post.status == Status.DRAFT
    return may(request, "posts.edit", post) or (is_draft and may(request, "posts.translate", post))


def version_sent(request: HttpRequest, name: str = "version") -> int:
    """Return the version that the form was made for; -1, which never matches, if it is invalid."""
    text = request.POST.get(name, "")
    # At most nine digits, which always fit the column of the version.
    return int(text) if text.isdecimal() and len(text) < 10 else -1


def post_url(name: str, post: Post | str, query: str = "") -> str:
    """Return the address of a page of a post: `change`, `review`, `revisions`, …"""
    pk = post.pk if isinstance(post, Post) else post
    return reverse(f"admin:content_post_{name}", args=[pk]) + query


def post_urls(name: str) -> Callable[[UUID], str]:
    """Return `post_url` as a function for many posts, with a single URL lookup."""
    begin, end = post_url(name, str(_STAND_IN)).split(str(_STAND_IN))
    return lambda pk: f"{begin}{pk}{end}"


def review_url(post: Post | str, layer: str) -> str:
    return post_url("review", post, f"?layer={layer}")


def log_url(request: HttpRequest, post: Post) -> str:
    """Return the address of the post's activity log; empty if the user may not read it."""
    if not may(request, "settings.manage"):
        return ""
    return f"{reverse('admin:proofroom_core_event_changelist')}?post={post.pk}"


def layer_label(layer: str) -> str:
    return str(_("Review") if layer == Layer.REVIEW else _("AI Review"))


def rejection_url(post: Post, rejections: Iterable[int]) -> str:
    """Return the address that shows and undoes these rejections: at most `MAX_REJECTIONS`."""
    ids = ",".join(map(str, rejections))
    return reverse("admin:content_post_rejection", args=[post.pk, ids])


def tabs(request: HttpRequest, post: Post, layers: Layers) -> list[PostTab]:
    """Return the links above every page of a post."""
    found = [
        PostTab("source", _("Edit"), post_url("change", post)),
        PostTab(
            "review",
            layer_label(Layer.REVIEW),
            review_url(post, Layer.REVIEW),
            len(layers.review.changes),
        ),
        PostTab(
            "ai-review",
            layer_label(Layer.AI_REVIEW),
            review_url(post, Layer.AI_REVIEW),
            len(layers.ai_review.changes),
        ),
        *(
            [PostTab("translate", _("Translate"), post_url("translate", post))]
            if post.translated_from_id
            else []
        ),
        PostTab("preview", _("Preview page"), post_url("preview", post)),
        PostTab("checks", _("Checks"), post_url("checks", post)),
        *(
            [PostTab("comments", _("Comments"), post_url("comments", post))]
            if may(request, "comments.view")
            else []
        ),
        PostTab("revisions", _("Revisions"), post_url("revisions", post)),
        *extension_tabs(request, post),
    ]
    if log := log_url(request, post):
        found.append(PostTab("log", _("Log"), log))
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
    """Return a page in the admin frame."""
    frame = {
        **admin.site.each_context(request),
        "title": title,
        "opts": Post._meta,
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
    """Return a page of one post with its tabs. `tab` is the name of the active one, if any."""
    frame = {
        "post": post,
        "post_title": title_in(post, layers),
        "tabs": tabs(request, post, layers),
        "tab": tab,
        "badge": badge_of(state_of(post, changes_in_review=len(layers.review.changes))),
        **context,
    }
    return page(request, template, frame, title=title, status=status)


def with_proposed_titles(posts: QuerySet[Post]) -> QuerySet[Post]:
    """Annotate posts with `proposed_title`, which is null except for placeholders.

    AI Review has priority over Review.
    """
    # “ai-review” sorts before “review”.
    drafts = Draft.objects.filter(post=OuterRef("pk"), is_empty=False).order_by("layer")
    staged = Subquery(drafts.values(title=_STAGED_TITLE)[:1])
    return posts.annotate(proposed_title=Case(When(is_placeholder=True, then=staged)))


def drafts_with_titles(drafts: QuerySet[Draft]) -> QuerySet[Draft]:
    """Annotate drafts with `proposed_title`, which is null except for placeholders."""
    title = Case(When(post__is_placeholder=True, then=_STAGED_TITLE))
    return drafts.annotate(proposed_title=title)


def title_of(post: Post, row: Post | Draft | QueuedChange | None = None) -> str:
    """Return the title to show, from a row annotated by one of the two functions above."""
    return str(getattr(row or post, "proposed_title", None) or post.title)


def title_in(post: Post, layers: Layers) -> str:
    """Return the title to show on the pages of a post."""
    proposed = layers.ai_review.document.fields.get("title") if post.is_placeholder else None
    return str(proposed or post.title)


def split_switch(request: HttpRequest, query: dict[str, str]) -> dict[str, Any]:
    """Return whether the view is side by side, and the address of the other view."""
    is_split = request.GET.get("view") == "split"
    other = query if is_split else {**query, "view": "split"}
    return {"is_split": is_split, "split_url": f"?{urlencode(other)}"}
