"""One agent on the posts that are marked in the list: which agent, what it will cost, and then the batch."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from agents_app.admin.choosing import (
    Refused,
    asked_agent,
    asked_words,
    choice_context,
    offered,
    refusal_of,
)
from agents_app.admin.wording import money, tokens
from agents_app.batches.starting import MOST, create_bulk_runs
from agents_app.budgets.estimating import Estimate, estimate
from agents_app.definitions.files import agents_for, get_agent
from agents_app.definitions.schema import AgentDefinition, Scope
from agents_app.definitions.switches import only_enabled
from content.admin.pages import page
from content.admin.panels import ListAction, register_list_action
from content.models import Post
from core.admin.rights import actor_of, answers_refusals, require
from core.errors import CmsError

_TITLE: Final = "Run an agent on several posts"


def choose(request: HttpRequest, ids: Sequence[str]) -> HttpResponse:
    """The page that asks which agent is to work on these posts."""
    require(request, "agents.edit")
    if len(ids) > MOST:
        messages.error(request, f"At most {MOST} posts go into one batch; choose fewer.")
        return HttpResponseRedirect(reverse("admin:content_post_changelist"))
    return _page(request, ids, None)


register_list_action(ListAction("run_agent", "Run an agent…", "agents.edit", choose))


@require_POST
@answers_refusals
def bulk(request: HttpRequest) -> HttpResponse:
    """`do=run` begins the batch; anything else says anew what it would use.

    Nobody begins what they saw no estimate of: chosen since, another agent is estimated first.
    """
    require(request, "agents.edit")
    ids = request.POST.getlist("ids")[: MOST + 1]
    if request.POST.get("do") != "run":
        return _page(request, ids, None)
    if request.POST.get("estimated", "") != asked_agent(request):
        sentence = "You chose another agent. Look at what it will cost, then run it."
        return _page(request, ids, Refused(problem=sentence))
    try:
        made = create_bulk_runs(
            agent_id=asked_agent(request),
            post_ids=ids,
            actor=actor_of(request),
            open_ended_context=asked_words(request),
        )
    except CmsError as error:
        return _page(request, ids, refusal_of(error))
    return HttpResponseRedirect(reverse("admin:agents_app_agentbatch_change", args=[made.batch.pk]))


def _page(request: HttpRequest, ids: Sequence[str], refused: Refused | None) -> HttpResponse:
    agents = only_enabled(agents_for(Scope.BULK))
    posts = _posts(ids)
    chosen = next((one.id for one in offered(agents, asked_agent(request)) if one.is_chosen), "")
    context = {
        **choice_context(request, agents, refused),
        **_estimated(get_agent(chosen), posts, asked_words(request) or ""),
        "posts": posts,
        "action": reverse("admin:agents_app_bulk"),
        "back": reverse("admin:content_post_changelist"),
    }
    status = refused.status if refused else 200
    return page(request, "admin/agents/bulk.html", context, title=_TITLE, status=status)


def _posts(ids: Sequence[str]) -> list[Post]:
    """The posts that are there, in the order of their titles."""
    return list(Post.objects.alive().filter(pk__in=_uuids(ids)).order_by("title", "pk"))


def _uuids(ids: Sequence[str]) -> list[UUID]:
    found = []
    for id_ in ids:
        with suppress(ValueError):
            found.append(UUID(id_))
    return found


def _estimated(agent: AgentDefinition | None, posts: Sequence[Post], words: str) -> dict[str, Any]:
    if agent is None or not posts:
        return {}
    found = estimate(agent, posts, words)
    return {
        "estimated": found,
        "estimated_for": agent,
        "about": _amount(found.input_tokens + found.output_tokens, money(found.cost)),
        "at_most": _amount(found.most_tokens, money(found.most_cost)),
        "limits": _limits(found),
        "is_beyond": bool(found.beyond()),
        "may_be_beyond": bool(found.beyond(at_most=True)),
    }


def _amount(number: int, price: str) -> str:
    return f"{price} ({tokens(number)})" if price else f"{tokens(number)}, at a price unknown here"


def _limits(found: Estimate) -> list[dict[str, Any]]:
    short = {id(one) for one in found.beyond()}
    return [
        {
            "limit": one.limit,
            "left": money(one.left) if one.limit.unit == "cost" else tokens(int(one.left)),
            "renews_at": one.renews_at,
            "is_short": id(one) in short,
        }
        for one in found.left
    ]
