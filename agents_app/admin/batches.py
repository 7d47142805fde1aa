"""The admin pages of batches: start one agent on several posts, follow, cancel, retry and revert."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import Count, Q, QuerySet, Sum
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from agents_app.admin.labels import agent_name, format_money, format_tokens
from agents_app.admin.run_dialog.form import (
    RunRefusal,
    asked_agent,
    asked_words,
    choice_context,
    estimate_context,
    for_dialog,
    in_dialog,
    refusal_of,
    selected_agent,
)
from agents_app.admin.runs.actions import sentence_of_numbers
from agents_app.batches.lifecycle import MAX_POSTS, cancel_batch, create_bulk_runs, revert_batch
from agents_app.batches.queries import PostResult, find_batch, progress_of
from agents_app.definitions.agents import agents_for, only_enabled
from agents_app.definitions.schema import Scope
from agents_app.models import UNFINISHED, AgentBatch, RunStatus
from agents_app.models.run import DECLINED, DECLINED_LABEL
from agents_app.runs.labels import translate_activity
from agents_app.runs.retry import retry_run
from agents_app.runs.scopes import visible_batches
from content.models import Layer, Post
from proofroom.core.admin.labels import LabelFilter, badge
from proofroom.core.admin.lists import ListAdmin
from proofroom.core.admin.permissions import (
    actor_of,
    may,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.errors import CmsError
from proofroom.core.i18n import in_words
from proofroom_apps.editorial.posts.extensions import ListAction
from proofroom_apps.editorial.posts.post_pages import page, post_url, review_url

_TITLE: Final = gettext_lazy("Run an agent on several posts")


def choose(request: HttpRequest, ids: Sequence[str]) -> HttpResponse:
    """Show the page that asks which agent to run on these posts."""
    require(request, "agents.edit")
    if len(ids) > MAX_POSTS:
        sentence = ngettext(
            "A batch can have at most %(n)d post. Select fewer.",
            "A batch can have at most %(n)d posts. Select fewer.",
            MAX_POSTS,
        )
        if in_dialog(request):
            return bulk_page(request, (), RunRefusal(problem=sentence % {"n": MAX_POSTS}))
        messages.error(request, sentence % {"n": MAX_POSTS})
        return HttpResponseRedirect(reverse("admin:content_post_changelist"))
    return bulk_page(request, ids, None)


RUN_AGENT: Final = ListAction(
    "run_agent", gettext_lazy("Run an agent on {number}…"), "agents.edit", choose
)


@require_POST
@service_errors_as_http
def bulk(request: HttpRequest) -> HttpResponse:
    """`do=run` starts the batch; any other POST shows the estimate again."""
    require(request, "agents.edit")
    # One more than allowed, so that the service still refuses a list that is too long.
    ids = request.POST.getlist("ids")[: MAX_POSTS + 1]
    if request.POST.get("do") != "run":
        return bulk_page(request, ids, None)
    # A batch is started only with the agent whose estimate the page showed. An agent selected since
    # then is estimated first.
    if request.POST.get("estimated", "") != asked_agent(request):
        sentence = _("You selected another agent. Check the estimated cost, then run it.")
        return bulk_page(request, ids, RunRefusal(problem=sentence))
    try:
        made = create_bulk_runs(
            agent_id=asked_agent(request),
            post_ids=ids,
            actor=actor_of(request),
            open_ended_context=asked_words(request),
        )
    except CmsError as error:
        return bulk_page(request, ids, refusal_of(error))
    return HttpResponseRedirect(reverse("admin:agents_app_agentbatch_change", args=[made.batch.pk]))


def bulk_page(request: HttpRequest, ids: Sequence[str], refused: RunRefusal | None) -> HttpResponse:
    agents = only_enabled(agents_for(Scope.BULK))
    uuids: list[UUID] = []
    for id_ in ids:
        with suppress(ValueError):
            uuids.append(UUID(id_))
    posts = list(Post.objects.alive().filter(pk__in=uuids).order_by("title", "pk"))
    context = {
        **choice_context(request, agents, refused),
        **estimate_context(selected_agent(request, agents), posts, asked_words(request) or ""),
        "posts": posts,
        "ids": [str(post.pk) for post in posts],
        "action": reverse("admin:agents_app_bulk"),
        "back": reverse("admin:content_post_changelist"),
    }
    status = refused.status if refused else 200
    response = page(request, "admin/agents/bulk.html", context, title=str(_TITLE), status=status)
    return for_dialog(request, response, "admin/agents/dialog/bulk.html")


_AGAIN = (RunStatus.FAILED, RunStatus.TIMED_OUT, RunStatus.CANCELLED)


class BatchAgentFilter(LabelFilter):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("Agent")

    def label(self, value: str) -> str:
        return agent_name(value)


@admin.register(AgentBatch)
class AgentBatchAdmin(ListAdmin[AgentBatch]):
    view_permission = "agents.view"
    empty_words = gettext_lazy(
        "A batch runs one agent on many posts. Select posts in the list, then "
        "choose “Run an agent…”."
    )
    list_display = ("agent", "state", "number", "price", "by_name", "created_at")
    list_display_links = ("agent",)
    list_filter = (("agent_id", BatchAgentFilter),)
    list_per_page = 50
    # Saves a second COUNT for each filtered list.
    show_full_result_count = False
    ordering = ("-created_at", "pk")

    def get_queryset(self, request: HttpRequest) -> QuerySet[AgentBatch]:
        actor = actor_of(request)
        found = visible_batches(super().get_queryset(request), actor, actor.user.pk)
        return found.defer("reverted", "rejected", "estimate").annotate(
            posts=Count("runs__post", distinct=True),
            unfinished=Count("runs", filter=Q(runs__status__in=UNFINISHED)),
            spent=Sum("runs__cost"),
        )

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {"title": _("Batches"), **(extra_context or {})})

    @admin.display(description=gettext_lazy("Agent"), ordering="agent_id")
    def agent(self, batch: AgentBatch) -> str:
        return agent_name(batch.agent_id)

    @admin.display(description=gettext_lazy("Status"))
    def state(self, batch: AgentBatch) -> SafeString:
        name, label = batch_state(batch, is_finished=not getattr(batch, "unfinished", 0))
        return badge(name, label)

    @admin.display(description=gettext_lazy("Posts"))
    def number(self, batch: AgentBatch) -> int:
        return int(getattr(batch, "posts", 0))

    @admin.display(description=gettext_lazy("Cost"))
    def price(self, batch: AgentBatch) -> str:
        return format_money(getattr(batch, "spent", None)) or "—"

    def get_urls(self) -> list[URLPattern]:
        def wrap(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        own = [
            path("<uuid:batch_id>/change/", wrap(show), name="agents_app_agentbatch_change"),
            path("<uuid:batch_id>/cancel/", wrap(cancel), name="agents_app_batch_cancel"),
            path("<uuid:batch_id>/again/", wrap(again), name="agents_app_batch_again"),
            path("<uuid:batch_id>/revert/", wrap(revert), name="agents_app_batch_revert"),
        ]
        listed = "agents_app_agentbatch_changelist"
        return own + [url for url in super().get_urls() if url.name == listed]


def batch_state(batch: AgentBatch, *, is_finished: bool) -> tuple[str, str]:
    if batch.reverted_at is not None:
        return "archived", _("Undone")
    if batch.revert_asked_at is not None:
        return "running", _("Undoing")
    if not is_finished:
        return "running", _("Running")
    if batch.cancelled_at is not None:
        return "cancelled", _("Cancelled")
    return "succeeded", _("Finished")


@dataclass(frozen=True, slots=True)
class BatchResultRow:
    """The result of one post. `undone` describes what the revert did."""

    result: PostResult
    status: str
    status_label: str
    doing: str
    run_url: str
    post_url: str
    review_url: str
    undone: str
    undone_problem: str
    may_go_again: bool


@service_errors_as_http
def show(request: HttpRequest, batch_id: UUID) -> HttpResponse:
    """Show the progress of a batch and the result of each post."""
    require(request, "agents.view")
    batch = find_batch(batch_id=batch_id, actor=actor_of(request))
    progress = progress_of(batch)
    may_act = may(request, "agents.edit")
    name, label = batch_state(batch, is_finished=progress.is_finished)
    lines = [describe_result(batch, result, may_act=may_act) for result in progress.results]
    is_reverting = batch.revert_asked_at is not None and batch.reverted_at is None
    may_revert = may_act and may(request, "posts.revisions.manage")
    context = {
        "batch": batch,
        "agent": agent_name(batch.agent_id),
        "state": name,
        "state_label": label,
        "progress": progress,
        "failed": sum(progress.by_status.get(status, 0) for status in _AGAIN),
        "proposed": sum(result.staged for result in progress.results),
        "used": format_tokens(progress.input_tokens + progress.output_tokens),
        "price": format_money(progress.cost),
        "lines": lines,
        "is_busy": not progress.is_finished or is_reverting,
        "may_cancel": may_act and not progress.is_finished,
        "may_revert": may_revert and progress.is_finished and batch.reverted_at is None,
        "again": [line for line in lines if line.may_go_again],
    }
    return page(
        request,
        "admin/agents/batch.html",
        context,
        title=_("%(agent)s: batch") % {"agent": context["agent"]},
    )


def describe_result(batch: AgentBatch, result: PostResult, *, may_act: bool) -> BatchResultRow:
    undone = batch.reverted.get(str(result.run_id)) or {}
    numbers = [len(undone.get(name) or ()) for name in ("reverted", "unstaged", "kept")]
    is_there = bool(result.post_id and result.title)
    is_undone = bool(undone) and not undone.get("error")
    waits = is_there and result.staged and not is_undone
    return BatchResultRow(
        result,
        DECLINED if result.is_declined else result.status,
        in_words(str(DECLINED_LABEL if result.is_declined else RunStatus(result.status).label)),
        translate_activity(result.doing),
        reverse("admin:agents_app_agentrun_change", args=[result.run_id]),
        post_url("change", str(result.post_id)) if is_there else "",
        review_url(str(result.post_id), Layer.AI_REVIEW) if waits else "",
        sentence_of_numbers(*numbers) if is_undone else "",
        str(undone.get("error") or ""),
        may_act and is_there and result.status in _AGAIN,
    )


@require_POST
@service_errors_as_http
def cancel(request: HttpRequest, batch_id: UUID) -> HttpResponse:
    """Cancel all unfinished runs of the batch."""
    require(request, "agents.edit")
    with service_errors_as_messages(request):
        cancel_batch(batch_id=batch_id, actor=actor_of(request))
        messages.success(
            request, _("Cancelled. Runs that had not finished will not propose anything.")
        )
    return redirect_to_batch(batch_id)


@require_POST
@service_errors_as_http
def again(request: HttpRequest, batch_id: UUID) -> HttpResponse:
    """Retry the failed runs: the one in `run`, or all."""
    require(request, "agents.edit")
    batch = find_batch(batch_id=batch_id, actor=actor_of(request))
    wanted = request.POST.get("run", "")
    failed = [one for one in progress_of(batch).results if one.status in _AGAIN]
    begun = 0
    for result in failed:
        if wanted not in ("", str(result.run_id)):
            continue
        try:
            retry_run(run_id=result.run_id, actor=actor_of(request))
            begun += 1
        except CmsError as error:
            messages.error(request, f"{result.title}: {error.message}")
    if begun:
        message = ngettext("Restarted %(n)d run.", "Restarted %(n)d runs.", begun)
        messages.success(request, message % {"n": begun})
    return redirect_to_batch(batch_id)


@service_errors_as_http
def revert(request: HttpRequest, batch_id: UUID) -> HttpResponse:
    """GET: show what will be reverted. POST: start the revert."""
    require(request, "posts.revisions.manage")
    require(request, "agents.edit")
    batch = find_batch(batch_id=batch_id, actor=actor_of(request))
    if request.method == "POST":
        with service_errors_as_messages(request):
            revert_batch(batch_id=batch_id, actor=actor_of(request))
            messages.success(request, _("Undoing this batch, one post at a time."))
        return redirect_to_batch(batch_id)
    agent = agent_name(batch.agent_id)
    back = reverse("admin:agents_app_agentbatch_change", args=[batch.pk])
    context = {"batch": batch, "agent": agent, "back": back, "posts": progress_of(batch).total}
    return page(request, "admin/agents/revert.html", context, title=_("Undo a batch"))


def redirect_to_batch(batch_id: UUID) -> HttpResponse:
    return HttpResponseRedirect(reverse("admin:agents_app_agentbatch_change", args=[batch_id]))
