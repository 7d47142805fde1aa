"""What a run will probably cost, said beside the button that begins it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from agents_app.admin.wording import money, tokens
from agents_app.budgets.estimating import Estimate, estimate
from agents_app.definitions.schema import AgentDefinition
from content.models import Post


def estimate_context(
    agent: AgentDefinition | None, posts: Sequence[Post], words: str = ""
) -> dict[str, Any]:
    """What the page says of the chosen agent; nothing where nothing can be said."""
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
    if price:
        return _("%(price)s (%(tokens)s)") % {"price": price, "tokens": tokens(number)}
    return _("%(tokens)s, at a price unknown here") % {"tokens": tokens(number)}


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
