"""Personal data of the activity log and of saved views, and what the admin stores in browsers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy

from proofroom.core import outbox
from proofroom.core.activity.presenters import present_payload
from proofroom.core.activity.pseudonyms import pseudonymise_events
from proofroom.core.actor import Actor
from proofroom.core.background_jobs.runner import JobRunner
from proofroom.core.i18n.time_zones import TIME_ZONE_COOKIE
from proofroom.core.json import JsonObject
from proofroom.core.middleware import STAFF_COOKIE
from proofroom.core.models import Event, ListView
from proofroom.core.outbox.events import all_kinds, find_kind
from proofroom.core.privacy.browser_storage import Audience, StorageKind, StoredItem
from proofroom.core.privacy.kinds import Erasure, PersonalDataKind, Table, TableKind
from proofroom.core.privacy.person import Person
from proofroom.core.privacy.retention import Retention
from proofroom.core.templatetags.shell import OPEN_LISTS_COOKIE, SIDEBAR_COOKIE, THEME_COOKIE

_CHAIN: Final = gettext_lazy(
    "Entries of the activity log stay as evidence of who changed what. They lose the name."
)
_YEAR_SECONDS: Final = 365 * 24 * 60 * 60
_BATCH_ROWS: Final = 500


class ActivityOfMember(PersonalDataKind):
    """The entries of what a member of staff did."""

    name = "activity.member"
    label = gettext_lazy("Activity log: actions of this person")
    models = ("proofroom_core.Event", "proofroom_core.Seal")
    erasure = Erasure.PSEUDONYMISED
    reason = _CHAIN
    # Also the entries of the erasure itself that earlier kinds caused.
    order = 90

    def count(self, person: Person) -> int:
        return self._rows(person).count()

    def records(self, person: Person) -> Iterator[JsonObject]:
        rows = self._rows(person).order_by("pk")
        for event in rows.iterator(chunk_size=_BATCH_ROWS):
            kind = find_kind(event.name)
            yield {
                "record": str(kind.label) if kind is not None else event.name,
                "id": str(event.pk),
                "at": event.created_at.isoformat(),
                "via": event.via,
            }

    def erase(self, person: Person, actor: Actor) -> int:
        def rename(event: Event) -> None:
            event.actor_name = person.pseudonym

        rows = self._rows(person).exclude(actor_name=person.pseudonym)
        return pseudonymise_events(rows, rename)

    def _rows(self, person: Person) -> QuerySet[Event]:
        if person.user_id is None:
            return Event.objects.none()
        return Event.objects.filter(actor_id=person.user_id)


class ActivityMentions(PersonalDataKind):
    """The entries whose details contain the address."""

    name = "activity.mentions"
    label = gettext_lazy("Activity log: entries with this address")
    models = ()
    erasure = Erasure.MASKED
    reason = _CHAIN
    order = 80

    def count(self, person: Person) -> int:
        return sum(1 for _event in self._rows(person))

    def records(self, person: Person) -> Iterator[JsonObject]:
        for event in self._rows(person):
            kind = find_kind(event.name)
            yield {
                "record": str(kind.label) if kind is not None else event.name,
                "id": str(event.pk),
                "at": event.created_at.isoformat(),
                # Without the texts of private kinds: another visitor may have sent them.
                "details": present_payload(event),
            }

    def erase(self, person: Person, actor: Actor) -> int:
        private = {kind.name for kind in all_kinds() if kind.is_private}
        forgotten, masked = list[int](), list[int]()
        for event in self._rows(person):
            (forgotten if event.name in private else masked).append(event.pk)
        if forgotten:
            outbox.forget(forgotten)

        def mask(event: Event) -> None:
            payload = person.mask(event.payload)
            event.payload = payload if isinstance(payload, dict) else {}

        rows = Event.objects.filter(pk__in=masked)
        return len(forgotten) + pseudonymise_events(rows, mask)

    def _rows(self, person: Person) -> Iterator[Event]:
        found = person.filter_mentions(Event.objects.all(), "payload").order_by("pk")
        for event in found.iterator(chunk_size=_BATCH_ROWS):
            if person.is_mentioned(event.payload):
                yield event


class PrivateViews(TableKind):
    """The saved views of lists that others do not use."""

    def __init__(self) -> None:
        super().__init__(
            "activity.list-views",
            gettext_lazy("Saved views of lists"),
            Table("proofroom_core.ListView", ("list_name", "name", "query", "updated_at")),
            erasure=Erasure.DELETED,
            reason=gettext_lazy("Views shared with the team stay."),
        )

    def count(self, person: Person) -> int:
        return self._rows(person).count()

    def records(self, person: Person) -> Iterator[JsonObject]:
        for row in self._rows(person).order_by("pk"):
            yield self.tables[0].record(row)

    def erase(self, person: Person, actor: Actor) -> int:
        count = self._rows(person).count()
        self._rows(person).delete()
        return count

    def _rows(self, person: Person) -> QuerySet[ListView]:
        if person.user_id is None:
            return ListView.objects.none()
        return ListView.objects.filter(owner=person.user_id, is_shared=False)


KINDS: Final = (ActivityOfMember(), ActivityMentions(), PrivateViews())
WITHOUT_PERSONAL_DATA: Final = (
    "proofroom_core.ContentVersion",
    "proofroom_core.LiveChange",
    "proofroom_core.QueueFailure",
    "proofroom_core.ScheduledTask",
)
RETENTIONS: Final = (
    Retention(
        "activity",
        gettext_lazy("Activity log and events for webhooks"),
        setting="ACTIVITY_DAYS",
        task_name="core.tasks.prune_activity",
    ),
    Retention(
        "jobs",
        gettext_lazy("Finished background jobs"),
        fixed_days=JobRunner.keep_ended.days,
        task_name="content.tasks.purge_trash",
    ),
)
STORED_ITEMS: Final = (
    StoredItem(
        lambda: settings.SESSION_COOKIE_NAME,
        StorageKind.COOKIE,
        Audience.STAFF,
        gettext_lazy("Keeps a person logged in."),
        gettext_lazy("When a person opens the login page or logs in"),
        lambda: settings.SESSION_COOKIE_AGE,
    ),
    StoredItem(
        lambda: settings.CSRF_COOKIE_NAME,
        StorageKind.COOKIE,
        Audience.STAFF,
        gettext_lazy("Protects forms of the admin from requests by other sites."),
        gettext_lazy("When a person opens a form of the admin"),
        lambda: settings.CSRF_COOKIE_AGE,
    ),
    StoredItem(
        STAFF_COOKIE,
        StorageKind.COOKIE,
        Audience.STAFF,
        gettext_lazy("Keeps visits of staff out of the analytics. It identifies nobody."),
        gettext_lazy("When a person logs in"),
        lambda: settings.SESSION_COOKIE_AGE,
    ),
    StoredItem(
        "messages",
        StorageKind.COOKIE,
        Audience.STAFF,
        gettext_lazy("Shows on the next page what a form of the admin has done."),
        gettext_lazy("When a person saves a form of the admin"),
        0,
    ),
    StoredItem(
        lambda: settings.LANGUAGE_COOKIE_NAME,
        StorageKind.COOKIE,
        Audience.STAFF,
        gettext_lazy("Remembers the language of the admin for the login page."),
        gettext_lazy("When a person chooses a language in the admin"),
        lambda: settings.LANGUAGE_COOKIE_AGE,
    ),
    StoredItem(
        THEME_COOKIE,
        StorageKind.COOKIE,
        Audience.STAFF,
        gettext_lazy("Remembers the colour theme of the admin for the login page."),
        gettext_lazy("When a person chooses a theme in the admin"),
        _YEAR_SECONDS,
    ),
    StoredItem(
        TIME_ZONE_COOKIE,
        StorageKind.COOKIE,
        Audience.STAFF,
        gettext_lazy(
            "Tells the admin the time zone of the browser, for dates without a chosen zone."
        ),
        gettext_lazy("When a person opens a page of the admin"),
        _YEAR_SECONDS,
    ),
    StoredItem(
        SIDEBAR_COOKIE,
        StorageKind.COOKIE,
        Audience.STAFF,
        gettext_lazy("Remembers whether the post editor shows its sidebar."),
        gettext_lazy("When a person opens or closes the sidebar"),
        _YEAR_SECONDS,
    ),
    StoredItem(
        "admin_navigation",
        StorageKind.COOKIE,
        Audience.STAFF,
        gettext_lazy("Remembers whether the navigation of the admin is collapsed."),
        gettext_lazy("When a person collapses the navigation"),
        _YEAR_SECONDS,
    ),
    StoredItem(
        OPEN_LISTS_COOKIE,
        StorageKind.COOKIE,
        Audience.STAFF,
        gettext_lazy("Remembers which lists of the navigation are open."),
        gettext_lazy("When a person opens or closes “More” or “Settings”"),
        _YEAR_SECONDS,
    ),
    StoredItem(
        "admin-recent",
        StorageKind.LOCAL,
        Audience.STAFF,
        gettext_lazy("The pages of the admin that were opened last, for the command palette."),
        gettext_lazy("When a person opens pages of the admin"),
    ),
)
