"""The form that every page for starting an agent shares: agents, words, estimate, and its frame in a dialog."""

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
    """Return whether the dialog's script sent the request, to show the answer over the page at hand."""
    return bool(request.headers.get(_HEADER) == "1")


def for_dialog(request: HttpRequest, page: TemplateResponse, template: str) -> TemplateResponse:
    """The page, or where a dialog asks for it, its content by another template."""
    patch_vary_headers(page, [_HEADER])
    if in_dialog(request):
        page.template_name = template
    return page


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
    """An agent to choose, with the box for words that it brings."""

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
    """The reasons why no run was begun: `words` concerns the words, `problem` the rest."""

    problem: str = ""
    words: str = ""
    status: int = 422


def offered(agents: Sequence[AgentDefinition], chosen: str) -> list[OfferedAgent]:
    """The agents as choices; the first is chosen where nobody chose one of them."""
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
    """The first tools that only read, or the others, by title; empty for none."""
    titles = [tool.title for tool in tools if (tool.kind == "read") == is_reading]
    shown, more = titles[:_SHOWN], len(titles) - _SHOWN
    text = ", ".join(shown)
    if more <= 0:
        return text
    return ngettext("%(shown)s and %(n)d more", "%(shown)s and %(n)d more", more) % {
        "shown": text,
        "n": more,
    }


def choice_context(
    request: HttpRequest, agents: Sequence[AgentDefinition], refused: RunRefusal | None = None
) -> dict[str, Any]:
    """Return the form's values: those that were sent, else those of the address."""
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


def chosen_of(request: HttpRequest, agents: Sequence[AgentDefinition]) -> AgentDefinition | None:
    """The agent whose card is marked: the asked one, else the first."""
    asked = asked_agent(request)
    return next((agent for agent in agents if agent.id == asked), agents[0] if agents else None)


def begins(request: HttpRequest) -> bool:
    """Return whether a run is to begin, rather than only another agent to be estimated."""
    return request.method == "POST" and request.POST.get("do") != "estimate"


def asked_words(request: HttpRequest) -> str | None:
    """The words that were sent; None for none."""
    return request.POST.get("words", "").strip() or None


def begin(start: Callable[[], AgentRun]) -> HttpResponse | RunRefusal:
    """Begin a run and lead to its page, or say why it cannot be."""
    try:
        run = start()
    except CmsError as error:
        return refusal_of(error)
    return HttpResponseRedirect(reverse("admin:agents_app_agentrun_change", args=[run.pk]))


def refusal_of(error: CmsError) -> RunRefusal:
    """A service's refusal in the form. What the person may not do at all is raised again."""
    if error.status == 403 and error.code != "agent_not_in_scope":
        raise error
    if WORDS in error.details:
        return RunRefusal(words=" ".join(error.details[WORDS]))
    return RunRefusal(problem=error.message)


def estimate_context(
    agent: AgentDefinition | None, posts: Sequence[Post], words: str = ""
) -> dict[str, Any]:
    """Return the estimate for the chosen agent; nothing where there is no agent or no post."""
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
