"""What the admin, the API and the command show of requests, retention and browser storage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from proofroom.core.privacy.browser_storage import Audience, StorageKind, StoredItem
from proofroom.core.privacy.declarations import find_kind
from proofroom.core.privacy.kinds import ERASURE_LABELS
from proofroom_apps.privacy.models import PersonalDataRequest, RequestAction

ACTION_LABELS: Final = {
    RequestAction.SEARCH: gettext_lazy("Search"),
    RequestAction.EXPORT: gettext_lazy("Export"),
    RequestAction.ERASE: gettext_lazy("Erasure"),
}
AUDIENCE_LABELS: Final = {
    Audience.VISITORS: gettext_lazy("Visitors"),
    Audience.STAFF: gettext_lazy("People who work in the admin"),
}
STORAGE_LABELS: Final = {
    StorageKind.COOKIE: gettext_lazy("Cookie"),
    StorageKind.LOCAL: gettext_lazy("Local storage"),
    StorageKind.SESSION: gettext_lazy("Session storage"),
}
NOT_SEARCHED: Final = gettext_lazy(
    "Not searched: menus, terms, forms, redirects, uploaded files and their descriptions, and rejected changes."
)
_DAY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class KindResult:
    """The result for one kind of data. `erased` is None if nothing was to be erased yet."""

    kind: str
    label: str
    found: int
    erasure: str
    erasure_label: str
    reason: str
    erased: int | None


def results_of(job: PersonalDataRequest, *, with_empty: bool = False) -> list[KindResult]:
    """Return the results by kind, in the reader's language. Kinds of removed apps are left out."""
    found = []
    for name, result in job.results.items():
        kind = find_kind(name)
        if kind is None or not (with_empty or result["found"]):
            continue
        found.append(
            KindResult(
                name,
                str(kind.label),
                result["found"],
                kind.erasure.value,
                str(ERASURE_LABELS[kind.erasure]),
                str(kind.reason),
                result.get("erased"),
            )
        )
    return found


def lifetime_of(item: StoredItem) -> str:
    """Return how long a value stays in the browser, in the reader's language."""
    seconds = item.lifetime
    if seconds is None:
        return _("Until it is deleted in the browser")
    if seconds < 60:
        return _("Until the browser is closed")
    if seconds < _DAY_SECONDS:
        hours = max(1, seconds // 3600)
        return ngettext("%(hours)s hour", "%(hours)s hours", hours) % {"hours": hours}
    days = seconds // _DAY_SECONDS
    return ngettext("%(days)s day", "%(days)s days", days) % {"days": days}
