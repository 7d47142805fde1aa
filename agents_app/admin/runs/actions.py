"""Actions on runs in the admin: cancel, retry, use an answer, revert."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from agents_app.admin.labels import agent_name
from agents_app.admin.run_dialog.form import RunRefusal, begin, in_dialog
from agents_app.models import AgentRun
from agents_app.runs.creation import create_once
from agents_app.runs.lifecycle import cancel_run
from agents_app.runs.permissions import START_PERMISSIONS
from agents_app.runs.queries import find_run
from agents_app.runs.retry import retry_run, stage_candidate
from agents_app.runs.undo import UndoneRun, undo_run
from content.models import Layer
from proofroom.core.admin.permissions import (
    actor_of,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom_apps.editorial.posts.post_pages import page, review_url


@require_POST
@service_errors_as_http
def cancel(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Cancel an unfinished run."""
    require(request, *START_PERMISSIONS.values())
    with service_errors_as_messages(request):
        cancel_run(run_id=run_id, actor=actor_of(request))
        messages.success(request, _("Run cancelled. It will not propose anything."))
    return _to(run_id)


@require_POST
@service_errors_as_http
def retry(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Run again with the same input and an optional note."""
    note = request.POST.get("note", "").strip()
    actor = actor_of(request)

    def start(new_id: UUID | None) -> AgentRun:
        return retry_run(run_id=run_id, actor=actor, note=note, new_id=new_id)

    token = request.POST.get("once", "")
    answer = begin(lambda: create_once(token, actor=actor, wish={"note": note}, start=start))
    if isinstance(answer, RunRefusal):
        messages.error(request, answer.problem or answer.words)
        return _to(run_id)
    return answer


@require_POST
@service_errors_as_http
def use(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Stage the answer of a run on a field in AI Review."""
    require(request, "agents.field")
    run = find_run(run_id=run_id, actor=actor_of(request))
    with service_errors_as_messages(request):
        staged = stage_candidate(run_id=run_id, actor=actor_of(request)).staged
        if not staged:
            messages.info(request, _("This is the same as the current text."))
        elif run.post is not None:
            messages.success(request, _("Added to AI Review. The live text has not changed."))
            if not in_dialog(request):
                return HttpResponseRedirect(review_url(run.post, Layer.AI_REVIEW))
    return _to(run_id)


@service_errors_as_http
def revert(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """GET: show what will be reverted. POST: revert it."""
    require(request, "posts.revisions.manage")
    run = find_run(run_id=run_id, actor=actor_of(request))
    if request.method == "POST":
        with service_errors_as_messages(request):
            done = undo_run(run_id=run_id, actor=actor_of(request))
            messages.success(request, sentence_of(done))
        return _to(run_id)
    context = {
        "run": run,
        "agent": agent_name(run.agent_id),
        "back": reverse("admin:agents_app_agentrun_change", args=[run.pk]),
    }
    title = _("Undo a run’s changes")
    return page(request, "admin/agents/revert.html", context, title=title)


def sentence_of(done: UndoneRun) -> str:
    """Describe what was reverted."""
    made = len(done.deleted)
    return sentence_of_numbers(len(done.reverted), len(done.unstaged), len(done.kept), made)


def sentence_of_numbers(reverted: int, unstaged: int, kept: int, made: int = 0) -> str:
    """Describe the numbers of reverted, unstaged and retained changes, and of trashed posts."""
    parts = [
        sentence % {"n": n}
        for n, sentence in (
            (
                reverted,
                ngettext("%(n)d live change undone", "%(n)d live changes undone", reverted),
            ),
            (unstaged, ngettext("%(n)d proposal removed", "%(n)d proposals removed", unstaged)),
            (
                made,
                ngettext(
                    "%(n)d new post moved to trash",
                    "%(n)d new posts moved to trash",
                    made,
                ),
            ),
            (
                kept,
                ngettext(
                    "%(n)d kept because somebody edited it",
                    "%(n)d kept because somebody edited them",
                    kept,
                ),
            ),
        )
        if n
    ]
    return f"{'; '.join(parts) or _('Nothing was left to take back')}."


def _to(run_id: UUID) -> HttpResponse:
    return HttpResponseRedirect(reverse("admin:agents_app_agentrun_change", args=[run_id]))
