"""A request that its budget does not allow."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from django.utils.translation import gettext as _

from agents_app.budgets.limits import ALL, Limit, Unit
from agents_app.providers.port import ProviderError


class BudgetExceeded(ProviderError):
    """The request was not made: it could have gone beyond a limit."""

    def __init__(self, limit: Limit, *, used: Decimal, asked: Decimal, renews_at: datetime) -> None:
        self.limit = limit
        self.used = used
        self.asked = asked
        self.renews_at = renews_at
        whose = "all agents together" if limit.agent_id == ALL else f"the agent {limit.agent_id}"
        sentence = _(
            "The budget of %(whose)s for this %(period)s does not allow it: %(amount_text)s of "
            "%(amount_text_2)s are used or reserved, and the request may need up to "
            "%(amount_text_3)s. It starts anew on %(renews_at)s at 00:00 UTC."
        ) % {
            "whose": whose,
            "period": limit.period,
            "amount_text": amount_text(used, limit.unit),
            "amount_text_2": amount_text(limit.most, limit.unit),
            "amount_text_3": amount_text(asked, limit.unit),
            "renews_at": f"{renews_at:%Y-%m-%d}",
        }
        super().__init__(sentence)


def short_text(amount: Decimal, unit: Unit) -> str:
    """For pages: money in cents, and below ten cents with two digits that say something."""
    if unit == "tokens" or not 0 < amount < Decimal("0.1"):
        return amount_text(amount.quantize(Decimal("0.01")), unit)
    return f"${amount:.2g}" if amount >= Decimal("0.0001") else "under $0.0001"


def amount_text(amount: Decimal, unit: Unit) -> str:
    """`12,000 tokens`, `$0.50`; money below a cent with all its digits."""
    if unit == "tokens":
        return f"{int(amount):,} tokens"
    short = amount.quantize(Decimal("0.01"))
    if short == amount:
        return f"${short:,}"
    return f"${amount.quantize(Decimal('0.000001')).normalize():,f}"
