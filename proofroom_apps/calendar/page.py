"""The calendar in the admin: a month or a week with its publications, expiries, releases and due dates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from typing import Final
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from proofroom.accounts.queries import active_people
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.errors import RuleViolation
from proofroom.core.i18n.languages import language_name
from proofroom.core.i18n.time_zones import current_zone_name
from proofroom.core.json import format_time
from proofroom.core.post_type_names import post_type_labels
from proofroom_apps.calendar.entries import CalendarEntry, CalendarFilter, EntryKind, list_entries
from proofroom_apps.calendar.feeds import feed_url, renew_feed
from proofroom_apps.calendar.labels import label_of, url_of
from proofroom_apps.calendar.moves import find_movable
from proofroom_apps.calendar.periods import Period, midnight, period_in
from proofroom_apps.editorial.posts.post_pages import page

_MAX_PEOPLE: Final = 200
_WORKING_HOURS: Final = range(8, 19)
"""Hours that a week shows also without entries."""
_BADGES: Final[dict[EntryKind, str]] = {
    "publication": "published",
    "expiry": "archived",
    "release": "scheduled",
    "due": "review",
}


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """An entry with the colour of its badge and the page it opens. `move_url`: empty if it can't be moved."""

    entry: CalendarEntry
    badge: str
    label: str
    url: str
    move_url: str

    @property
    def key(self) -> str:
        return f"{self.entry.source}:{self.entry.id}"

    @property
    def seen(self) -> str:
        return format_time(self.entry.at)


@dataclass(frozen=True, slots=True)
class CalendarHour:
    """An hour of a day of the week."""

    begin: time
    entries: Sequence[ShownEntry]


@dataclass(frozen=True, slots=True)
class CalendarDay:
    """A day. `is_outside`: of the month before or after. `hours`: in the view of a week."""

    day: date
    is_outside: bool
    is_today: bool
    entries: Sequence[ShownEntry]
    hours: Sequence[CalendarHour] = ()


@service_errors_as_http
def calendar(request: HttpRequest) -> HttpResponse:
    """Show a month or a week, narrowed by `type`, `locale` and `person`; invalid values are ignored.

    POST renews the address of the user's feed.
    """
    require(request, "posts.view")
    if request.method == "POST":
        renew_feed(actor_of(request))
        messages.success(request, _("This is your new address. The former one no longer works."))
        return HttpResponseRedirect(f"{request.get_full_path()}#feed")
    period, asked, problem = period_in(request.GET), _filter_in(request), ""
    try:
        entries = list_entries(
            midnight(period.begin), midnight(period.end), actor_of(request), asked
        )
    except RuleViolation as error:
        entries, problem = [], error.message
    chosen = {
        "type": asked.type,
        "locale": asked.locale,
        "person": str(asked.person) if asked.person is not None else "",
    }
    movable = find_movable(entries, actor_of(request))
    back = _query(period, chosen)
    shown = [
        _show(entry, back if (entry.source, entry.id) in movable else None) for entry in entries
    ]
    days = list(_days(period, shown))
    people = active_people().order_by("username")
    context = {
        "period": period,
        "is_week": period.view == "week",
        "period_name": period.view,
        "period_value": period.query[period.view],
        "weeks": [days[place : place + 7] for place in range(0, len(days), 7)],
        "hours": [hour.begin for hour in days[0].hours],
        "feed": feed_url(actor_of(request)) or "",
        "zone": current_zone_name(),
        "problem": problem,
        "is_empty": not entries and not problem,
        "has_movable": bool(movable),
        "earlier": _query(period.earlier, chosen),
        "following": _query(period.following, chosen),
        "today": _query(Period(period.view, _today_in(period)), chosen),
        "month": _query(period.as_month(), chosen),
        "week": _query(period.as_week(), chosen),
        "unfiltered": _query(period, {}),
        "is_filtered": any(chosen.values()),
        "chosen": chosen,
        "types": post_type_labels().items(),
        "locales": [(name, language_name(name)) for name in settings.CMS_ENV.locales],
        "people": [
            (str(pk), name) for pk, name in people.values_list("pk", "username")[:_MAX_PEOPLE]
        ],
    }
    return page(request, "admin/calendar/calendar.html", context, title=_("Calendar"))


def _today_in(period: Period) -> date:
    today = timezone.localdate()
    return today if period.view == "week" else today.replace(day=1)


def _filter_in(request: HttpRequest) -> CalendarFilter:
    type_, locale = request.GET.get("type", ""), request.GET.get("locale", "")
    person = request.GET.get("person", "")
    is_id = person.isascii() and person.isdecimal() and len(person) <= 18
    return CalendarFilter(
        type=type_ if type_ in post_type_labels() else "",
        locale=locale if locale in settings.CMS_ENV.locales else "",
        person=int(person) if is_id else None,
    )


def _show(entry: CalendarEntry, back: str | None) -> ShownEntry:
    move_url = ""
    if back is not None:
        query = urlencode({"entry": f"{entry.source}:{entry.id}", "back": back})
        move_url = f"{reverse('admin:calendar-move')}?{query}"
    return ShownEntry(entry, _BADGES[entry.kind], label_of(entry), url_of(entry), move_url)


def _days(period: Period, entries: Sequence[ShownEntry]) -> Iterator[CalendarDay]:
    by_day: defaultdict[date, list[ShownEntry]] = defaultdict(list)
    for one in entries:
        by_day[timezone.localtime(one.entry.at).date()].append(one)
    hours = range(0)
    if period.view == "week":
        # From the first to the last entry of all days, so that the hours are rows.
        own = {timezone.localtime(one.entry.at).hour for one in entries} | {*_WORKING_HOURS}
        hours = range(min(own), max(own) + 1)
    today = timezone.localdate()
    for day in period.days:
        yield CalendarDay(
            day,
            period.view == "month" and day.month != period.day.month,
            day == today,
            by_day.get(day, ()),
            list(_hours(hours, by_day.get(day, ()))),
        )


def _hours(hours: Iterable[int], entries: Sequence[ShownEntry]) -> Iterator[CalendarHour]:
    by_hour: defaultdict[int, list[ShownEntry]] = defaultdict(list)
    for one in entries:
        by_hour[timezone.localtime(one.entry.at).hour].append(one)
    for hour in hours:
        yield CalendarHour(time(hour), by_hour.get(hour, ()))


def _query(period: Period, chosen: Mapping[str, str]) -> str:
    """Return the query of the page that shows a period with the same filters."""
    return urlencode({**period.query, **{name: value for name, value in chosen.items() if value}})
