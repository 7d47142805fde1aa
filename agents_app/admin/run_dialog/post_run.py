"""The page, and the dialog over the editor, that start an agent of the dropdown on one post."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from agents_app.admin.run_dialog.form import (
    asked_agent,
    asked_words,
    begin,
    begins,
    choice_context,
    chosen_of,
    estimate_context,
    for_dialog,
)
from agents_app.definitions.files import agents_for
from agents_app.definitions.schema import Scope
from agents_app.definitions.switches import only_enabled
from agents_app.runs.creation import create_run
from proofroom.core.admin.permissions import actor_of, answers_refusals, require
from proofroom.editorial.posts.post_pages import post_page, post_url, read


@answers_refusals
def start(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """GET shows the agents, `?agent=` with one of them chosen; POST begins a run."""
    require(request, "agents.dropdown")
    post, layers = read(post_id)
    refused = None
    if begins(request):
        answer = begin(
            lambda: create_run(
                agent_id=asked_agent(request),
                scope=Scope.DROPDOWN,
                actor=actor_of(request),
                post_id=post.pk,
                open_ended_context=asked_words(request),
            )
        )
        if isinstance(answer, HttpResponse):
            return answer
        refused = answer
    agents = only_enabled(agents_for(Scope.DROPDOWN))
    context = {
        **choice_context(request, agents, refused),
        **estimate_context(chosen_of(request, agents), [post], asked_words(request) or ""),
        "action": reverse("admin:agents_app_run_start", args=[post.pk]),
        "back": post_url("change", post),
        "waiting": len(layers.ai_review.changes),
        "hides_ask": True,
    }
    shown = post_page(
        request,
        "admin/agents/start.html",
        post,
        layers,
        context,
        title=_("Run an agent"),
        tab="",
        status=refused.status if refused else 200,
    )
    return for_dialog(request, shown, "admin/agents/dialog/start.html")
