"""Outages of models: after one, runs with a fallback skip the model for a short time.

Otherwise each run would wait for the tries at a provider that is known to be down.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from agents_app.models import ProviderPause
from agents_app.providers.interface import ProviderChoice

PAUSE: Final = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class ProviderPlan:
    """The provider of a run, its fallback, and the provider that is skipped because of an outage."""

    choice: ProviderChoice
    fallback: ProviderChoice | None = None
    skipped: ProviderChoice | None = None


def plan_around_outage(choice: ProviderChoice, fallback: ProviderChoice | None) -> ProviderPlan:
    """Return the fallback as provider while the first choice is paused. One query with a fallback."""
    if fallback is None:
        return ProviderPlan(choice)
    rows = ProviderPause.objects.filter(ends_at__gt=timezone.now())
    paused = set(rows.values_list("provider", "model"))
    is_down, is_fallback_down = ((one.provider, one.model) in paused for one in (choice, fallback))
    # If both are paused, the first choice is tried as usual.
    if is_down and not is_fallback_down:
        return ProviderPlan(fallback, skipped=choice)
    return ProviderPlan(choice, fallback)


def pause_after_outage(choice: ProviderChoice) -> None:
    """Pause a model from now on. One statement, safe with concurrent workers."""
    row = ProviderPause(
        provider=choice.provider, model=choice.model, ends_at=timezone.now() + PAUSE
    )
    ProviderPause.objects.bulk_create(
        [row],
        update_conflicts=True,
        unique_fields=["provider", "model"],
        update_fields=["ends_at"],
    )


def paused_providers() -> dict[str, datetime]:
    """Return the providers with a paused model, with the end of the latest pause. One query."""
    rows = ProviderPause.objects.filter(ends_at__gt=timezone.now()).order_by("ends_at")
    return dict(rows.values_list("provider", "ends_at"))
