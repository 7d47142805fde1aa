"""Actions on several posts of the list, such as Publish and Move to trash. A worker executes long ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy, ngettext, ngettext_lazy

from content.models import JobKind, JobOutcome, Post, PostJob
from content.posts.jobs import MAX_POSTS, count_job_outcomes, start_job
from content.store.scopes import visible_to
from proofroom.core.admin.permissions import actor_of
from proofroom.core.admin.undo import undo_button
from proofroom.core.errors import CmsError
from proofroom_apps.editorial.posts.extensions import ListAction
from proofroom_apps.editorial.posts.job_admin import job_url

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

CONFIRMED: Final = "confirmed"
"""Field of the request after the question was answered."""
_REFUSALS_SHOWN: Final = 5
_TITLES_SHOWN: Final = 10
_BUTTONS: Final = {
    JobKind.PUBLISH: gettext_lazy("Publish"),
    JobKind.UNPUBLISH: gettext_lazy("Unpublish"),
    JobKind.ARCHIVE: gettext_lazy("Archive"),
    JobKind.DELETE: gettext_lazy("Move to trash"),
}


def _bulk(
    kind: JobKind, question: StrPromise, outcome: StrPromise
) -> Callable[[HttpRequest, Sequence[str]], HttpResponse]:
    """Return an action that asks first, then applies a step to each post.

    `question` and `outcome` are sentences about `n` posts. An error for one post doesn't stop the others.
    """

    def run(request: HttpRequest, ids: Sequence[str]) -> HttpResponse:
        # The service refuses a longer list, so there is nothing to ask.
        if CONFIRMED not in request.POST and len(ids) <= MAX_POSTS:
            return _ask(request, ids, kind, question % {"n": len(ids)})
        # With the query, so that the list keeps its filters and page.
        back = HttpResponseRedirect(request.get_full_path())
        try:
            job = start_job(kind=kind, post_ids=[UUID(id_) for id_ in ids], actor=actor_of(request))
        except CmsError as error:
            messages.error(request, error.message)
            return back
        if job.is_running:
            # A worker does the rest: show its progress.
            return HttpResponseRedirect(job_url(job))
        _say(request, job, outcome)
        return back

    return run


def _ask(
    request: HttpRequest, ids: Sequence[str], kind: JobKind, question: str
) -> TemplateResponse:
    """Return a page that names the posts and sends the same selection again."""
    seen = visible_to(Post.objects.all(), actor_of(request)).in_bulk(ids[:_TITLES_SHOWN])
    sent = [
        (name, value)
        for name in (ACTION_CHECKBOX_NAME, "action", "index", "select_across", "across_count")
        for value in request.POST.getlist(name)
    ]
    context = {
        **admin.site.each_context(request),
        "title": question,
        "titles": sorted(post.title for post in seen.values()),
        "left": len(ids) - len(seen),
        "sent": [*sent, (CONFIRMED, "1")],
        "button": _BUTTONS[kind],
        "is_removal": kind == JobKind.DELETE,
        "back": request.get_full_path(),
    }
    return TemplateResponse(request, "admin/posts/confirm_bulk.html", context)


def _say(request: HttpRequest, job: PostJob, outcome: StrPromise) -> None:
    counts = count_job_outcomes(job)
    changed = counts.get(JobOutcome.DONE, 0)
    done = changed + counts.get(JobOutcome.UNCHANGED, 0)
    if done:
        text = outcome % {"n": done}
        undo = undo_button(request, "post.job", {"job": str(job.pk)}, back=job_url(job))
        messages.success(request, format_html("{} {}", text, undo if changed else ""))
    refused = job.items.filter(outcome=JobOutcome.REFUSED).order_by("position")
    refusals = list(refused[:_REFUSALS_SHOWN]) if counts.get(JobOutcome.REFUSED) else []
    seen = visible_to(Post.objects.all(), actor_of(request))
    titles = seen.in_bulk([item.post for item in refusals])
    for item in refusals:
        post = titles.get(item.post)
        messages.error(request, f"{post.title}: {item.why}" if post else item.why)
    left = counts.get(JobOutcome.REFUSED, 0) - len(refusals)
    if left:
        text = ngettext(
            "%(n)s other post was not changed.",
            "%(n)s other posts were not changed.",
            left,
        )
        messages.error(request, text % {"n": left})
    if job.why:
        messages.error(request, job.why)


ACTIONS: Final = (
    ListAction(
        "publish",
        gettext_lazy("Publish {number}…"),
        "posts.publish",
        _bulk(
            JobKind.PUBLISH,
            ngettext_lazy("Publish %(n)s post?", "Publish %(n)s posts?", "n"),
            ngettext_lazy("%(n)s post is published.", "%(n)s posts are published.", "n"),
        ),
    ),
    ListAction(
        "unpublish",
        gettext_lazy("Unpublish {number}…"),
        "posts.publish",
        _bulk(
            JobKind.UNPUBLISH,
            ngettext_lazy("Unpublish %(n)s post?", "Unpublish %(n)s posts?", "n"),
            ngettext_lazy("%(n)s post is unpublished.", "%(n)s posts are unpublished.", "n"),
        ),
    ),
    ListAction(
        "archive",
        gettext_lazy("Archive {number}…"),
        "posts.archive",
        _bulk(
            JobKind.ARCHIVE,
            ngettext_lazy("Archive %(n)s post?", "Archive %(n)s posts?", "n"),
            ngettext_lazy("%(n)s post is archived.", "%(n)s posts are archived.", "n"),
        ),
    ),
    ListAction(
        "delete",
        gettext_lazy("Move {number} to trash…"),
        "posts.delete",
        _bulk(
            JobKind.DELETE,
            ngettext_lazy("Move %(n)s post to trash?", "Move %(n)s posts to trash?", "n"),
            ngettext_lazy(
                "%(n)s post was moved to the trash.", "%(n)s posts were moved to the trash.", "n"
            ),
        ),
    ),
)
