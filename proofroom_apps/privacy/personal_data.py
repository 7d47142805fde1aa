"""Personal data of the requests themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject
from proofroom.core.privacy.kinds import Erasure, PersonalDataKind, Table, TableKind
from proofroom.core.privacy.person import Person
from proofroom.core.privacy.retention import Retention
from proofroom_apps.privacy.models import KEPT_DAYS, PersonalDataRequest, requests_about
from proofroom_apps.privacy.request_runs import forget_requests


class EarlierRequests(PersonalDataKind):
    """Earlier searches and exports for the address, with the files of exports."""

    name = "privacy.requests"
    label = gettext_lazy("Earlier requests about this address")
    models = ("proofroom_privacy.PersonalDataRequest", "proofroom_privacy.ExportChunk")
    erasure = Erasure.PSEUDONYMISED
    reason = gettext_lazy(
        "Requests stay for 30 days without the address. Files of exports are deleted."
    )
    order = 110

    def count(self, person: Person) -> int:
        return self._rows(person).count()

    def records(self, person: Person) -> Iterator[JsonObject]:
        for row in self._rows(person).order_by("created_at"):
            yield {
                "record": str(self.label),
                "id": str(row.pk),
                "action": row.action,
                "at": row.created_at.isoformat(),
            }

    def erase(self, person: Person, actor: Actor) -> int:
        return forget_requests(person)

    def _rows(self, person: Person) -> QuerySet[PersonalDataRequest]:
        # Requests that run are about to change their row themselves.
        return requests_about(person).exclude(state="running")


def _usual_copies(person: Person) -> Iterable[str]:
    yield _(
        "Backups, server logs and sent mail are not searched. They end with their own retention."
    )


COPIES: Final = (_usual_copies,)
KINDS: Final = (
    TableKind(
        "privacy.handled",
        gettext_lazy("Requests about personal data that this person handled"),
        Table(
            "proofroom_privacy.PersonalDataRequest",
            ("action", "state", "created_at"),
            owners=("by",),
            names={"by_name": "by"},
        ),
        erasure=Erasure.PSEUDONYMISED,
    ),
    EarlierRequests(),
)
RETENTIONS: Final = (
    Retention(
        "personal-data-requests",
        gettext_lazy("Requests about personal data"),
        fixed_days=KEPT_DAYS,
        task_name="content.tasks.purge_trash",
        note=gettext_lazy("Files of exports are deleted after a day."),
    ),
)
