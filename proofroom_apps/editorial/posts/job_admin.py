"""Background jobs in the admin: progress, outcome of each post, cancel and undo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast
from uuid import UUID

from django.contrib import admin, messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from content.models import JobKind, JobOutcome, JobState, Post, PostJob
from content.posts.jobs import cancel_job, count_job_outcomes, find_job, jobs_for, undo_job
from content.store.scopes import visible_to
from proofroom.core.actor import Actor
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.labels import badge
from proofroom.core.admin.lists import ListAdmin
from proofroom.core.admin.permissions import (
    actor_of,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.admin.undo import UndoKind, Undone, undo_value
from proofroom.core.i18n.ages import age_html
from proofroom.core.json import JsonObject
from proofroom_apps.editorial.posts.edit_labels import describe_bulk_edit
from proofroom_apps.editorial.posts.post_pages import post_url, title_of, with_proposed_titles

_LINES_PER_PAGE: Final = 100
_STATES: Final[dict[str, tuple[str, Promise]]] = {
    JobState.RUNNING: ("running", gettext_lazy("Running")),
    JobState.DONE: ("succeeded", gettext_lazy("Finished")),
    JobState.CANCELLED: ("cancelled", gettext_lazy("Cancelled")),
    JobState.FAILED: ("failed", gettext_lazy("Stopped")),
}
_DONE: Final[dict[str, Promise]] = {
    JobKind.COPY: gettext_lazy("Copied"),
    JobKind.PUBLISH: gettext_lazy("Published"),
    JobKind.UNPUBLISH: gettext_lazy("Unpublished"),
    JobKind.ARCHIVE: gettext_lazy("Archived"),
    JobKind.DELETE: gettext_lazy("Moved to trash"),
    JobKind.EDIT: gettext_lazy("Changed"),
}
_OUTCOMES: Final[dict[str, Promise]] = {
    JobOutcome.UNCHANGED: gettext_lazy("Unchanged"),
    JobOutcome.REFUSED: gettext_lazy("Failed"),
    JobOutcome.UNDONE: gettext_lazy("Undone"),
    JobOutcome.KEPT: gettext_lazy("Kept"),
    JobOutcome.WAITING: gettext_lazy("Not started"),
}
_PROBLEMS: Final = (JobOutcome.REFUSED, JobOutcome.KEPT)


def job_url(job: PostJob) -> str:
    return reverse("admin:content_postjob_change", args=[job.pk])


def describe_job(job: PostJob) -> str:
    """Return a short description of the job."""
    if job.kind == JobKind.COPY:
        return job.title
    words = {
        JobKind.PUBLISH: ngettext("Publish %(number)s post", "Publish %(number)s posts", job.total),
        JobKind.UNPUBLISH: ngettext(
            "Unpublish %(number)s post", "Unpublish %(number)s posts", job.total
        ),
        JobKind.ARCHIVE: ngettext("Archive %(number)s post", "Archive %(number)s posts", job.total),
        JobKind.DELETE: ngettext(
            "Move %(number)s post to the trash", "Move %(number)s posts to the trash", job.total
        ),
        JobKind.EDIT: ngettext("Edit %(number)s post", "Edit %(number)s posts", job.total),
    }
    return words[JobKind(job.kind)] % {"number": f"{job.total:,}"}


def undo_job_value(request: HttpRequest, job: PostJob) -> str:
    """Return the value of a button that undoes a job."""
    return undo_value(request, "post.job", {"job": str(job.pk)}, back=job_url(job))


def _undo(actor: Actor, arguments: JsonObject) -> Undone:
    job = undo_job(job_id=UUID(str(arguments["job"])), actor=actor)
    return Undone(_said_undone(job), job_url(job))


UNDO_KIND: Final = UndoKind("post.job", _undo)


def _said_undone(job: PostJob) -> str:
    if job.is_running:
        return _("Undo started. Posts that were changed since then are kept.")
    counts = count_job_outcomes(job)
    undone, kept = counts.get(JobOutcome.UNDONE, 0), counts.get(JobOutcome.KEPT, 0)
    text = ngettext(
        "Changes to %(number)s post undone.", "Changes to %(number)s posts undone.", undone
    )
    text %= {"number": undone}
    if kept:
        more = ngettext("%(number)s post was kept.", "%(number)s posts were kept.", kept)
        text = f"{text} {more % {'number': kept}}"
    return text


@admin.register(PostJob)
class PostJobAdmin(ListAdmin[PostJob]):
    view_permission = "posts.edit"
    empty_words = gettext_lazy("Copies of page trees, bulk actions and bulk edits are listed here.")
    list_display = ("what", "progress", "started_by", "started", "outcome")
    list_display_links = ("what",)
    ordering = ("-created_at",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[PostJob]:
        return jobs_for(actor_of(request))

    @admin.display(description=gettext_lazy("Job"))
    def what(self, job: PostJob) -> str:
        return describe_job(job)

    @admin.display(description=gettext_lazy("Posts"))
    def progress(self, job: PostJob) -> str:
        return f"{job.done:,} / {job.total:,}" if job.done < job.total else f"{job.total:,}"

    @admin.display(description=gettext_lazy("Started by"), ordering="by_name")
    def started_by(self, job: PostJob) -> str:
        return job.by_name

    @admin.display(description=gettext_lazy("Started"), ordering="created_at")
    def started(self, job: PostJob) -> SafeString | str:
        return age_html(job.created_at)

    @admin.display(description=gettext_lazy("State"))
    def outcome(self, job: PostJob) -> SafeString:
        look, label = _STATES[job.state]
        is_undone = job.is_undo and job.state == JobState.DONE
        return badge(look, _("Undone") if is_undone else str(label))

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        title = {"title": _("Background jobs")}
        return super().changelist_view(request, {**title, **(extra_context or {})})

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """GET shows progress and outcome of each post, POST cancels or undoes the job."""
        return cast(HttpResponse, _job_page(request, object_id))


@service_errors_as_http
def _job_page(request: HttpRequest, object_id: str) -> HttpResponse:
    require(request, PostJobAdmin.view_permission)
    actor = actor_of(request)
    try:
        job = find_job(job_id=UUID(object_id), actor=actor)
    except ValueError:
        raise Http404(_("Background job not found.")) from None
    if request.method == "POST":
        with service_errors_as_messages(request):
            if request.POST.get("action") == "cancel":
                cancel_job(job_id=job.pk, actor=actor)
                messages.success(
                    request,
                    _("Cancelled. You can continue the undo here.")
                    if job.is_undo
                    else _("Cancelled. Changes already made are kept. You can undo them here."),
                )
            else:
                messages.success(request, _said_undone(undo_job(job_id=job.pk, actor=actor)))
        return HttpResponseRedirect(request.path)
    counts = count_job_outcomes(job)
    problems = sum(counts.get(outcome, 0) for outcome in _PROBLEMS)
    shows_problems = request.GET.get("show") == "problems"
    items = job.items.order_by("position")
    if shows_problems:
        items = items.filter(outcome__in=_PROBLEMS)
    page = Paginator(items, _LINES_PER_PAGE).get_page(request.GET.get("page"))
    # A job that copies lists the copies; other jobs list the posts themselves.
    ids = {item.made or item.post for item in page}
    seen = visible_to(Post.objects.all(), actor_of(request))
    rows = with_proposed_titles(seen.filter(pk__in=ids))
    posts: Mapping[UUID, Post] = {post.pk: post for post in rows}
    labels = {**_OUTCOMES, JobOutcome.DONE: _DONE[job.kind]}
    # The first item is the page that the user copied; the others are below it.
    copy = job.items.filter(position=0).first() if job.kind == JobKind.COPY else None
    look, state = _STATES[job.state]
    context = {
        "job": job,
        "badge": look,
        "state": state,
        "counts": [(str(labels[name]), counts[name]) for name in JobOutcome if name in counts],
        "page_obj": page,
        "lines": [
            _Line(
                posts.get(item.made or item.post),
                str(labels[JobOutcome(item.outcome)]),
                item.why,
                item.outcome in _PROBLEMS,
            )
            for item in page
        ],
        "total": sum(counts.values()),
        "problems": problems,
        "shows_problems": shows_problems,
        "edits": describe_bulk_edit(job),
        "open_url": post_url("change", str(copy.made))
        if copy is not None and copy.outcome == JobOutcome.DONE
        else "",
        "may_cancel": job.is_running,
        "may_undo": not job.is_running and counts.get(JobOutcome.DONE),
    }
    title = describe_job(job)
    if job.is_undo:
        title = _("Undo: %(what)s") % {"what": title}
    return form_page(request, "admin/posts/job.html", PostJob, context, title=title)


class _Line:
    """A post in a job's report."""

    def __init__(self, post: Post | None, outcome: str, why: str, is_problem: bool) -> None:
        self.title = title_of(post, post) if post is not None else _("a deleted post")
        self.path = post.path if post is not None else ""
        # A post in the trash has no page to open.
        is_there = post is not None and post.deleted_at is None
        self.url = post_url("change", post) if post is not None and is_there else ""
        self.outcome, self.why, self.is_problem = outcome, why, is_problem
