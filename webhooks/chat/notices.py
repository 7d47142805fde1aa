"""Events that the chat is told of, its lane, and whether what CHAT_EVENTS says can be."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import orjson
from django.conf import settings

from core import events
from core.models import Event
from webhooks.chat.sentences import sentence_of
from webhooks.delivering import queue
from webhooks.lanes import GivenUp, Outgoing
from webhooks.models import Delivery

LANE: Final = "chat"


def connect() -> None:
    """Subscribe to the events of CHAT_EVENTS. Called once, at start; exits where there is no such event."""
    problem = problem_of(settings.CMS_ENV.chat_events)
    if problem:
        raise SystemExit(problem)
    events.subscribe(settings.CMS_ENV.chat_events, tell_chat, id="webhooks.chat.notices.tell_chat")


def event_names() -> list[str]:
    """Every event that a chat can be told of: all but those that only hand work on."""
    return [kind.name for kind in events.all_kinds() if not kind.is_internal]


def problem_of(names: tuple[str, ...]) -> str:
    """A sentence where CHAT_EVENTS names what is no event."""
    known = event_names()
    wrong = [name for name in names if name not in known]
    if not wrong:
        return ""
    return f"CHAT_EVENTS names {', '.join(map(repr, wrong))}; known: {', '.join(known)}."


def tell_chat(event: Event) -> None:
    """Queue a notice, where a chat is set up and wants such events."""
    env = settings.CMS_ENV
    if env.chat_webhook_url and event.name in env.chat_events and event.forgotten_at is None:
        queue(event, LANE)


def chat_host() -> str:
    """The host of the chat, which is all of its address that anybody may see; empty where none is set up."""
    return urlsplit(settings.CMS_ENV.chat_webhook_url or "").hostname or ""


class ChatLane:
    """A call that Slack, Mattermost, Rocket.Chat and Google Chat understand. The address is the secret."""

    def request_of(self, delivery: Delivery) -> Outgoing:
        url = settings.CMS_ENV.chat_webhook_url
        if not url:
            raise GivenUp("CHAT_WEBHOOK_URL is not set any more.")
        if delivery.event.forgotten_at is not None:
            raise GivenUp("The words of this event were deleted.")
        body = orjson.dumps({"text": sentence_of(delivery.event)})
        path = urlsplit(url).path
        secrets = (url, path, *path.split("/"))
        return Outgoing(url=url, headers={}, body=body, secrets=secrets, is_named=False)
