"""Trying an agent out on a post: the page, and the dialog over the page of the agent."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from agents_app.admin.run_dialog.form import (
    asked_words,
    begin,
    begins,
    choice_context,
    estimate_context,
    for_dialog,
)
from agents_app.admin.run_dialog.global_run import chosen_post, posts_to_choose
from agents_app.definitions.status import find_agent
from agents_app.runs.dry_run import dry_run_scope, start_dry_run
from content.admin.pages import page
from core.admin.rights import actor_of, answers_refusals, require


@answers_refusals
def try_out(request: HttpRequest, agent_id: str) -> HttpResponse:
    """GET asks on which post; POST begins a dry run."""
    require(request, "agents.edit")
    found = find_agent(agent_id=agent_id, actor=actor_of(request))
    definition = found.definition
    refused = None
    if begins(request):
        answer = begin(
            lambda: start_dry_run(
                agent_id=agent_id,
                post_id=request.POST.get("post", ""),
                actor=actor_of(request),
                open_ended_context=asked_words(request),
            )
        )
        if isinstance(answer, HttpResponse):
            return answer
        refused = answer
    own = chosen_post(request)
    posts = posts_to_choose(own)
    context = {
        **choice_context(request, [definition], refused),
        **estimate_context(definition, [own] if own else [], asked_words(request) or ""),
        "posts": posts,
        "is_off": not found.is_enabled,
        "is_possible": dry_run_scope(definition) is not None,
        "action": reverse("admin:agents_app_try", args=[agent_id]),
        "back": reverse("admin:agents_app_agentswitch_change", args=[agent_id]),
        "agent_name": definition.name,
        "is_trial": True,
    }
    shown = page(
        request,
        "admin/agents/try.html",
        context,
        title=_("Try out: %(agent)s") % {"agent": definition.name},
        status=refused.status if refused else 200,
    )
    return for_dialog(request, shown, "admin/agents/dialog/try.html")
