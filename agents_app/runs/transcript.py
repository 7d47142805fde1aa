"""What was said in a run, for whoever may write agents."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.db.models import QuerySet
from django.utils import timezone

from agents_app.models import AgentRun, RunMessage
from core.actor import Actor

_BATCH: Final = 1000


def messages_of(run: AgentRun, actor: Actor) -> QuerySet[RunMessage]:
    """The messages of a run, in their order. They hold whole posts and prompts, so they are for few."""
    actor.require_person("read what was said in a run")
    actor.require("agents.edit")
    return RunMessage.objects.filter(run_id=run.pk).order_by("number")


def prune(*, days: int) -> int:
    """Delete what was said more than that many days ago. Answers how many messages."""
    old = RunMessage.objects.filter(created_at__lt=timezone.now() - timedelta(days=days))
    total = 0
    while ids := list(old.order_by("created_at").values_list("pk", flat=True)[:_BATCH]):
        gone, _ = RunMessage.objects.filter(pk__in=ids).delete()
        total += gone
    return total
