"""The test of a provider's key and address: the button, and its result in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from agents_app.models import CheckOutcome, ProviderCheck
from agents_app.settings.provider_checks import ask_check, is_lost
from agents_app.settings.providers import Provider
from core.admin.rights import actor_of, answers_refusals, refusals_as_messages, require

_PROBLEMS: Final[Mapping[str, Promise]] = {
    CheckOutcome.KEY_REFUSED: gettext_lazy(
        "It refused the key (%(status)s). Put a valid one into %(variable)s, and start anew."
    ),
    CheckOutcome.QUOTA: gettext_lazy(
        "It takes no requests at present (%(status)s): the quota or credit is used up, or there were "
        "too many. Look into the account at the provider."
    ),
    CheckOutcome.UNREACHABLE: gettext_lazy(
        "Its address could not be reached. Check the address and this server's way out."
    ),
    CheckOutcome.SILENT: gettext_lazy(
        "It did not answer within ten seconds. Test again, or check its address."
    ),
    CheckOutcome.NO_LIST: gettext_lazy(
        "Something answers at its address, but knows no list of models (%(status)s). Check the address."
    ),
    CheckOutcome.FAILED: gettext_lazy("It failed on its side (%(status)s). Test again later."),
    CheckOutcome.UNREADABLE: gettext_lazy(
        "It answered with something that is no list of models. Check its address."
    ),
    CheckOutcome.UNUSABLE: gettext_lazy(
        "Its key or its address cannot be sent as it stands. Look for blanks and line ends in %(variable)s."
    ),
}


@dataclass(frozen=True, slots=True)
class Tested:
    """What the last test said; `is_waiting` while a worker is still to ask."""

    said: str
    look: str
    at: datetime | None
    is_waiting: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """A provider on the page. Its button stands where it is first named, though it may serve two kinds."""

    provider: Provider
    can_be_tested: bool
    tested: Tested | None


def connections(found: Sequence[Provider]) -> list[Shown]:
    """The providers with what their tests said. One query."""
    checks = ProviderCheck.objects.in_bulk([item.id for item in found if item.source])
    shown: list[Shown] = []
    for item in found:
        is_first = item.id not in {one.provider.id for one in shown}
        can_be_tested = is_first and bool(item.source) and item.is_configured
        row = checks.get(item.id) if can_be_tested else None
        tested = describe_check(row, item) if row is not None and row.asked_at is not None else None
        shown.append(Shown(item, can_be_tested, tested))
    return shown


@require_POST
@answers_refusals
def test(request: HttpRequest, provider: str) -> HttpResponse:
    """Have the provider asked; the page says what came back."""
    require(request, "agents.edit")
    with refusals_as_messages(request):
        ask_check(provider=provider, actor=actor_of(request))
    return HttpResponseRedirect(f"{reverse('admin:agents_app_aisettings_changelist')}#providers")


def describe_check(row: ProviderCheck, item: Provider) -> Tested:
    if is_lost(row):
        said = _(
            "No worker took the test up, or it was ended in the middle. Look whether workers run, "
            "and test again."
        )
        return Tested(said, "problem", row.asked_at)
    if row.checked_at is None:
        return Tested(_("Being tested…"), "waiting", row.asked_at, is_waiting=True)
    if row.outcome == CheckOutcome.WORKS:
        said = ngettext(
            "It works: it answers, and its list names %(n)d model.",
            "It works: it answers, and its list names %(n)d models.",
            row.models_listed,
        ) % {"n": row.models_listed}
        if row.lacks:
            names = ", ".join(map(str, row.lacks))
            lacking = _("Not on the list: %(names)s. Runs with it may fail; choose another model.")
            said = f"{said} {lacking % {'names': names}}"
        return Tested(said, "careful" if row.lacks else "works", row.checked_at)
    problem = str(_PROBLEMS.get(row.outcome, row.outcome))
    values = {"status": row.status, "variable": item.source}
    return Tested(problem % values, "problem", row.checked_at)
