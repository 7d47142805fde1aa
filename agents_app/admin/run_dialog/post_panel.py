"""Agents on the pages of a post: the dropdown, the tab of runs, and the descriptions of runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from agents_app.admin.labels import agent_name, format_money, is_demo, model_label
from agents_app.admin.run_dialog.form import enabled_on
from agents_app.definitions.agents import agents_for, translators
from agents_app.definitions.schema import Scope
from agents_app.models import AgentRun, RunStatus
from agents_app.runs.scopes import visible_runs
from content.models import Post
from proofroom.core.admin.permissions import actor_of, may
from proofroom.core.content_scope import reading_scopes
from proofroom_apps.editorial.posts.extensions import PostPanel, PostTab, RunView

_LATEST = 3
_AGENT_ACCOUNT: Final = "agent:"


def agent_panel(request: HttpRequest, post: Post) -> PostPanel:
    """Return the dropdown of agents for a post, with the latest runs."""
    if not may(request, "agents.dropdown", post):
        return PostPanel("agents", SafeString(""))
    agents = enabled_on(request, agents_for(Scope.DROPDOWN))
    actor = actor_of(request)
    runs = visible_runs(AgentRun.objects.filter(post=post), actor, actor.user.pk)
    latest = list(runs.defer("context", "value")[:_LATEST])
    start_url = reverse("admin:agents_app_run_start", args=[post.pk])
    context = {
        "agents": [(agent, f"{start_url}?{urlencode({'agent': agent.id})}") for agent in agents],
        "latest": [(run, agent_name(run.agent_id)) for run in latest],
        "start_url": start_url,
        "rehearsal_url": f"{reverse('admin:agents_app_rehearsal')}?post={post.pk}"
        if may(request, "agents.view")
        else "",
        "runs_url": reverse("admin:agents_app_agentrun_changelist") + f"?post__id__exact={post.pk}",
    }
    return PostPanel("agents", render_to_string("admin/agents/panel.html", context, request))


def agent_tabs(request: HttpRequest, post: Post) -> Iterable[PostTab]:
    if may(request, "agents.view"):
        url = reverse("admin:agents_app_agentrun_changelist") + f"?post__id__exact={post.pk}"
        yield PostTab("runs", _("AI activity"), url)


def describe_runs(request: HttpRequest, ids: Iterable[str]) -> Mapping[str, RunView]:
    """Describe the runs for a review. One query; two if the user's content scope is limited."""
    wanted: list[UUID] = []
    for id_ in ids:
        with suppress(ValueError):
            wanted.append(UUID(id_))
    openable = set(wanted) if may(request, "agents.view") else set()
    actor = actor_of(request)
    if openable and reading_scopes(actor):
        seen = visible_runs(AgentRun.objects.filter(pk__in=wanted), actor, actor.user.pk)
        openable = set(seen.values_list("pk", flat=True))
    rows = AgentRun.objects.filter(pk__in=wanted).only(
        *("pk", "agent_id", "provider", "model", "by_name", "cost", "status", "error"),
        "has_read_untrusted",
    )
    return {
        str(run.pk): RunView(
            url=reverse("admin:agents_app_agentrun_change", args=[run.pk])
            if run.pk in openable
            else "",
            agent=agent_name(run.agent_id),
            model=model_label(run),
            by=_starter(run.by_name),
            is_demo=is_demo(run),
            cost=format_money(run.cost),
            problem=(run.error or str(run.get_status_display()))
            if run.is_finished and run.status != RunStatus.SUCCEEDED
            else "",
            has_read_untrusted=run.has_read_untrusted,
        )
        for run in rows
    }


def _starter(name: str) -> str:
    """Return who started a run. An agent is called by its name, not by its account's."""
    agent_id = name.removeprefix(_AGENT_ACCOUNT)
    return name if agent_id == name else agent_name(agent_id)


def translation_run_url(request: HttpRequest, post: Post) -> str:
    """Return the URL of the dialog with the first translating agent selected. No query of its own."""
    if post.translated_from_id is None or not may(request, "agents.dropdown", post):
        return ""
    agents = enabled_on(request, translators())
    url = reverse("admin:agents_app_run_start", args=[post.pk])
    return f"{url}?{urlencode({'agent': agents[0].id})}" if agents else ""
