"""Agents in the admin: which there are, what their files say, on and off."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from agents_app.definitions.files import catalogue
from agents_app.definitions.reactions import Reaction
from agents_app.definitions.reading import Account, Agent, Answering, agents, find_agent, place_of
from agents_app.definitions.schema import AgentDefinition, Scope, ScopeEntry
from agents_app.definitions.switches import switch_agent
from agents_app.models import AgentRun, AgentSwitch
from agents_app.settings.providers import NAMES
from core.admin.forms import form_page
from core.admin.rights import PermittedAdmin, actor_of, answers_refusals, may, require

_VIEW: Final = "agents.view"
_EDIT: Final = "agents.edit"
_NAME: Final = "agents_app_agentswitch"
_LATEST: Final = 10
_SCOPES: Final = {
    Scope.DROPDOWN: "In the editor",
    Scope.GLOBAL: "Anywhere",
    Scope.FIELD: "At fields",
    Scope.BULK: "On many posts",
    Scope.PUBLISH: "When published",
    Scope.APPROVE: "When changes go live",
    Scope.REVIEW_SAVE: "When Review is saved",
    Scope.REVIEW_APPROVE: "When Review is approved",
    Scope.AI_REVIEW_SAVE: "When an agent proposes",
    Scope.AI_REVIEW_APPROVE: "When proposals go to Review",
    Scope.CREATE_TRANSLATION: "When a translation is made",
    Scope.FORM_SUBMIT: "When a form is sent",
}
_ACCOUNTS: Final = {
    "own": "Its own account",
    "shared": "The account of the system",
    "off": "Its account is switched off: it can write nothing",
    "missing": "Its account is made with its first run",
}


@admin.register(AgentSwitch)
class AgentAdmin(PermittedAdmin[AgentSwitch]):
    """The list is of the files, not of the rows that people's switches leave."""

    view_permission = _VIEW

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require(request, _VIEW)
        found = catalogue()
        context = {
            "rows": [_row(item) for item in agents()],
            "problems": [(place_of(item.file), item) for item in found.problems],
            "may_edit": may(request, _EDIT),
        }
        return form_page(request, "admin/agents/list.html", AgentSwitch, context, title="Agents")

    def get_urls(self) -> list[URLPattern]:
        def wrap(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        own = [
            path("<slug:agent_id>/change/", wrap(show), name=f"{_NAME}_change"),
            path("<slug:agent_id>/switch/", wrap(switch), name=f"{_NAME}_switch"),
        ]
        return own + [url for url in super().get_urls() if url.name == f"{_NAME}_changelist"]


@dataclass(frozen=True, slots=True)
class _Where:
    """One scope of an agent, in words."""

    label: str
    limits: str
    order: int
    is_on: bool


def _row(found: Agent) -> dict[str, Any]:
    return {
        "agent": found.definition,
        "scopes": [_where(entry) for entry in found.definition.scopes],
        "where": [_SCOPES[entry.scope] for entry in found.definition.scopes if entry.enabled],
        "text": _said(found.text),
        "media": _said(found.media) if found.media else "",
        "problem": found.text.problem or (found.media.problem if found.media else ""),
        "doubts": found.doubts,
        "account": _ACCOUNTS[found.account.state],
        "account_is_off": found.account.state == "off",
        "is_enabled": found.is_enabled,
        "state": _badge(*(("succeeded", "On") if found.is_enabled else ("archived", "Off"))),
        "last": found.last,
        "last_badge": _run_badge(found.last) if found.last else "",
    }


def _where(entry: ScopeEntry) -> _Where:
    limits = ", ".join((*entry.field_types, *entry.field_keys, *entry.form_slugs))
    return _Where(_SCOPES[entry.scope], limits, entry.order, entry.enabled)


def _said(answering: Answering) -> str:
    if answering.is_demo:
        return NAMES[answering.provider]
    name = NAMES.get(answering.provider, answering.provider).partition(",")[0]
    return f"{name} {answering.model}".strip() or "Nobody"


def _badge(look: str, text: str) -> SafeString:
    return format_html('<span class="badge badge-{}">{}</span>', look, text)


def _run_badge(run: AgentRun) -> SafeString:
    return _badge(run.status, run.get_status_display())


@answers_refusals
def show(request: HttpRequest, agent_id: str) -> HttpResponse:
    """One agent: its file, who would answer, what it did last. Its prompt only for whoever may switch it."""
    require(request, _VIEW)
    found = find_agent(agent_id=agent_id, actor=actor_of(request))
    definition = found.definition
    runs = AgentRun.objects.filter(agent_id=agent_id).select_related("post")
    latest = runs.defer("context", "value").order_by("-created_at", "pk")[:_LATEST]
    may_edit = may(request, _EDIT)
    facts = _row(found)
    context = {
        **facts,
        "facts": facts,
        "file": found.defined_in,
        "tools": found.tools,
        "uses_tools": definition.llm_config.use_mcp,
        "username": _username(found.account),
        "options": _options(definition),
        "reactions": [_reaction(item) for item in definition.reactions],
        "prompt": definition.llm_config.system_prompt if may_edit else "",
        "may_edit": may_edit,
        "runs": [(run, _run_badge(run)) for run in latest],
        "runs_url": reverse("admin:agents_app_agentrun_changelist") + f"?agent_id={agent_id}",
    }
    template = "admin/agents/agent.html"
    return form_page(request, template, AgentSwitch, context, title=definition.name)


def _username(account: Account) -> str:
    return account.username if account.user_id is not None else ""


def _options(definition: AgentDefinition) -> list[tuple[str, str]]:
    """What else its file sets, in words. Never the key; that it has one of its own is told."""
    config, words = definition.llm_config, definition.open_ended_context
    most = f", at most {words.max_chars:,} characters" if words.max_chars else ""
    found = [
        ("Words of your own", f"{words.label or 'Yes'}{most}" if words.enabled else ""),
        (
            "Temperature",
            "" if config.options.temperature is None else f"{config.options.temperature:g}",
        ),
        (
            "Longest answer",
            f"{config.options.max_tokens:,} tokens" if config.options.max_tokens else "",
        ),
        ("API key", "Its file has one of its own" if config.api_key else ""),
    ]
    return [(name, text) for name, text in found if text]


def _reaction(item: Reaction) -> dict[str, str]:
    """A reaction in words: of an address only its host."""
    if item.type == "mcp_tool":
        target = item.config.tool_name
    elif item.type == "webhook":
        target = urlsplit(item.config.url).hostname or ""
    else:
        target = urlsplit(item.config.webhook_url or "").hostname or "CHAT_WEBHOOK_URL"
    condition = ""
    if item.condition is not None:
        value = json.dumps(item.condition.value, ensure_ascii=False)
        condition = f"{item.condition.field} {item.condition.operator.replace('_', ' ')} {value}"
    return {
        "type": {"webhook": "Webhook", "chat": "Chat", "mcp_tool": "Tool"}[item.type],
        "target": target,
        "when": item.trigger.replace("_", " "),
        "condition": condition,
    }


@require_POST
@answers_refusals
def switch(request: HttpRequest, agent_id: str) -> HttpResponse:
    """Switch it on or off, whatever its file says."""
    require(request, _EDIT)
    wanted = request.POST.get("enabled")
    if wanted not in ("1", "0"):
        raise Http404("An agent is switched on (1) or off (0).")
    switch_agent(agent_id=agent_id, enabled=wanted == "1", actor=actor_of(request))
    found = find_agent(agent_id=agent_id, actor=actor_of(request))
    said = "is on." if found.is_enabled else "is off. Runs that still waited fail and say so."
    messages.success(request, f"{found.definition.name} {said}")
    if request.POST.get("to") == "list":
        return HttpResponseRedirect(reverse(f"admin:{_NAME}_changelist"))
    return HttpResponseRedirect(reverse(f"admin:{_NAME}_change", args=[agent_id]))
