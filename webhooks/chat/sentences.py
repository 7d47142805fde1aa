"""What a chat is told of an event: who did what to which post, and where to look. Never a visitor's words."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from django.conf import settings
from django.urls import NoReverseMatch, reverse

from core import events
from core.models import Event
from webhooks.chat.plain import plain

TEST: Final = "chat.test"
_DONE: Final = {
    "post.created": "{who} created {what}",
    "post.updated": "{who} changed {what}",
    "post.published": "{who} published {what}",
    "post.publish": "{who} published {what}",
    "post.deleted": "{who} moved {what} to the trash",
    "post.restored": "{who} restored {what}",
    "post.approve": "{who} made changes of {what} live",
    "post.review.save": "{who} saved changes of {what} for review",
    "post.review.approve": "{who} approved the changes of {what}",
    "post.review.reject": "{who} rejected changes of {what} in Review",
    "post.ai-review.save": "{who} proposed changes of {what}, which wait in AI Review",
    "post.ai-review.approve": "{who} submitted the proposed changes of {what} to Review",
    "post.ai-review.reject": "{who} rejected proposed changes of {what}",
    "post.review.reconsider": "{who} took back a rejection of changes of {what} in Review",
    "post.ai-review.reconsider": "{who} took back a rejection of proposed changes of {what}",
    "post.create-translation": "{who} began a translation of {what}",
    "agent.chain.stopped": "Agents started one another over and over on {what}, and were stopped",
}
_BUDGETS: Final = {
    "agent.budget.near": "{whose} used most of the budget of this {period}",
    "agent.budget.reached": (
        "{whose} used up the budget of this {period}; what needs more is refused until it starts anew"
    ),
}
_IN_REVIEW: Final = {
    "post.review.save": "review",
    "post.ai-review.save": "ai-review",
    "post.ai-review.approve": "review",
    "post.review.reconsider": "review",
    "post.ai-review.reconsider": "ai-review",
}
_ON_SITE: Final = frozenset({"post.published", "post.publish", "post.updated", "post.approve"})


def sentence_of(event: Event) -> str:
    """One sentence, with an address at its end where there is a page to look at."""
    words = _words(event)
    address = _address(event)
    return f"{words}: {address}" if address else f"{words}."


def _words(event: Event) -> str:
    who = _who(event)
    if event.name == TEST:
        return f"It works: {who} tried out the notices"
    if event.name == "webhook.disabled":
        return f"The webhook {_named(event)} is switched off, because its address failed for a day"
    if event.name in _BUDGETS:
        return _BUDGETS[event.name].format(whose=_whose(event), period=event.payload.get("period"))
    if event.name.startswith("form."):
        slug = plain(str(event.payload.get("formSlug") or ""))
        label = _label(event.name)
        return f"{label}: the form “{slug}”" if slug else label
    known = _DONE.get(event.name)
    if known is not None:
        return known.format(who=who, what=_post(event))
    label = f"{_label(event.name)}, by {who}"
    return f"{label}: {_post(event)}" if event.post_id and event.payload.get("title") else label


def _whose(event: Event) -> str:
    agent_id = event.payload.get("agentId")
    return f"The agent {plain(str(agent_id))}" if agent_id else "All agents together"


def _who(event: Event) -> str:
    if event.agent_id:
        return f"The agent {plain(event.agent_id)}"
    return plain(event.actor_name, 60) or "The service"


def _label(name: str) -> str:
    kind = events.find_kind(name)
    return kind.label if kind else name


def _post(event: Event) -> str:
    title = plain(str(event.payload.get("title") or ""))
    return f"“{title}”" if title else "a post"


def _named(event: Event) -> str:
    return f"“{plain(str(event.payload.get('name') or ''))}”"


def _address(event: Event) -> str:
    site: str = settings.SITE_URL
    if event.name in _ON_SITE and event.payload.get("status") == "published":
        path = str(event.payload.get("url") or "")
        return site + quote(path, safe="/%-._~") if path.startswith("/") else ""
    if event.name == "webhook.disabled":
        return site + _page("webhooks_webhook_changelist")
    if event.name in _BUDGETS:
        return site + _page("agents_app_aisettings_changelist")
    if event.post_id is None or event.name in ("post.deleted", "post.purged"):
        return ""
    layer = _IN_REVIEW.get(event.name)
    if layer:
        return site + _page("content_post_review", str(event.post_id)) + f"?layer={layer}"
    return site + _page("content_post_change", str(event.post_id))


def _page(name: str, *args: str) -> str:
    try:
        return reverse(f"admin:{name}", args=args)
    except NoReverseMatch:  # a site without that app
        return "/admin/"
