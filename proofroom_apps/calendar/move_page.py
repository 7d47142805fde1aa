"""Moving an entry in the admin: by the form, which works without scripts, or by the script of the calendar."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, get_args

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from proofroom.core.actor import Actor
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.admin.undo import UndoKind, Undone, undo_button
from proofroom.core.errors import CmsError, invalid
from proofroom.core.i18n.time_zones import (
    current_zone_name,
    exact_time,
    find_time_zone,
    from_local_input,
    to_local_input,
)
from proofroom.core.json import JsonObject, format_time
from proofroom.core.validation.input_validation import parse_uuid
from proofroom_apps.calendar.entries import CalendarEntry, EntrySource
from proofroom_apps.calendar.labels import label_of
from proofroom_apps.calendar.moves import EntryMove, find_movable, move_entry, require_entry
from proofroom_apps.editorial.posts.post_pages import page

_SOURCES: Final[dict[str, EntrySource]] = {name: name for name in get_args(EntrySource)}
_APPROVED: Final[frozenset[EntrySource]] = frozenset({"changes", "release"})
"""A new time for these is an approval."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What a move did. `undo`: what is sent to move it back, None if that time is past."""

    text: str
    undo: JsonObject | None


@require_http_methods(["GET", "HEAD", "POST"])
@service_errors_as_http
def move(request: HttpRequest) -> HttpResponse:
    """GET shows a form for `entry=<source>:<id>`, POST moves it.

    `seen`: when the entry was. The new time is `at`, or `day` with or without `hour` at the same local time.
    """
    require(request, "posts.view")
    is_script = request.headers.get("Accept") == "application/json"
    # The zone in which the page showed its times.
    with timezone.override(
        find_time_zone(request.POST.get("time_zone")) or timezone.get_current_timezone()
    ):
        if request.method != "POST":
            return _form(request, _entry_in(request.GET.get("entry", ""), actor_of(request)))
        try:
            entry = _entry_in(request.POST.get("entry", ""), actor_of(request))
            moved = _move(request, entry)
        except CmsError as error:
            if is_script:
                return JsonResponse({"message": error.message}, status=error.status)
            if error.status in (403, 404):
                raise
            return _form(request, entry, error.message, error.status)
        if is_script:
            return JsonResponse({"message": moved.text, "undo": moved.undo})
        button = _offer_undo(request, moved)
        messages.success(request, format_html("{} {}", moved.text, button))
        return HttpResponseRedirect(_calendar_url(request.POST.get("back", "")))


def _entry_in(key: str, actor: Actor) -> CalendarEntry:
    """Return the entry of a key as it is now. Raises `NotFound`, and `Http404` for a malformed key."""
    source, _separator, id_ = key.partition(":")
    entry_id = parse_uuid(id_)
    if source not in _SOURCES or entry_id is None:
        raise Http404
    return require_entry(_SOURCES[source], entry_id, actor)


def _form(
    request: HttpRequest, entry: CalendarEntry, problem: str = "", status: int = 200
) -> HttpResponse:
    if request.method != "POST" and not find_movable([entry], actor_of(request)):
        raise PermissionDenied(_("You cannot move this."))
    sent = request.POST if request.method == "POST" else request.GET
    context = {
        "entry": f"{entry.source}:{entry.id}",
        "label": label_of(entry),
        "present": entry.at,
        "seen": format_time(entry.at),
        "at": request.POST.get("at") or to_local_input(entry.at),
        "earliest": to_local_input(timezone.now()),
        "zone": current_zone_name(),
        "approves": entry.source in _APPROVED,
        "problem": problem,
        "back": sent.get("back", ""),
        "back_url": _calendar_url(sent.get("back", "")),
    }
    title = _("Move “%(title)s”") % {"title": entry.title}
    return page(request, "admin/calendar/move.html", context, title=title, status=status)


def _move(request: HttpRequest, entry: CalendarEntry) -> Moved:
    """Move the entry as the request says. Raises `CmsError`."""
    seen = _moment_in(request.POST.get("seen", ""))
    zone = timezone.get_current_timezone_name()
    wanted = EntryMove(entry, seen, _time_in(request, seen), time_zone=zone)
    return _carry_out(wanted, actor_of(request))


def _carry_out(wanted: EntryMove, actor: Actor) -> Moved:
    move_entry(wanted, actor)
    entry = wanted.entry
    text = _("“%(title)s” moved to %(time)s.")
    text %= {"title": entry.title, "time": exact_time(wanted.at)}
    if entry.source in _APPROVED:
        text = f"{text} {_('You approved it for this time.')}"
    undo: JsonObject | None = None
    if wanted.seen_at > timezone.now():
        undo = {
            "entry": f"{entry.source}:{entry.id}",
            "seen": format_time(wanted.at),
            "at": format_time(wanted.seen_at),
        }
    return Moved(text, undo)


def _time_in(request: HttpRequest, seen: datetime) -> datetime:
    """Return the new time. Raises `RuleViolation` on `at`, also for times that the clocks skip or repeat."""
    day, hour = request.POST.get("day", ""), request.POST.get("hour", "")
    if not day:
        return _moment_in(request.POST.get("at", ""))
    local = timezone.localtime(seen).replace(tzinfo=None)
    try:
        new = datetime.combine(date.fromisoformat(day), local.time())
        if hour:
            new = new.replace(hour=int(hour))
    except ValueError:
        raise invalid("at", _("Choose a date and a time.")) from None
    return _moment_in(new.isoformat())


def _moment_in(text: str) -> datetime:
    try:
        return from_local_input(text)
    except ValidationError as error:
        raise invalid("at", error.messages[0], code=str(error.code)) from None
    except (ValueError, OverflowError):
        raise invalid("at", _("Choose a date and a time.")) from None


def _calendar_url(back: str) -> str:
    # Only a query, so that it leads nowhere else.
    return f"{reverse('admin:calendar')}?{back}" if back else reverse("admin:calendar")


def _offer_undo(request: HttpRequest, moved: Moved) -> str:
    if moved.undo is None:
        return ""
    back = request.POST.get("back", "")
    arguments: JsonObject = {**moved.undo, "back": back}
    return undo_button(request, "calendar.move", arguments, back=_calendar_url(back))


def _undo(actor: Actor, arguments: JsonObject) -> Undone:
    entry = _entry_in(str(arguments["entry"]), actor)
    seen, at = (datetime.fromisoformat(str(arguments[name])) for name in ("seen", "at"))
    moved = _carry_out(EntryMove(entry, seen, at, timezone.get_current_timezone_name()), actor)
    return Undone(moved.text, _calendar_url(str(arguments["back"])))


UNDO_KIND: Final = UndoKind("calendar.move", _undo)
