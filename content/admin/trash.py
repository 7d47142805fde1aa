"""Deleting posts and bringing them back. A deleted post stays in the trash."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from content.admin.pages import page, post_page, post_url, read
from content.queries import deleted_posts
from content.services.trash import delete_post, restore_post
from core.admin.rights import actor_of, answers_refusals, refusals_as_messages, require
from core.errors import NotFound

_PAGE = 50


@answers_refusals
def delete(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """GET asks, POST puts the post into the trash."""
    require(request, "posts.delete")
    post, layers = read(post_id)
    if request.method == "POST":
        delete_post(post_id=post.pk, actor=actor_of(request))
        messages.success(request, f"“{post.title}” is in the trash.")
        return HttpResponseRedirect(reverse("admin:content_post_changelist"))
    context = {"back": post_url("change", post)}
    return post_page(
        request,
        "admin/posts/delete.html",
        post,
        layers,
        context,
        title=f"Delete: {post.title}",
        tab="source",
    )


@answers_refusals
def trash(request: HttpRequest) -> HttpResponse:
    """The trash: GET lists, POST (`post`) restores one."""
    require(request, "posts.restore")
    if request.method == "POST":
        with refusals_as_messages(request):
            post = restore_post(
                post_id=_uuid(request.POST.get("post", "")), actor=actor_of(request)
            )
            messages.success(request, f"“{post.title}” is back.")
        return HttpResponseRedirect(request.path)
    found = Paginator(deleted_posts(), _PAGE).get_page(request.GET.get("page"))
    return page(request, "admin/posts/trash.html", {"posts": found}, title="Trash")


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFound("There is no such post in the trash.") from None
