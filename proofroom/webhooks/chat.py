"""Chat notices: one sentence per event, sent by their own channel.

`settings.CMS_ENV` defines the chat's URL and its events.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote, urlsplit

import orjson
from django.conf import settings
from django.urls import NoReverseMatch, reverse

from proofroom.core import outbox
from proofroom.core.models import Event
from proofroom.notifications.queries import people_mentioned
from proofroom.webhooks.delivery_channels import NothingToSend, OutgoingRequest
from proofroom.webhooks.delivery_queue import new_delivery, queue_all
from proofroom.webhooks.models import Delivery

CHANNEL: Final = "chat"
TEST_EVENT: Final = "chat.test"
SENTENCES: Final = {
    "post.created": "{who} created {what}",
    "post.updated": "{who} changed {what}",
    "post.published": "{who} published {what}",
    "post.publish": "{who} published {what}",
    "post.deleted": "{who} moved {what} to the trash",
    "post.restored": "{who} restored {what}",
    "post.approve": "{who} published changes to {what}",
    "post.review.save": "{who} saved changes to {what} for review",
    "post.review.approve": "{who} approved changes to {what}",
    "post.review.reject": "{who} rejected changes to {what} in Review",
    "post.ai-review.save": "{who} proposed changes to {what} in AI Review",
    "post.ai-review.approve": "{who} submitted proposed changes to {what} to Review",
    "post.ai-review.reject": "{who} rejected proposed changes to {what}",
    "post.review.reconsider": "{who} undid a rejection of changes to {what} in Review",
    "post.ai-review.reconsider": "{who} undid a rejection of proposed changes to {what}",
    "post.create-translation": "{who} created a translation of {what}",
    "agent.chain.stopped": "Agents kept starting each other on {what} and were stopped",
}
BUDGET_SENTENCES: Final = {
    "agent.budget.near": "{whose} used most of this {period}’s budget",
    "agent.budget.reached": "{whose} used up this {period}’s budget. Runs fail until it resets",
}
REVIEW_LAYERS: Final = {
    "post.review.save": "review",
    "post.ai-review.save": "ai-review",
    "post.ai-review.approve": "review",
    "post.review.reconsider": "review",
    "post.ai-review.reconsider": "ai-review",
}
LINKED_TO_SITE: Final = frozenset(
    {"post.published", "post.publish", "post.updated", "post.approve"}
)
TITLE_MAX: Final = 120
MAX_NAMES: Final = 5
"""Largest number of mentioned people whose names are in a notice."""
# Replaced instead of escaped, because every chat has its own markup. The look-alikes have no meaning in any chat.
LOOKALIKES: Final = str.maketrans(
    {
        "&": "＆",
        "<": "‹",
        ">": "›",
        "@": "＠",
        "#": "＃",
        "[": "［",
        "]": "］",
        "*": "∗",
        "_": "＿",
        "~": "∼",
        "`": "ˋ",
        "|": "¦",
        "\\": "＼",
        ":": "∶",
        "$": "＄",
    }
)
# Chats turn a dot between letters into a link. An invisible word joiner after it prevents that.
LINKING_DOT: Final = re.compile(r"([.。．｡])(?=\w)")  # browsers treat all four as a dot
WORD_JOINER: Final = "\u2060"


def subscribe_chat() -> None:
    """Subscribe to the events of CHAT_EVENTS. Called once at startup; exits if one does not exist."""
    problem = find_problem(settings.CMS_ENV.chat_events)
    if problem:
        raise SystemExit(problem)
    outbox.subscribe_to_many(
        settings.CMS_ENV.chat_events, queue_notices, id="webhooks.chat.notices.tell_chat"
    )


def queue_mentions(events: Sequence[Event]) -> None:
    """Queue a notice for each event that mentions people, unless CHAT_MENTIONS is off, or CHAT_EVENTS has it."""
    env = settings.CMS_ENV
    if env.chat_webhook_url and env.chat_mentions:
        # Events of CHAT_EVENTS have their notice already.
        others = [event for event in events if event.name not in env.chat_events]
        queue_all([new_delivery(event, CHANNEL) for event in others if people_mentioned(event)])


def known_events() -> list[str]:
    """Return the names of the events that a chat can receive: all except internal ones."""
    return [kind.name for kind in outbox.all_kinds() if not kind.is_internal]


def find_problem(names: tuple[str, ...]) -> str:
    """Return a sentence if CHAT_EVENTS has an unknown event, else ""."""
    known = known_events()
    unknown = [name for name in names if name not in known]
    if not unknown:
        return ""
    return f"CHAT_EVENTS names {', '.join(map(repr, unknown))}; known: {', '.join(known)}."


def queue_notices(events: Sequence[Event]) -> None:
    """Queue a notice for each event, if a chat is set up for it."""
    env = settings.CMS_ENV
    if env.chat_webhook_url:
        queue_all(
            [
                new_delivery(event, CHANNEL)
                for event in events
                if event.name in env.chat_events and event.forgotten_at is None
            ]
        )


def chat_host() -> str:
    """Return the host of the chat, the only part of its URL that may be shown; "" if none is set up."""
    return urlsplit(settings.CMS_ENV.chat_webhook_url or "").hostname or ""


class ChatChannel:
    """The channel for Slack, Mattermost, Rocket.Chat and Google Chat. The URL is the secret."""

    def build_request(self, delivery: Delivery) -> OutgoingRequest:
        url = settings.CMS_ENV.chat_webhook_url
        if not url:
            raise NothingToSend("CHAT_WEBHOOK_URL is not set any more.")
        if delivery.event.forgotten_at is not None:
            raise NothingToSend("The words of this event were deleted.")
        body = orjson.dumps({"text": sentence_of(delivery.event)})
        path = urlsplit(url).path
        # A chat's response may repeat the path of its URL, which contains the secret.
        secrets = (url, path, *path.split("/"))
        return OutgoingRequest(url=url, headers={}, body=body, secrets=secrets, is_named=False)


def sentence_of(event: Event) -> str:
    """Return the notice: one sentence, with a URL at its end if there is a page to open."""
    payload = event.payload
    person = plain(event.actor_name, 60) or "The service"
    who = f"The agent {plain(event.agent_id)}" if event.agent_id else person
    if event.agent_id and event.via == "mcp":
        who = f"An AI client as the agent {plain(event.agent_id)}"
    kind = outbox.find_kind(event.name)
    label = kind.label if kind else event.name
    title = plain(str(payload.get("title") or ""))
    post = f"“{title}”" if title else "a post"
    mentioned = people_mentioned(event)
    if mentioned:
        names = ", ".join(plain(name, 60) for name in mentioned[:MAX_NAMES])
        more = f" and {len(mentioned) - MAX_NAMES} more" if len(mentioned) > MAX_NAMES else ""
        about = f" on “{title}”" if title else ""
        sentence = f"{who} mentioned {names}{more} in a comment{about}"
    elif event.name == TEST_EVENT:
        sentence = f"It works: {who} tried out the notices"
    elif event.name == "webhook.disabled":
        name = plain(str(payload.get("name") or ""))
        sentence = f"The webhook “{name}” was turned off because its address failed for a day"
    elif event.name in BUDGET_SENTENCES:
        agent_id = payload.get("agentId")
        whose = f"The agent {plain(str(agent_id))}" if agent_id else "All agents together"
        sentence = BUDGET_SENTENCES[event.name].format(whose=whose, period=payload.get("period"))
    elif event.name.startswith("form."):
        slug = plain(str(payload.get("formSlug") or ""))
        sentence = f"{label}: the form “{slug}”" if slug else label
    elif event.name in SENTENCES:
        sentence = SENTENCES[event.name].format(who=who, what=post)
    else:
        about = f": {post}" if event.post_id and payload.get("title") else ""
        sentence = f"{label}, by {who}{about}"
    url = url_of(event)
    return f"{sentence}: {url}" if url else f"{sentence}."


def url_of(event: Event) -> str:
    """Return the URL of the page to open; "" if there is none."""
    site: str = settings.SITE_URL
    if event.name in LINKED_TO_SITE and event.payload.get("status") == "published":
        path = str(event.payload.get("url") or "")
        return site + quote(path, safe="/%-._~") if path.startswith("/") else ""
    post_id, query = str(event.post_id), ""
    arguments: list[str] = []
    if event.name == "webhook.disabled":
        page = "proofroom_webhooks_webhook_changelist"
    elif event.name in BUDGET_SENTENCES:
        page = "agents_app_aisettings_changelist"
    elif event.post_id is None or event.name in ("post.deleted", "post.purged"):
        return ""
    elif event.name in REVIEW_LAYERS:
        page, arguments = "content_post_review", [post_id]
        query = f"?layer={REVIEW_LAYERS[event.name]}"
    else:
        page, arguments = "content_post_change", [post_id]
        if event.name.startswith("comment."):
            query = "#comments"
    try:
        return site + reverse(f"admin:{page}", args=arguments) + query
    except NoReverseMatch:  # the site does not have that app
        return site + "/admin/" + query


def plain(text: str, most: int = TITLE_MAX) -> str:
    """Return the text on one line, shortened, without characters that a chat interprets."""
    # Control characters can reverse a line or hide its rest.
    hidden = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
    visible = "".join(" " if unicodedata.category(sign) in hidden else sign for sign in text)
    short = " ".join(visible.split())
    if len(short) > most:
        short = short[: most - 1].rstrip() + "…"
    return LINKING_DOT.sub(rf"\1{WORD_JOINER}", short.translate(LOOKALIKES))
