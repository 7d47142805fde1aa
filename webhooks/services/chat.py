"""The chat, tried out by people. Where it is, and what it is told of, the environment says."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from core import events
from core.actor import Actor
from core.errors import RuleViolation
from webhooks.chat.notices import LANE, chat_host
from webhooks.chat.sentences import TEST
from webhooks.delivering import new_delivery, queue_all
from webhooks.models import Delivery
from webhooks.services.webhooks import allow


@transaction.atomic
def test_chat(*, actor: Actor) -> Delivery:
    """Send a notice that says that it works. Raises `RuleViolation` (`no_chat`) where no chat is set up."""
    allow(actor)
    if not chat_host():
        raise RuleViolation(_("No chat is set up: CHAT_WEBHOOK_URL is not set."), code="no_chat")
    event = events.record(TEST, actor=actor, payload={})
    delivery = new_delivery(event, LANE)
    queue_all([delivery])
    return delivery
