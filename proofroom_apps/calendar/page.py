"""The calendar in the admin: a month with its publications, expiries, releases and due dates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format, get_format
from django.utils.translation import gettext as _

from proofroom.accounts.models import User
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.errors import RuleViolation
from proofroom.core.i18n.languages import language_name
from proofroom.core.i18n.time_zones import current_zone_name
from proofroom.core.post_type_names import post_type_labels
from proofroom_apps.calendar.entries import CalendarEntry, CalendarFilter, EntryKind, list_entries
from proofroom_apps.calendar.feeds import feed_url, renew_feed
from proofroom_apps.calendar.labels import label_of, url_of
from proofroom_apps.editorial.posts.post_pages import page

_FIRST_YEAR: Final = 1971
_LAST_YEAR: Final = 9998
_MAX_PEOPLE: Final = 200
_BADGES: Final[dict[EntryKind, str]] = {
    "publication": "published",
    "expiry": "archived",
    "release": "scheduled",
    "due": "review",
}


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """An entry of a day: its time, its label with the colour of its badge, and the page it opens."""

    at: datetime
    badge: str
    label: str
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class CalendarDay:
    """A day of the month's weeks. `is_outside`: of the month before or after."""

    day: date
    is_outside: bool
    is_today: bool
    entries: Sequence[ShownEntry]


@service_errors_as_http
def calendar(request: HttpRequest) -> HttpResponse:
    """Show a month (`?month=2026-12`), narrowed by `type`, `locale` and `person`; invalid values are ignored.

    POST renews the address of the user's feed.
    """
    require(request, "posts.view")
    if request.method == "POST":
        renew_feed(actor_of(request))
        messages.success(request, _("This is your new address. The former one no longer works."))
        return HttpResponseRedirect(f"{request.get_full_path()}#feed")
    first = _month_in(request)
    following = (first + timedelta(days=32)).replace(day=1)
    earlier = (first - timedelta(days=1)).replace(day=1)
    # Sunday is 0 in Django's formats, Monday in Python's weekdays.
    first_weekday = (int(get_format("FIRST_DAY_OF_WEEK")) - 1) % 7
    begin = first - timedelta(days=(first.weekday() - first_weekday) % 7)
    end = following + timedelta(days=(first_weekday - following.weekday()) % 7)
    asked, problem = _filter_in(request), ""
    try:
        entries = list_entries(_midnight(begin), _midnight(end), actor_of(request), asked)
    except RuleViolation as error:
        entries, problem = [], error.message
    by_day: defaultdict[date, list[ShownEntry]] = defaultdict(list)
    for entry in entries:
        by_day[timezone.localtime(entry.at).date()].append(_show(entry))
    today = timezone.localdate()
    days = [begin + timedelta(days=number) for number in range((end - begin).days)]
    shown = [
        CalendarDay(day, day.month != first.month, day == today, by_day.get(day, ()))
        for day in days
    ]
    chosen = {
        "type": asked.type,
        "locale": asked.locale,
        "person": str(asked.person) if asked.person is not None else "",
    }
    people = User.objects.filter(is_active=True).exclude(role="ai_agent").order_by("username")
    context = {
        "month": date_format(first, "YEAR_MONTH_FORMAT"),
        "month_value": f"{first:%Y-%m}",
        "weeks": [shown[place : place + 7] for place in range(0, len(shown), 7)],
        "weekdays": [date_format(day, "D") for day in days[:7]],
        "feed": feed_url(actor_of(request)) or "",
        "zone": current_zone_name(),
        "problem": problem,
        "is_empty": not entries and not problem,
        "earlier": _url(earlier, chosen),
        "following": _url(following, chosen),
        "today": _url(today.replace(day=1), chosen),
        "chosen": chosen,
        "types": post_type_labels().items(),
        "locales": [(name, language_name(name)) for name in settings.CMS_ENV.locales],
        "people": [
            (str(pk), name) for pk, name in people.values_list("pk", "username")[:_MAX_PEOPLE]
        ],
    }
    return page(request, "admin/calendar/month.html", context, title=_("Calendar"))


def _month_in(request: HttpRequest) -> date:
    """Return the first day of the month that was asked for, else of the current one."""
    try:
        found = datetime.strptime(request.GET.get("month", ""), "%Y-%m").date()  # noqa: DTZ007  # a month has no zone
    except ValueError:
        return timezone.localdate().replace(day=1)
    return found if _FIRST_YEAR <= found.year <= _LAST_YEAR else timezone.localdate().replace(day=1)


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time()))


def _filter_in(request: HttpRequest) -> CalendarFilter:
    type_, locale = request.GET.get("type", ""), request.GET.get("locale", "")
    person = request.GET.get("person", "")
    is_id = person.isascii() and person.isdecimal() and len(person) <= 18
    return CalendarFilter(
        type=type_ if type_ in post_type_labels() else "",
        locale=locale if locale in settings.CMS_ENV.locales else "",
        person=int(person) if is_id else None,
    )


def _show(entry: CalendarEntry) -> ShownEntry:
    return ShownEntry(entry.at, _BADGES[entry.kind], label_of(entry), entry.title, url_of(entry))


def _url(month: date, chosen: dict[str, str]) -> str:
    query = {"month": f"{month:%Y-%m}", **{name: value for name, value in chosen.items() if value}}
    return f"{reverse('admin:calendar')}?{urlencode(query)}"
