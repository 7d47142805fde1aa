"""What people do with runs in the admin: begin, cancel, try again, choose an answer, take back."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from agents_app.admin.choosing import Refused, asked_words, begin
from agents_app.admin.wording import agent_name
from agents_app.definitions.schema import Scope
from agents_app.runs.cancelling import cancel_run
from agents_app.runs.candidates import stage_candidate
from agents_app.runs.finding import find_run
from agents_app.runs.retry import retry_run
from agents_app.runs.starting import PERMISSIONS, create_run
from agents_app.runs.undo import Undone, undo_run
from content.admin.pages import find_post, page, post_url, review_url
from content.models import Layer
from core.admin.rights import actor_of, answers_refusals, refusals_as_messages, require


@require_POST
@answers_refusals
def start(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Begin a run of the agent that was picked in the dropdown."""
    require(request, "agents.dropdown")
    post = find_post(post_id)
    answer = begin(
        lambda: create_run(
            agent_id=request.POST.get("agent", ""),
            scope=Scope.DROPDOWN,
            actor=actor_of(request),
            post_id=post.pk,
            open_ended_context=asked_words(request),
        )
    )
    if isinstance(answer, Refused):
        messages.error(request, answer.problem or answer.words)
        return HttpResponseRedirect(post_url("change", post))
    return answer


@require_POST
@answers_refusals
def cancel(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Stop a run that is not finished."""
    require(request, *PERMISSIONS.values())
    with refusals_as_messages(request):
        cancel_run(run_id=run_id, actor=actor_of(request))
        messages.success(request, "The run is cancelled; it stages nothing any more.")
    return _to(run_id)


@require_POST
@answers_refusals
def retry(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The same once more, with a note on what to do otherwise."""
    note = request.POST.get("note", "").strip()
    answer = begin(lambda: retry_run(run_id=run_id, actor=actor_of(request), note=note))
    if isinstance(answer, Refused):
        messages.error(request, answer.problem or answer.words)
        return _to(run_id)
    return answer


@require_POST
@answers_refusals
def use(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Stage the answer of a field's run in AI Review."""
    require(request, "agents.field")
    run = find_run(run_id=run_id, actor=actor_of(request))
    with refusals_as_messages(request):
        staged = stage_candidate(run_id=run_id, actor=actor_of(request)).staged
        if not staged:
            messages.info(request, "It is what stands there already.")
        elif run.post is not None:
            messages.success(request, "It waits in AI Review now. The live text is as it was.")
            return HttpResponseRedirect(review_url(run.post, Layer.AI_REVIEW))
    return _to(run_id)


@answers_refusals
def revert(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """GET says what will be taken back, POST does it."""
    require(request, "posts.revisions.manage")
    run = find_run(run_id=run_id, actor=actor_of(request))
    if request.method == "POST":
        with refusals_as_messages(request):
            done = undo_run(run_id=run_id, actor=actor_of(request))
            messages.success(request, sentence_of(done))
        return _to(run_id)
    context = {
        "run": run,
        "agent": agent_name(run.agent_id),
        "back": reverse("admin:agents_app_agentrun_change", args=[run.pk]),
    }
    return page(request, "admin/agents/revert.html", context, title="Take back what a run brought")


def sentence_of(done: Undone) -> str:
    """What was taken back, in words."""
    made = len(done.deleted)
    return sentence_of_numbers(len(done.reverted), len(done.unstaged), len(done.kept), made)


def sentence_of_numbers(reverted: int, unstaged: int, kept: int, made: int = 0) -> str:
    """How many changes went, how many people's later changes kept, and how many posts were only its own."""
    counted = (
        (reverted, "{n} live change is taken back", "{n} live changes are taken back"),
        (unstaged, "{n} proposal is gone", "{n} proposals are gone"),
        (made, "{n} post that it made is in the trash", "{n} posts that it made are in the trash"),
        (kept, "{n} stays, since people changed it", "{n} stay, since people changed them"),
    )
    parts = [ngettext(one, many, n).format(n=n) for n, one, many in counted if n]
    return f"{'; '.join(parts) or 'Nothing was left to take back'}."


def _to(run_id: UUID) -> HttpResponse:
    return HttpResponseRedirect(reverse("admin:agents_app_agentrun_change", args=[run_id]))
