"""Changes of budgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, TypedDict

from django.db import transaction
from django.utils.translation import gettext as _

from agents_app.budgets.limits import ALL_AGENTS_KEY, DEFAULT, lock_budgets
from agents_app.definitions.files import get_agent
from agents_app.definitions.switches import unknown_agent
from agents_app.models import Budget, BudgetNotice
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.definition_files import ID_MAX
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import JsonObject

NAMES: Final = {DEFAULT: "default", ALL_AGENTS_KEY: "all"}
"""What the budgets that are of no single agent are called on the wire."""
MAX_TOKENS_LIMIT: Final = 10**15
MAX_COST_LIMIT: Final = Decimal("999999.99")
_MICRO: Final = Decimal("0.000001")


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """The most of a day and of a month; None is no limit."""

    tokens_per_day: int | None = None
    tokens_per_month: int | None = None
    cost_per_day: Decimal | None = None
    cost_per_month: Decimal | None = None

    @property
    def is_empty(self) -> bool:
        return self == BudgetLimits()

    def over(self, default: BudgetLimits) -> BudgetLimits:
        """These, and of the default what these leave open."""
        return BudgetLimits(
            **{
                name: getattr(default, name) if getattr(self, name) is None else getattr(self, name)
                for name in _FIELDS
            }
        )


class LimitChanges(TypedDict, total=False):
    """The limits that change; None takes one away."""

    tokens_per_day: int | None
    tokens_per_month: int | None
    cost_per_day: Decimal | None
    cost_per_month: Decimal | None


_FIELDS: Final[dict[str, str]] = {
    "tokens_per_day": "tokensPerDay",
    "tokens_per_month": "tokensPerMonth",
    "cost_per_day": "costPerDay",
    "cost_per_month": "costPerMonth",
}


def limits_in(row: Budget | None) -> BudgetLimits:
    """Return the limits of a row; none where there is no row."""
    if row is None:
        return BudgetLimits()
    return BudgetLimits(
        row.tokens_per_day, row.tokens_per_month, row.cost_per_day, row.cost_per_month
    )


@transaction.atomic
def set_budget(*, name: str, changes: LimitChanges, actor: Actor) -> str:
    """Set limits of an agent (by its id), of each agent that has none of that kind (`default`), or of `all`.

    Answers the key of the budget. Raises `NotAllowed`, `NotFound` for an agent that there is not, or `RuleViolation`
    by the field's name on the wire.
    """
    actor.require_person("change budgets")
    actor.require("agents.edit")
    lock_budgets()
    if name in NAMES or len(name) > ID_MAX or not name.isprintable():
        raise unknown_agent(name[:ID_MAX])
    key = {wire: key for key, wire in NAMES.items()}.get(name, name)
    row = Budget.objects.filter(pk=key).first()
    if row is None and key not in NAMES and get_agent(key) is None:
        raise unknown_agent(name)
    before = limits_in(row)
    limits = replace(before, **changes)
    check_limits(limits)
    row = row or Budget(agent_id=key)
    if before == limits:
        return key
    for field in _FIELDS:
        setattr(row, field, getattr(limits, field))
    row.updated_by_id = actor.user.pk
    if limits.is_empty and key != ALL_AGENTS_KEY:
        Budget.objects.filter(pk=key).delete()
    else:
        row.save()
    # People are told anew of a limit that is another one now.
    notices = BudgetNotice.objects.all()
    notices = (
        notices.exclude(agent_id=ALL_AGENTS_KEY) if key == DEFAULT else notices.filter(agent_id=key)
    )
    notices.delete()
    payload: JsonObject = {
        "agentId": name,
        "before": wire_of(before),
        "after": wire_of(limits),
    }
    outbox.record("agent.budget.set", actor=actor, payload=payload)
    return key


@transaction.atomic
def set_budgets(*, changes: Mapping[str, LimitChanges], actor: Actor) -> int:
    """Set several budgets by name, or none: what is refused is named as `<name>.<field>`. Answers how many."""
    for name, changed in changes.items():
        try:
            set_budget(name=name, changes=changed, actor=actor)
        except RuleViolation as error:
            details = {f"{name}.{field}": texts for field, texts in error.details.items()}
            raise RuleViolation(error.message, details=details) from None
    return len(changes)


def wire_of(limits: BudgetLimits) -> JsonObject:
    """Limits as JSON."""
    return {
        "tokensPerDay": limits.tokens_per_day,
        "tokensPerMonth": limits.tokens_per_month,
        "costPerDay": None if limits.cost_per_day is None else float(limits.cost_per_day),
        "costPerMonth": None if limits.cost_per_month is None else float(limits.cost_per_month),
    }


def check_limits(limits: BudgetLimits) -> None:
    for field, wire in _FIELDS.items():
        value: int | Decimal | None = getattr(limits, field)
        if value is None:
            continue
        if isinstance(value, Decimal):
            if not value.is_finite() or not 0 <= value <= MAX_COST_LIMIT:
                raise invalid(
                    wire,
                    _("%(wire)s is an amount from 0 to %(cost_most)s US dollars.")
                    % {"wire": wire, "cost_most": f"{MAX_COST_LIMIT:,}"},
                )
            if value != value.quantize(_MICRO):
                raise invalid(
                    wire, _("%(wire)s has at most six digits after the point.") % {"wire": wire}
                )
        elif not 0 <= value <= MAX_TOKENS_LIMIT:
            raise invalid(
                wire,
                _("%(wire)s is a whole number from 0 to %(tokens_most)s.")
                % {"wire": wire, "tokens_most": f"{MAX_TOKENS_LIMIT:,}"},
            )
