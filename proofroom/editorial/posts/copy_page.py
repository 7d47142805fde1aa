"""Copying a page in the admin, with or without the pages below it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.posts.copy import MAX_COPIED, CopyResult, copy_page, pages_to_copy
from proofroom.core.admin.permissions import actor_of, answers_refusals, require
from proofroom.core.errors import CmsError
from proofroom.editorial.posts.move_pages import chosen_pages, tree_url, wants_json
from proofroom.editorial.posts.post_pages import page, post_url
from proofroom.editorial.posts.undo import undo_copy_value


@answers_refusals
def copy_pages(request: HttpRequest) -> HttpResponse:
    """GET asks whether the pages below are copied too, POST copies."""
    require(request, "posts.create")
    sent = request.POST if request.method == "POST" else request.GET
    [post, *_others] = chosen_pages(sent.getlist("page"))
    problem, status = "", 200
    if request.method == "POST":
        try:
            result = copy_page(
                post_id=post.pk, actor=actor_of(request), with_below="below" in request.POST
            )
        except CmsError as error:
            if wants_json(request):
                return JsonResponse({"message": error.message}, status=error.status)
            if error.status in (403, 404):
                raise
            problem, status = error.message, error.status
        else:
            message = _sentence(result)
            # With pages below, a copy is more than one step takes back.
            undo = undo_copy_value(request, result.post) if not result.below else ""
            if wants_json(request):
                answer = {"message": message, "page": str(result.post.pk), "undo_step": undo}
                return JsonResponse({**answer, "open": post_url("change", result.post)})
            opened = format_html('<a href="{}">{}</a>', post_url("change", result.post), _("Open"))
            messages.success(request, format_html("{} {}", message, opened))
            return HttpResponseRedirect(tree_url(result.post))
    below = len(pages_to_copy(post))
    context = {
        "post": post,
        "below": below,
        "most": MAX_COPIED,
        "is_too_many": below + 1 > MAX_COPIED,
        "problem": problem,
        "back": tree_url(post),
    }
    title = _("Copy “%(title)s”") % {"title": post.title}
    return page(request, "admin/posts/copy.html", context, title=title, status=status)


def _sentence(result: CopyResult) -> str:
    words = {"title": result.post.title, "path": result.post.path, "number": result.below}
    if not result.below:
        return _("“%(title)s” created at %(path)s.") % words
    return (
        ngettext(
            "“%(title)s” created at %(path)s, with %(number)s page below it.",
            "“%(title)s” created at %(path)s, with %(number)s pages below it.",
            result.below,
        )
        % words
    )
