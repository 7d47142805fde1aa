"""The form shared by all pages that start an agent: agents, instructions, estimate, dialog frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from pydantic import BaseModel

from agents_app.admin.labels import format_money, format_tokens
from agents_app.definitions.agents import switched
from agents_app.definitions.schema import AgentDefinition
from agents_app.models import AgentRun
from agents_app.runs.creation import MAX_OPEN_ENDED_CHARACTERS
from agents_app.runs.estimates import estimate
from agents_app.runs.permissions import listed_tools
from content.models import Post
from proofroom.core.errors import CmsError
from proofroom.core.i18n import in_words
from proofroom.core.tools import Tool

_HEADER: Final = "X-Dialog"


def in_dialog(request: HttpRequest) -> bool:
    """Return True if the dialog's script sent the request, to show the answer over the current page."""
    return bool(request.headers.get(_HEADER) == "1")


def for_dialog(request: HttpRequest, page: TemplateResponse, template: str) -> TemplateResponse:
    """Return the page, rendered with the dialog's template if a dialog requested it."""
    # Both variants have the same URL.
    patch_vary_headers(page, [_HEADER])
    if in_dialog(request):
        page.template_name = template
    return page


# Cached by request, because a form asks once for each of its fields.
_read: WeakKeyDictionary[HttpRequest, dict[str, bool]] = WeakKeyDictionary()


def enabled_on(request: HttpRequest, agents: list[AgentDefinition]) -> list[AgentDefinition]:
    """Return the agents that are on, in the same order. One query for the whole request."""
    if request not in _read:
        _read[request] = switched()
    switches = _read[request]
    return [agent for agent in agents if switches.get(agent.id, agent.enabled)]


WORDS: Final = "openEndedContext"
_SHOWN: Final = 4


@dataclass(frozen=True, slots=True)
class OfferedAgent:
    """An agent to choose, with its box for instructions."""

    id: str
    name: str
    description: str
    takes_words: bool
    label: str
    placeholder: str
    most: int
    is_chosen: bool
    reads: str
    acts: str


@dataclass(frozen=True, slots=True)
class RunRefusal:
    """The reasons why no run was started. `words`: about the instructions; `problem`: anything else."""

    problem: str = ""
    words: str = ""
    status: int = 422


def offered(agents: Sequence[AgentDefinition], chosen: str) -> list[OfferedAgent]:
    """Return the agents as choices. The first is selected if `chosen` is not one of them."""
    known = {agent.id for agent in agents}
    if chosen not in known and agents:
        chosen = agents[0].id
    found: list[OfferedAgent] = []
    for agent in agents:
        rule, tools = agent.open_ended_context, listed_tools(agent)
        most = min(rule.max_chars or MAX_OPEN_ENDED_CHARACTERS, MAX_OPEN_ENDED_CHARACTERS)
        found.append(
            OfferedAgent(
                agent.id,
                agent.name,
                in_words(agent.description),
                takes_words=rule.enabled,
                label=in_words(rule.label or "") or _("In your own words"),
                placeholder=in_words(rule.placeholder or ""),
                most=most,
                is_chosen=agent.id == chosen,
                reads=_titles(tools, is_reading=True),
                acts=_titles(tools, is_reading=False),
            )
        )
    return found


def _titles(tools: Sequence[Tool[BaseModel]], *, is_reading: bool) -> str:
    """Return the titles of the first tools of that kind; empty if there are none."""
    titles = [tool.title for tool in tools if (tool.kind == "read") == is_reading]
    first_titles, more = titles[:_SHOWN], len(titles) - _SHOWN
    text = ", ".join(first_titles)
    if more <= 0:
        return text
    return ngettext("%(shown)s and %(n)d more", "%(shown)s and %(n)d more", more) % {
        "shown": text,
        "n": more,
    }


def choice_context(
    request: HttpRequest, agents: Sequence[AgentDefinition], refused: RunRefusal | None = None
) -> dict[str, Any]:
    """Return the form's values: from the POST data, otherwise from the query string."""
    found = offered(agents, asked_agent(request))
    taking = [agent for agent in found if agent.takes_words]
    return {
        "offered": found,
        "taking_words": taking,
        "words_for_all": len(taking) == len(found),
        "words_label": taking[0].label if len(taking) == 1 else _("In your own words"),
        "words_max": max((agent.most for agent in taking), default=0),
        "words": request.POST.get("words", "") or request.GET.get("words", ""),
        "problem": refused.problem if refused else "",
        "words_problem": refused.words if refused else "",
    }


def asked_agent(request: HttpRequest) -> str:
    return request.POST.get("agent") or request.GET.get("agent", "")


def selected_agent(
    request: HttpRequest, agents: Sequence[AgentDefinition]
) -> AgentDefinition | None:
    """Return the selected agent: the requested one, otherwise the first."""
    agent_id = asked_agent(request)
    return next((agent for agent in agents if agent.id == agent_id), agents[0] if agents else None)


def begins(request: HttpRequest) -> bool:
    """Return True if the POST starts a run, False if it only asks for another estimate."""
    return request.method == "POST" and request.POST.get("do") != "estimate"


def asked_words(request: HttpRequest) -> str | None:
    """Return the instructions that were sent, or None."""
    return request.POST.get("words", "").strip() or None


def begin(start: Callable[[], AgentRun]) -> HttpResponse | RunRefusal:
    """Start a run and redirect to its page, or return the refusal."""
    try:
        run = start()
    except CmsError as error:
        return refusal_of(error)
    return HttpResponseRedirect(reverse("admin:agents_app_agentrun_change", args=[run.pk]))


def refusal_of(error: CmsError) -> RunRefusal:
    """Return a service's error for the form. Permission errors are raised again."""
    # `agent_not_in_scope` is a 403 that the user can resolve by choosing another agent.
    if error.status == 403 and error.code != "agent_not_in_scope":
        raise error
    if WORDS in error.details:
        return RunRefusal(words=" ".join(error.details[WORDS]))
    return RunRefusal(problem=error.message)


def estimate_context(
    agent: AgentDefinition | None, posts: Sequence[Post], words: str = ""
) -> dict[str, Any]:
    """Return the estimate for the selected agent; empty without an agent or posts."""
    if agent is None or not posts:
        return {}
    found = estimate(agent, posts, words)
    short = {id(one) for one in found.beyond()}
    limits = [
        {
            "limit": one.limit,
            "left": format_money(one.left)
            if one.limit.unit == "cost"
            else format_tokens(int(one.left)),
            "renews_at": one.renews_at,
            "is_short": id(one) in short,
        }
        for one in found.left
    ]
    return {
        "estimated": found,
        "estimated_for": agent,
        "about": _amount(found.input_tokens + found.output_tokens, format_money(found.cost)),
        "at_most": _amount(found.most_tokens, format_money(found.most_cost)),
        "limits": limits,
        "is_beyond": bool(short),
        "may_be_beyond": bool(found.beyond(at_most=True)),
    }


def _amount(number: int, price: str) -> str:
    if price:
        return _("%(price)s (%(tokens)s)") % {"price": price, "tokens": format_tokens(number)}
    return _("%(tokens)s, price unknown") % {"tokens": format_tokens(number)}
