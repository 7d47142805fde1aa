"""Copying a page in the admin, with or without the pages below it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.models import JobOutcome, Post, PostJob
from content.posts.copy import MAX_COPIED, copy_page, list_descendants_to_copy
from content.posts.jobs import count_job_outcomes, start_copy
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.errors import CmsError
from proofroom.definitions import find_post_type
from proofroom_apps.editorial.posts.job_admin import job_url, undo_job_value
from proofroom_apps.editorial.posts.move_pages import chosen_pages, tree_url, wants_json
from proofroom_apps.editorial.posts.post_pages import page, post_url
from proofroom_apps.editorial.posts.undo import undo_copy_value


@service_errors_as_http
def copy_pages(request: HttpRequest) -> HttpResponse:
    """GET asks whether to copy the pages below, POST copies the page at once, many pages below it by a worker."""
    require(request, "posts.create")
    sent = request.POST if request.method == "POST" else request.GET
    [post, *_others] = chosen_pages(sent.getlist("page"), actor_of(request))
    problem, status = "", 200
    if request.method == "POST":
        try:
            return _copy(request, post)
        except CmsError as error:
            if wants_json(request):
                return JsonResponse({"message": error.message}, status=error.status)
            if error.status in (403, 404):
                raise
            problem, status = error.message, error.status
    below = len(list_descendants_to_copy(post.pk))
    context = {
        "post": post,
        "below": below,
        "most": MAX_COPIED,
        # The page itself counts too.
        "is_too_many": below + 1 > MAX_COPIED,
        "problem": problem,
        "back": _list_url(post),
    }
    title = _("Copy “%(title)s”") % {"title": post.title}
    return page(request, "admin/posts/copy.html", context, title=title, status=status)


def _copy(request: HttpRequest, post: Post) -> HttpResponse:
    job: PostJob | None = None
    if "below" in request.POST:
        copy, job = start_copy(post_id=post.pk, actor=actor_of(request))
        message, url = _sentence(copy, job), job_url(job)
        undo = ""
        # A running job can only be cancelled, and undone after that, on its page.
        if not job.is_running and may(request, "posts.delete"):
            undo = undo_job_value(request, job)
    else:
        copy = copy_page(post_id=post.pk, actor=actor_of(request))
        message, url = _sentence(copy, None), post_url("change", copy)
        undo = undo_copy_value(request, copy)
    is_running = job is not None and job.is_running
    if wants_json(request):
        answer = {"message": message, "page": str(copy.pk), "undo_step": undo, "open": url}
        return JsonResponse({**answer, "follow": is_running})
    opened = format_html(
        '<a href="{}">{}</a>', url, _("Show progress") if is_running else _("Open")
    )
    messages.success(request, format_html("{} {}", message, opened))
    return HttpResponseRedirect(_list_url(copy))


def _list_url(post: Post) -> str:
    """Return the page tree, or the list of posts for types without a tree."""
    if find_post_type(post.type).hierarchical:
        return tree_url(post)
    return reverse("admin:content_post_changelist")


def _sentence(copy: Post, job: PostJob | None) -> str:
    words: dict[str, object] = {"title": copy.title, "path": copy.path}
    if job is None:
        return _("“%(title)s” created at %(path)s.") % words
    if job.is_running:
        number = job.total - 1
        text = ngettext(
            "“%(title)s” created at %(path)s. Copying %(number)s page below it.",
            "“%(title)s” created at %(path)s. Copying %(number)s pages below it.",
            number,
        )
        return text % {**words, "number": f"{number:,}"}
    counts = count_job_outcomes(job)
    number, failed = counts[JobOutcome.DONE] - 1, counts.get(JobOutcome.REFUSED, 0)
    text = ngettext(
        "“%(title)s” created at %(path)s, with %(number)s page below it.",
        "“%(title)s” created at %(path)s, with %(number)s pages below it.",
        number,
    ) % {**words, "number": number}
    if failed:
        more = ngettext(
            "%(number)s page could not be copied.", "%(number)s pages could not be copied.", failed
        )
        text = f"{text} {more % {'number': failed}}"
    return text
