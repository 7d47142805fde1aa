"""Deleting posts and bringing them back. A deleted post stays in the trash."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from content.posts.queries import deleted_posts
from content.posts.trash import delete_post, restore_post
from proofroom.core.admin.permissions import (
    actor_of,
    answers_refusals,
    refusals_as_messages,
    require,
)
from proofroom.core.errors import NotFound
from proofroom.editorial.posts.post_pages import page, post_page, post_url, read

_PAGE = 50


@answers_refusals
def delete(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """GET asks, POST puts the post into the trash."""
    require(request, "posts.delete")
    post, layers = read(post_id)
    if request.method == "POST":
        delete_post(post_id=post.pk, actor=actor_of(request))
        messages.success(request, _("“%(title)s” is in the trash.") % {"title": post.title})
        return HttpResponseRedirect(reverse("admin:content_post_changelist"))
    context = {"back": post_url("change", post)}
    return post_page(
        request,
        "admin/posts/delete.html",
        post,
        layers,
        context,
        title=_("Delete: %(title)s") % {"title": post.title},
        tab="source",
    )


@answers_refusals
def trash(request: HttpRequest) -> HttpResponse:
    """The trash: GET lists, POST restores one (`one`), or those that are ticked (`post`)."""
    require(request, "posts.restore")
    if request.method == "POST":
        one = request.POST.get("one")
        for id_ in [one] if one else request.POST.getlist("post")[:_PAGE]:
            with refusals_as_messages(request):
                post = restore_post(post_id=_uuid(id_), actor=actor_of(request))
                messages.success(request, _("“%(title)s” is back.") % {"title": post.title})
        return HttpResponseRedirect(request.path)
    found = Paginator(deleted_posts(), _PAGE).get_page(request.GET.get("page"))
    days = settings.CMS_ENV.trash_days
    ends = {post.pk: post.deleted_at + timedelta(days=days) for post in found if post.deleted_at}
    rows = [(post, ends.get(post.pk) if days else None) for post in found]
    context = {"posts": found, "rows": rows, "days": days}
    return page(request, "admin/posts/trash.html", context, title=_("Trash"))


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFound(_("There is no such post in the trash.")) from None
