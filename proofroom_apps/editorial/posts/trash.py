"""The confirmation page for deleting a post, and the trash."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _

from content.posts.trash import delete_post, find_deleters, restore_post
from content.store.post_queries import deleted_posts
from content.store.scopes import visible_to
from proofroom.core.admin.permissions import (
    actor_of,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.errors import NotFound
from proofroom.core.validation.input_validation import parse_uuid
from proofroom_apps.editorial.posts.post_pages import page, post_page, post_url, read
from proofroom_apps.editorial.posts.undo import offer_undo_delete, offer_undo_restore

_PAGE_SIZE = 50


@service_errors_as_http
def delete(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """GET asks, POST moves the post to the trash."""
    require(request, "posts.delete")
    post, layers = read(request, post_id)
    if request.method == "POST":
        deleted = delete_post(post_id=post.pk, actor=actor_of(request))
        text = _("“%(title)s” was moved to the trash.") % {"title": post.title}
        messages.success(request, format_html("{} {}", text, offer_undo_delete(request, deleted)))
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


@service_errors_as_http
def trash(request: HttpRequest) -> HttpResponse:
    """GET lists the trash, POST restores one post (`one`) or the ticked ones (`post`)."""
    require(request, "posts.restore")
    if request.method == "POST":
        one = request.POST.get("one")
        for id_ in [one] if one else request.POST.getlist("post")[:_PAGE_SIZE]:
            # For each post, so that an error for one does not stop the others.
            with service_errors_as_messages(request):
                post_id = parse_uuid(id_)
                if post_id is None:
                    raise NotFound(_("This post is not in the trash."))
                post = restore_post(post_id=post_id, actor=actor_of(request))
                text = _("“%(title)s” was restored.") % {"title": post.title}
                messages.success(
                    request, format_html("{} {}", text, offer_undo_restore(request, post))
                )
        return HttpResponseRedirect(request.path)
    seen = visible_to(deleted_posts(), actor_of(request))
    found = Paginator(seen, _PAGE_SIZE).get_page(request.GET.get("page"))
    days = settings.CMS_ENV.trash_days
    # Not shown with 0 days, since posts are then never deleted permanently.
    ends = {post.pk: post.deleted_at + timedelta(days=days) for post in found if post.deleted_at}
    deleted_by = find_deleters([post.pk for post in found])
    rows = [(post, ends.get(post.pk) if days else None, deleted_by.get(post.pk)) for post in found]
    context = {"posts": found, "rows": rows, "days": days}
    return page(request, "admin/posts/trash.html", context, title=_("Trash"))
