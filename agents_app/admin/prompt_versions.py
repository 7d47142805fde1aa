"""The versions of an agent's prompt: the current one, earlier ones, and the one a run used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from agents_app.admin.labels import agent_name, tokens_of_answer
from agents_app.definitions.agents import get_agent
from agents_app.models import AgentRun
from agents_app.runs.labels import tool_label
from agents_app.runs.prompt import (
    get_prompt_version,
    prompt_version,
    prompt_versions,
    stored_instructions,
)
from content.document.differences import Segment, diff_text
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom_apps.editorial.posts.post_pages import page

_PERMISSION: Final = "agents.edit"
_EARLIER: Final = 20


def prompt_url(request: HttpRequest, agent_id: str, digest: str) -> str:
    """Return the URL of a version; empty without the permission to read prompts or without a version."""
    if not digest or not may(request, _PERMISSION):
        return ""
    return reverse("admin:agents_app_prompt", args=[agent_id, digest])


def present_version(agent_id: str) -> str:
    """Return the current version of the agent's prompt; empty if its file is gone."""
    agent = get_agent(agent_id)
    return prompt_version(agent) if agent else ""


def run_prompt_context(request: HttpRequest, run: AgentRun) -> dict[str, Any]:
    """Return the prompt's part of the page of a run. No query."""
    return {
        "prompt_version": run.prompt_version,
        "prompt_url": prompt_url(request, run.agent_id, run.prompt_version),
        "prompt_is_old": bool(run.prompt_version)
        and run.prompt_version != present_version(run.agent_id),
    }


def versions_context(agent_id: str) -> dict[str, Any]:
    """Return the versions listed on the page of an agent. One query."""
    # The texts of all versions can be large, and the list does not show them.
    rows = prompt_versions(agent_id).only("digest", "agent_id", "created_at")[: _EARLIER + 1]
    present = present_version(agent_id)
    return {
        "version": present,
        "version_is_kept": any(row.digest == present for row in rows),
        "earlier_versions": [row for row in rows if row.digest != present][:_EARLIER],
    }


def changed_prompt(request: HttpRequest, first: AgentRun, second: AgentRun) -> dict[str, Any]:
    """Return the differences between the prompts of two runs of an agent. One query at most."""
    digests = (first.prompt_version, second.prompt_version)
    if not all(digests) or digests[0] == digests[1]:
        return {}
    found: dict[str, Any] = {"prompt_changed": True}
    if may(request, _PERMISSION):
        texts = prompt_versions(first.agent_id).in_bulk(digests)
        if len(texts) == len(digests):
            found["prompt_change"] = diff_instructions(
                texts[digests[0]].instructions, texts[digests[1]].instructions
            )
    return found


@require_GET
@service_errors_as_http
def show_prompt(request: HttpRequest, agent_id: str, digest: str) -> HttpResponse:
    """Show one version: its text, options, and the difference to the current one."""
    require(request, _PERMISSION)
    row = get_prompt_version(agent_id=agent_id, digest=digest, actor=actor_of(request))
    present = present_version(agent_id)
    runs = AgentRun.objects.filter(agent_id=agent_id, prompt_version=digest)
    # Compare this version with the current file.
    agent = get_agent(row.agent_id)
    since: Sequence[Segment] = ()
    if agent is not None and row.digest != present:
        since = diff_instructions(row.instructions, stored_instructions(agent))
    context = {
        "row": row,
        "agent": agent_name(agent_id),
        "agent_url": reverse("admin:agents_app_agentswitch_change", args=[agent_id]),
        "agent_is_there": bool(present),
        "is_present": digest == present,
        "tools": [(tool_label(name), name) for name in row.tools],
        "temperature": row.options.get("temperature"),
        "longest": tokens_of_answer(row.options.get("maxTokens")),
        "runs": runs.count(),
        "runs_url": reverse("admin:agents_app_agentrun_changelist")
        + f"?agent_id={agent_id}&prompt={digest}",
        "since": since,
    }
    title = _("Prompt version %(version)s") % {"version": digest}
    answer = page(request, "admin/agents/prompt.html", context, title=title)
    # Prompts are readable with `agents.edit` only, so no cache may store the page.
    answer["Cache-Control"] = "no-store"
    return answer


def diff_instructions(before: str, after: str) -> Sequence[Segment]:
    return () if before == after else diff_text(before, after)
