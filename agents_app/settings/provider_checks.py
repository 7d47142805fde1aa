"""Testing whether a provider can be used: asked for by a person, done by a worker, the last answer kept."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agents_app.models import AiSettings, ProviderCheck
from agents_app.providers.interface import ProviderChoice
from agents_app.providers.selection import DEFAULT_MEDIA_MODELS, DEFAULT_MODELS
from agents_app.providers.vendors import VENDORS
from agents_app.settings.ai_settings import ai_settings
from agents_app.settings.providers import providers
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, NotFound, invalid
from proofroom.core.task_queue.wake_up import queue_task, send_after_commit

CHECK_PAUSE: Final = timedelta(seconds=10)
CHECK_TIMEOUT: Final = timedelta(seconds=30)
"""What no worker answered by then, none will: it died, or none is there."""


@transaction.atomic
def ask_check(*, provider: str, actor: Actor) -> ProviderCheck:
    """Have a worker ask the provider for its models, which costs nothing.

    Raises `NotFound`, `RuleViolation` for one that has no key and no address, `Conflict` (`too_soon`).
    """
    actor.require_person("test the connection to a provider")
    actor.require("agents.edit")
    found = next(
        (item for item in providers(ai_settings()) if item.id == provider and item.source), None
    )
    if found is None:
        raise NotFound(
            _("There is no provider %(name)r to test.") % {"name": provider[:40]},
            code="unknown_provider",
        )
    if not found.is_configured:
        raise invalid(
            "provider",
            _("%(name)s cannot be tested yet: set %(variable)s first.")
            % {"name": found.name, "variable": found.source},
        )
    ProviderCheck.objects.bulk_create([ProviderCheck(provider=provider)], ignore_conflicts=True)
    row = ProviderCheck.objects.select_for_update(of=("self",)).get(pk=provider)
    now = timezone.now()
    if row.asked_at is not None and row.asked_at > now - CHECK_PAUSE:
        raise Conflict(
            _("%(name)s was tested just now. Wait a few seconds, and test it again.")
            % {"name": found.name},
            code="too_soon",
        )
    row.asked_at, row.asked_by_id = now, actor.user.pk
    row.checked_at, row.outcome, row.status, row.lacks = None, "", None, []
    row.save()
    outbox.record("ai.provider.tested", actor=actor, payload={"name": provider})
    send_after_commit(
        lambda: queue_task("agents_app.tasks.test_provider", provider), f"test of {provider}"
    )
    return row


def check_provider(provider: str) -> None:
    """Ask it, if somebody waits for that. Safe to call any number of times."""
    from agents_app.providers.model_list import list_models

    row = ProviderCheck.objects.filter(pk=provider, checked_at=None).first()
    if row is None or provider not in VENDORS:
        return
    env = settings.CMS_ENV
    choice = ProviderChoice(provider, "", env.api_key(provider), env.base_url(provider))
    found = list_models(choice)
    wanted = models_in_use(provider, ai_settings()) if found.is_whole else []
    # Lists name models with their dates or tags: `claude-x-20300101`, `llama3.2:latest`.
    lacks = [
        name
        for name in wanted
        if not any(one == name or one.startswith((f"{name}-", f"{name}:")) for one in found.models)
    ]
    # Not where somebody asked again meanwhile: that has its own answer.
    ProviderCheck.objects.filter(pk=provider, asked_at=row.asked_at).update(
        checked_at=timezone.now(),
        outcome=found.outcome,
        status=found.status,
        models_listed=len(found.models),
        lacks=lacks,
    )


def is_lost(row: ProviderCheck) -> bool:
    """Return whether no answer will come any more."""
    is_late = row.asked_at is not None and row.asked_at < timezone.now() - CHECK_TIMEOUT
    return row.checked_at is None and is_late


def models_in_use(provider: str, row: AiSettings) -> list[str]:
    """The models that would answer from this provider where an agent names none."""
    pairs = (
        (row.text_provider, row.text_model, DEFAULT_MODELS),
        (row.media_provider, row.media_model, DEFAULT_MEDIA_MODELS),
    )
    names = (
        (chosen if chosen and by == provider else usual.get(provider))
        for by, chosen, usual in pairs
    )
    return list(dict.fromkeys(name for name in names if name))
