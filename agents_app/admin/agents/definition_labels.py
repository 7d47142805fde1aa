"""Labels for an agent's file and for its acceptance rate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agents_app.admin.field_labels import limits_of, path_label
from agents_app.admin.labels import (
    SCOPE_LABELS,
    format_money,
    state_badge,
    target_label,
    tokens_of_answer,
)
from agents_app.agent_status import Agent, AgentAccount, ResolvedProvider
from agents_app.ai_settings import provider_label
from agents_app.definitions.reaction_type import reaction_label
from agents_app.definitions.schema import AgentDefinition, OpenEndedContext, Reaction
from agents_app.providers.vendors import all_vendors
from agents_app.reactions.dispatch import target_of
from agents_app.rehearsal import CERTAINTY_LABELS, Certainty
from agents_app.runs.queries import AcceptanceRate
from proofroom.core.admin.labels import switch_badge
from proofroom.core.i18n import in_words

_ACCOUNTS: Final = {
    "own": gettext_lazy("Its own account"),
    "shared": gettext_lazy("System account"),
    "off": gettext_lazy("The account is turned off, so the agent cannot write anything"),
    "missing": gettext_lazy("The account is created on the first run"),
}


@dataclass(frozen=True, slots=True)
class ScopeLabels:
    """The labels of one scope of an agent. `allowed`: the fields it may propose; empty for all.

    Both lists have labels with the names in the agent's file.
    """

    label: str
    limits: list[tuple[str, str]]
    allowed: list[tuple[str, str]]
    order: int
    is_on: bool


def row_of(found: Agent) -> dict[str, Any]:
    return {
        "agent": found.definition,
        "scopes": [
            ScopeLabels(
                str(SCOPE_LABELS[entry.scope]),
                limits_of(entry),
                [(path_label(path), path) for path in entry.allowed_fields or ()],
                entry.order,
                entry.enabled,
            )
            for entry in found.definition.scopes
        ],
        "where": [
            str(SCOPE_LABELS[entry.scope]) for entry in found.definition.scopes if entry.enabled
        ],
        "text": provider_and_model_label(found.text),
        "fallback": provider_and_model_label(found.fallback) if found.fallback else "",
        "media": provider_and_model_label(found.media) if found.media else "",
        "problem": found.text.problem or (found.media.problem if found.media else ""),
        "doubts": found.doubts,
        "account": str(_ACCOUNTS[found.account.state]),
        "account_is_off": found.account.state == "off",
        "is_enabled": found.is_enabled,
        "state": switch_badge(found.is_enabled),
        "last": found.last,
        "last_badge": state_badge(found.last) if found.last else "",
    }


def provider_and_model_label(answering: ResolvedProvider) -> str:
    if answering.is_demo:
        return provider_label(answering.provider)
    vendor = all_vendors().get(answering.provider)
    name = vendor.name if vendor else answering.provider
    return f"{name} {answering.model}".strip() or _("Nobody")


def username_of(account: AgentAccount) -> str:
    return account.username if account.user_id is not None else ""


def options_of(definition: AgentDefinition) -> list[tuple[str, str]]:
    """Return the other settings of the agent's file as labels. An own API key is mentioned, never shown."""
    config, words = definition.llm_config, definition.open_ended_context
    options = config.options
    found = [
        (_("Your own instructions"), open_ended_label(words)),
        (_("Temperature"), "" if options.temperature is None else f"{options.temperature:g}"),
        (_("Maximum length"), tokens_of_answer(options.max_tokens)),
        (_("API key"), _("Set in the agent’s file") if config.api_key else ""),
    ]
    return [(name, text) for name, text in found if text]


def open_ended_label(rule: OpenEndedContext) -> str:
    if not rule.enabled:
        return ""
    label = in_words(rule.label or "") or _("Yes")
    if not rule.max_chars:
        return label
    most = ngettext(
        "%(label)s, at most %(n)d character", "%(label)s, at most %(n)d characters", rule.max_chars
    )
    return most % {"label": label, "n": rule.max_chars}


def reaction_of(item: Reaction) -> dict[str, str]:
    """Return the labels of a reaction. Of a URL only the host is shown."""
    condition = ""
    if item.condition is not None:
        value = json.dumps(item.condition.value, ensure_ascii=False)
        condition = f"{item.condition.field} {item.condition.operator.replace('_', ' ')} {value}"
    return {
        "type": reaction_label(item.type),
        "target": target_label(item.type, target_of(item)) or "CHAT_WEBHOOK_URL",
        "name": target_of(item),
        "when": str(CERTAINTY_LABELS[Certainty(item.trigger)]),
        "condition": condition,
    }


@dataclass(frozen=True, slots=True)
class ShownRate:
    """The acceptance rate of an agent this month."""

    runs: int
    failed: int
    accepted: int
    decided: int
    share: int | None
    price: str


def rate_of(rates: Mapping[str, AcceptanceRate], found: Agent) -> ShownRate:
    """Return the rate of one agent, with zeros if it had no runs."""
    rate = rates.get(found.definition.id) or AcceptanceRate()
    return ShownRate(
        rate.runs, rate.failed, rate.accepted, rate.decided, rate.share, format_money(rate.cost)
    )


def begin_of_month() -> datetime:
    return timezone.now().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
