"""Actions on several posts of the list, such as Publish and Move to trash. A worker executes long ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html
from django.utils.translation import gettext_lazy, ngettext

from content.models import JobKind, JobOutcome, Post, PostJob
from content.posts.jobs import count_job_outcomes, start_job
from content.store.scopes import visible_to
from proofroom.core.admin.permissions import actor_of
from proofroom.core.admin.undo import undo_button
from proofroom.core.errors import CmsError
from proofroom_apps.editorial.posts.extensions import ListAction
from proofroom_apps.editorial.posts.job_admin import job_url

_REFUSALS_SHOWN: Final = 5
Sentence = Callable[[int], str]


def _bulk(
    kind: JobKind, sentence: Sentence
) -> Callable[[HttpRequest, Sequence[str]], HttpResponse]:
    """Return an action that applies a step to each post. An error for one post doesn't stop the others."""

    def run(request: HttpRequest, ids: Sequence[str]) -> HttpResponse:
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
        _say(request, job, sentence)
        return back

    return run


def _say(request: HttpRequest, job: PostJob, sentence: Sentence) -> None:
    counts = count_job_outcomes(job)
    changed = counts.get(JobOutcome.DONE, 0)
    done = changed + counts.get(JobOutcome.UNCHANGED, 0)
    if done:
        text = sentence(done) % {"n": done}
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


def _said_published(n: int) -> str:
    return ngettext("%(n)s post is published.", "%(n)s posts are published.", n)


def _said_unpublished(n: int) -> str:
    return ngettext("%(n)s post is unpublished.", "%(n)s posts are unpublished.", n)


def _said_archived(n: int) -> str:
    return ngettext("%(n)s post is archived.", "%(n)s posts are archived.", n)


def _said_deleted(n: int) -> str:
    return ngettext("%(n)s post was moved to the trash.", "%(n)s posts were moved to the trash.", n)


ACTIONS: Final = (
    ListAction(
        "publish",
        gettext_lazy("Publish"),
        "posts.publish",
        _bulk(JobKind.PUBLISH, _said_published),
    ),
    ListAction(
        "unpublish",
        gettext_lazy("Unpublish"),
        "posts.publish",
        _bulk(JobKind.UNPUBLISH, _said_unpublished),
    ),
    ListAction(
        "archive",
        gettext_lazy("Archive"),
        "posts.archive",
        _bulk(JobKind.ARCHIVE, _said_archived),
    ),
    ListAction(
        "delete",
        gettext_lazy("Move to trash"),
        "posts.delete",
        _bulk(JobKind.DELETE, _said_deleted),
    ),
)
