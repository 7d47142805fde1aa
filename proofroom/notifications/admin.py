"""The admin pages of notifications: the list, the panel of the bell, and its count."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time
from typing import Any, Final, cast

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from proofroom.accounts.models import User
from proofroom.accounts.queries import preferences_of
from proofroom.core.actor import Actor
from proofroom.core.admin.form_pages import save_form
from proofroom.core.admin.navigation import MAX_COUNT
from proofroom.core.admin.permissions import actor_of, service_errors_as_http
from proofroom.core.errors import NotFound
from proofroom.notifications.mail import DIGEST_HOUR
from proofroom.notifications.models import MAILED, Channel
from proofroom.notifications.notification_types import (
    Category,
    NotificationKind,
    notification_kinds,
)
from proofroom.notifications.queries import (
    count_unread,
    count_unseen,
    describe,
    visible_notifications,
)
from proofroom.notifications.services import (
    choose_channels,
    mark_all_read,
    mark_read,
    mark_seen,
    parse_unsubscribe_token,
    unsubscribe,
)

PAGE_SIZE = 50
PANEL_SIZE = 8


@require_safe
def notifications(request: HttpRequest) -> HttpResponse:
    """Show the list; with `?panel`, only the latest for the bell's panel."""
    # The page sends this time back to `see`, so that notifications that arrive after the query stay unseen.
    actor, asked_at = actor_of(request), timezone.now().isoformat()
    rows = visible_notifications(actor)
    if "panel" in request.GET:
        panel = {"lines": describe(list(rows[:PANEL_SIZE]), actor), "asked_at": asked_at}
        return TemplateResponse(request, "admin/notifications/panel.html", panel)
    is_unread = request.GET.get("show") == "unread"
    if is_unread:
        rows = rows.filter(read_at=None)
    found = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        **admin.site.each_context(request),
        "title": _("Notifications"),
        "found": found,
        "lines": describe(list(found), actor),
        "is_unread": is_unread,
        "count": count_unread(actor),
        "asked_at": asked_at,
    }
    return TemplateResponse(request, "admin/notifications/list.html", context)


@require_safe
def unseen_count(request: HttpRequest) -> JsonResponse:
    """Return the bell's count as JSON: `{"count": 3, "label": "3 new notifications"}`."""
    number = count_unseen(actor_of(request))
    label = ngettext("%(n)s new notification", "%(n)s new notifications", number)
    shown_count = f"{MAX_COUNT}+" if number > MAX_COUNT else str(number)
    return JsonResponse(
        {"count": shown_count if number else "", "label": label % {"n": shown_count}}
    )


@dataclass(frozen=True, slots=True)
class ChoiceGroup:
    """Categories that one choice sets together."""

    name: str
    label: str | Promise
    about: str | Promise
    categories: tuple[Category | None, ...]


GROUPS: Final = (
    ChoiceGroup(
        "you",
        gettext_lazy("Mentions and assignments"),
        gettext_lazy("Comments that mention you, and work that is assigned to you."),
        (Category.MENTION, Category.ASSIGNMENT),
    ),
    ChoiceGroup(
        "decisions",
        gettext_lazy("Decisions"),
        gettext_lazy("Decisions on your changes, and changes that you can decide on."),
        (Category.DECIDED,),
    ),
    ChoiceGroup(
        "dates",
        gettext_lazy("Dates"),
        gettext_lazy("What is due, and schedules that were carried out or failed."),
        (Category.DUE,),
    ),
    ChoiceGroup(
        "others",
        gettext_lazy("Everything else"),
        gettext_lazy("Failed runs, submissions of forms, and replies."),
        (Category.FAILED_RUN, Category.SUBMISSION, None),
    ),
)
SEPARATE: Final = ""
"""Value of a group whose kinds have different channels."""


@dataclass(frozen=True, slots=True)
class Section:
    """A group with the choice for all of its kinds, and the choice for each."""

    group: ChoiceGroup
    choice: forms.BoundField
    visible_fields: list[forms.BoundField]


class ChoicesForm(forms.Form):
    """A form with one field per kind that the user may see, and one per group that sets all of its kinds.

    The names of the fields are the names of kinds, and `group-` with the name of a group.
    """

    def __init__(self, *args: Any, actor: Actor, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = dict(user.notification_choices.values_list("kind", "channel"))
        self._by_group: dict[str, list[NotificationKind]] = {}
        self.has_useless_choice = False
        for group in GROUPS:
            kinds = [
                kind
                for kind in notification_kinds
                if kind.category in group.categories and actor.can(kind.permission)
            ]
            if not kinds:
                continue
            self._by_group[group.name] = kinds
            initial = {kind.name: self._add_kind(kind, stored.get(kind.name)) for kind in kinds}
            channels = {*initial.values()}
            offered = [
                channel
                for channel in Channel
                if channel not in MAILED
                or channel in channels
                or (settings.HAS_EMAIL and any(kind.can_be_mailed for kind in kinds))
            ]
            self.fields[f"group-{group.name}"] = forms.ChoiceField(
                label=str(group.label),
                help_text=str(group.about),
                required=False,
                choices=[
                    *([(SEPARATE, _("Different for each"))] if len(channels) > 1 else []),
                    *((channel.value, channel.label) for channel in offered),
                ],
                initial=SEPARATE if len(channels) > 1 else next(iter(channels)),
            )

    def _add_kind(self, kind: NotificationKind, chosen: str | None) -> str:
        """Add the field of a kind and return its channel."""
        channel = chosen or kind.default_channel
        if channel in MAILED and not settings.HAS_EMAIL:
            # What was chosen stays. A default only applies to sites with email.
            self.has_useless_choice |= chosen is not None
            channel = chosen or Channel.ADMIN
        channels = [
            each
            for each in Channel
            if each not in MAILED or each == channel or (kind.can_be_mailed and settings.HAS_EMAIL)
        ]
        self.fields[kind.name] = forms.ChoiceField(
            label=kind.label,
            choices=[(each.value, each.label) for each in channels],
            initial=str(channel),
            required=False,
        )
        return str(channel)

    @property
    def sections(self) -> list[Section]:
        return [
            Section(
                group,
                self[f"group-{group.name}"],
                [self[kind.name] for kind in self._by_group[group.name]],
            )
            for group in GROUPS
            if group.name in self._by_group
        ]

    @property
    def changes(self) -> dict[str, str]:
        """The channels that differ from the present ones. A kind's own change takes precedence over its group's."""
        found: dict[str, str] = {}
        for name, kinds in self._by_group.items():
            field = f"group-{name}"
            channel = self.cleaned_data[field]
            if field not in self.changed_data or channel == SEPARATE:
                continue
            for kind in kinds:
                is_possible = kind.can_be_mailed or channel not in MAILED
                chosen = channel if is_possible else Channel.ADMIN.value
                if chosen != self.fields[kind.name].initial:
                    found[kind.name] = chosen
        own = {
            name: self.cleaned_data[name]
            for name in self.changed_data
            if not name.startswith("group-") and self.cleaned_data[name]
        }
        return {**found, **own}


@require_http_methods(["GET", "HEAD", "POST"])
@service_errors_as_http
def notification_choices(request: HttpRequest) -> HttpResponse:
    """GET shows the channel of each kind. POST saves them."""
    actor, user = actor_of(request), cast("User", request.user)
    data = request.POST if request.method == "POST" else None
    form = ChoicesForm(data, actor=actor, user=user)
    if form.is_bound and save_form(
        form, lambda: choose_channels(actor=actor, channels=form.changes)
    ):
        messages.success(request, _("Notification settings saved."))
        return HttpResponseRedirect(request.path)
    zone = preferences_of(user).time_zone or settings.TIME_ZONE
    context = {
        **admin.site.each_context(request),
        "title": _("Notification settings"),
        "form": form,
        "has_email": settings.HAS_EMAIL,
        "email": user.email,
        "digest_time": time(DIGEST_HOUR),
        "zone": zone,
    }
    status = 422 if form.errors else 200
    template = "admin/notifications/choices.html"
    return TemplateResponse(request, template, context, status=status)


# Mail providers call it for their users, without a session. Only the mail has the token.
@csrf_exempt
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def unsubscribe_page(request: HttpRequest, token: str) -> HttpResponse:
    """GET asks, because scanners open the links of a mail. POST turns the mails off without a redirect (RFC 8058)."""
    context = {**admin.site.each_context(request), "title": _("Notification emails")}
    template = "admin/notifications/unsubscribe.html"
    try:
        _user, channel, kinds = parse_unsubscribe_token(token)
        if request.method == "POST":
            unsubscribe(token)
            context["is_done"] = True
    except NotFound as error:
        context["problem"] = error.message
        return TemplateResponse(request, template, context, status=404)
    context["is_digest"] = channel == Channel.DIGEST
    context["labels"] = [kind.label for kind in notification_kinds if kind.name in kinds]
    response = TemplateResponse(request, template, context)
    # The address contains the token.
    response["Referrer-Policy"] = "no-referrer"
    return response


@require_POST
@service_errors_as_http
def open_notification(request: HttpRequest, notification_id: int) -> HttpResponse:
    """Mark a notification as read and redirect to its subject."""
    actor = actor_of(request)
    row = mark_read(notification_id=notification_id, actor=actor)
    lines = describe([row], actor)
    url = lines[0].text.url if lines else ""
    return HttpResponseRedirect(url or reverse("admin:notifications"))


@require_POST
def see(request: HttpRequest) -> HttpResponse:
    """Mark the notifications up to `until` as seen. The bell counts only later ones."""
    try:
        until = parse_datetime(request.POST.get("until", ""))
    except ValueError:
        until = None
    if until is None or timezone.is_naive(until):
        return HttpResponse(status=422)
    # A time in the future would hide notifications that do not exist yet.
    mark_seen(until=min(until, timezone.now()), actor=actor_of(request))
    return HttpResponse(status=204)


@require_POST
def read_all(request: HttpRequest) -> HttpResponse:
    """Mark everything as read."""
    mark_all_read(actor=actor_of(request))
    messages.success(request, _("All notifications marked as read."))
    return HttpResponseRedirect(reverse("admin:notifications"))
