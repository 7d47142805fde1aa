"""The admin pages of agents: list, definition file, switch, content limit, and a dry run on a post."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from agents_app.admin.agents.data_flows import show_data_flows
from agents_app.admin.agents.definition_labels import (
    begin_of_month,
    options_of,
    provider_and_model_label,
    rate_of,
    reaction_of,
    row_of,
    username_of,
)
from agents_app.admin.agents.rehearsal_page import show_rehearsal
from agents_app.admin.labels import state_badge
from agents_app.admin.prompt_versions import show_prompt, versions_context
from agents_app.admin.quality.versions_page import agent_versions, version_facts
from agents_app.admin.run_dialog.form import (
    asked_words,
    begin,
    begins,
    choice_context,
    estimate_context,
    for_dialog,
)
from agents_app.admin.run_dialog.start import chosen_post, posts_to_choose
from agents_app.agent_status import agents, find_agent, place_of
from agents_app.definitions.agents import catalogue, limit_agent, scope_of_agent, switch_agent
from agents_app.models import AgentRun, AgentSwitch
from agents_app.runs.creation import dry_run_scope, start_dry_run
from agents_app.runs.labels import tool_label
from agents_app.runs.prompt import stored_instructions
from agents_app.runs.queries import acceptance_rates
from agents_app.runs.scopes import visible_runs
from proofroom.accounts.admin.limit_page import limit_page
from proofroom.accounts.scope_words import describe_scope
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.permissions import (
    PermittedAdmin,
    actor_of,
    may,
    require,
    service_errors_as_http,
)
from proofroom_apps.editorial.posts.post_pages import page

_VIEW: Final = "agents.view"
_EDIT: Final = "agents.edit"
_NAME: Final = "agents_app_agentswitch"
_LATEST: Final = 10


@admin.register(AgentSwitch)
class AgentAdmin(PermittedAdmin[AgentSwitch]):
    """The list shows the definition files; the model's rows are only the on/off switches."""

    view_permission = _VIEW

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require(request, _VIEW)
        found = catalogue()
        rates = acceptance_rates(begin_of_month(), actor_of(request))
        context = {
            "rows": [
                row_of(item) | {"rate": rate_of(rates, item)} for item in agents(actor_of(request))
            ],
            "problems": [(place_of(item.file), item) for item in found.problems],
            "may_edit": may(request, _EDIT),
        }
        return form_page(request, "admin/agents/list.html", AgentSwitch, context, title=_("Agents"))

    def get_urls(self) -> list[URLPattern]:
        def wrap(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        own = [
            path("rehearsal/", wrap(show_rehearsal), name="agents_app_rehearsal"),
            path("data-flows/", wrap(show_data_flows), name="agents_app_data_flows"),
            path("<slug:agent_id>/change/", wrap(show), name=f"{_NAME}_change"),
            path("<slug:agent_id>/limit/", wrap(limit), name=f"{_NAME}_limit"),
            path("<slug:agent_id>/switch/", wrap(switch), name=f"{_NAME}_switch"),
            path("<slug:agent_id>/versions/", wrap(agent_versions), name="agents_app_versions"),
            path("<slug:agent_id>/try/", wrap(try_out), name="agents_app_try"),
            path(
                "<slug:agent_id>/prompts/<slug:digest>/",
                wrap(show_prompt),
                name="agents_app_prompt",
            ),
        ]
        # Only the list of Django's pages is used: there are no rows to add, change or delete.
        return own + [url for url in super().get_urls() if url.name == f"{_NAME}_changelist"]


@service_errors_as_http
def show(request: HttpRequest, agent_id: str) -> HttpResponse:
    """Show an agent: its file, provider, and latest runs. The prompt is shown only with `agents.edit`."""
    require(request, _VIEW)
    found = find_agent(agent_id=agent_id, actor=actor_of(request))
    definition = found.definition
    actor = actor_of(request)
    seen = visible_runs(AgentRun.objects.all(), actor, actor.user.pk)
    runs = seen.filter(agent_id=agent_id).select_related("post")
    # Both columns can be large, and the list shows neither.
    latest = runs.defer("context", "value").order_by("-created_at", "pk")[:_LATEST]
    may_edit = may(request, _EDIT)
    facts = row_of(found)
    context = {
        **facts,
        "facts": facts,
        "file": found.defined_in,
        "tools": [(tool_label(name), name) for name in found.tools],
        "rate": rate_of(acceptance_rates(begin_of_month(), actor_of(request)), found),
        **versions_context(agent_id),
        **version_facts(found),
        "challenger_text": provider_and_model_label(found.challenger) if found.challenger else "",
        "quality_url": f"{reverse('admin:quality')}?agent={agent_id}"
        if may(request, "quality.view")
        else "",
        "uses_tools": definition.llm_config.use_mcp,
        "username": username_of(found.account),
        "options": options_of(definition),
        "reactions": [reaction_of(item) for item in definition.reactions],
        "prompt": stored_instructions(definition) if may_edit else "",
        "may_edit": may_edit,
        "limits": describe_scope(scope_of_agent(agent_id), actor_of(request)),
        "runs": [(run, state_badge(run)) for run in latest],
        "runs_url": reverse("admin:agents_app_agentrun_changelist") + f"?agent_id={agent_id}",
    }
    template = "admin/agents/agent.html"
    return form_page(request, template, AgentSwitch, context, title=definition.name)


@service_errors_as_http
def limit(request: HttpRequest, agent_id: str) -> HttpResponse:
    """Show and save the content the agent is limited to."""
    require(request, _EDIT)
    actor = actor_of(request)
    found = find_agent(agent_id=agent_id, actor=actor)
    return limit_page(
        request,
        "admin/agents/limit.html",
        AgentSwitch,
        name=found.definition.name,
        scope=scope_of_agent(agent_id),
        limit=lambda scope: limit_agent(agent_id=agent_id, scope=scope, actor=actor),
        back=reverse(f"admin:{_NAME}_change", args=[agent_id]),
        context={"agent": found.definition},
    )


@require_POST
@service_errors_as_http
def switch(request: HttpRequest, agent_id: str) -> HttpResponse:
    """Turn the agent on or off, overriding its file."""
    require(request, _EDIT)
    wanted = request.POST.get("enabled")
    if wanted not in ("1", "0"):
        raise Http404(_("Send 1 to turn the agent on, or 0 to turn it off."))
    switch_agent(agent_id=agent_id, enabled=wanted == "1", actor=actor_of(request))
    found = find_agent(agent_id=agent_id, actor=actor_of(request))
    message = (
        _("Turned on %(agent)s.")
        if found.is_enabled
        else _("Turned off %(agent)s. Its queued runs will fail.")
    )
    messages.success(request, message % {"agent": found.definition.name})
    if request.POST.get("to") == "list":
        return HttpResponseRedirect(reverse(f"admin:{_NAME}_changelist"))
    return HttpResponseRedirect(reverse(f"admin:{_NAME}_change", args=[agent_id]))


@service_errors_as_http
def try_out(request: HttpRequest, agent_id: str) -> HttpResponse:
    """GET: choose a post. POST: start a dry run."""
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
    posts = posts_to_choose(own, actor_of(request))
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
    response = page(
        request,
        "admin/agents/try.html",
        context,
        title=_("Test %(agent)s") % {"agent": definition.name},
        status=refused.status if refused else 200,
    )
    return for_dialog(request, response, "admin/agents/dialog/try.html")
