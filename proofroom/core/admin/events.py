"""The activity log: sentences of events, filters, and a page for each entry with its causes and effects.

Filters don't query the log for their choices, because that would read the whole table.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth import get_user_model
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from proofroom.core import outbox
from proofroom.core.activity import queries
from proofroom.core.activity.presenters import CHANNEL_LABELS, present
from proofroom.core.activity.queries import names_of
from proofroom.core.admin.bounded_lists import BoundedPaginator, ValueFilter
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.labels import badge
from proofroom.core.admin.lists import ListAdmin, ViewChangeList
from proofroom.core.admin.permissions import (
    actor_of,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.i18n import in_words
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.core.outbox import all_kinds
from proofroom.core.outbox.dispatch import failed_events
from proofroom.core.validation.input_validation import parse_uuid

_MAX_CHOICES = 100
Choices = list[tuple[str, str]]
_GROUPS = {
    "activity": gettext_lazy("Activity log"),
    "agent": gettext_lazy("Agents"),
    "ai": gettext_lazy("AI settings"),
    "calendar": gettext_lazy("Calendar"),
    "chat": gettext_lazy("Chat"),
    "comment": gettext_lazy("Comments"),
    "content": gettext_lazy("Menus, terms, redirects and more"),
    "database": gettext_lazy("Find and replace"),
    "events": gettext_lazy("Events"),
    "feedback": gettext_lazy("Notes"),
    "form": gettext_lazy("Forms"),
    "mcp": gettext_lazy("AI clients (MCP)"),
    "mcp_token": gettext_lazy("MCP tokens"),
    "media": gettext_lazy("Media"),
    "module-group": gettext_lazy("Module groups"),
    "personal-data": gettext_lazy("Personal data"),
    "post": gettext_lazy("Posts"),
    "redirects": gettext_lazy("Redirects"),
    "release": gettext_lazy("Releases"),
    "sitemap": gettext_lazy("Sitemap"),
    "token": gettext_lazy("API tokens"),
    "urlPattern": gettext_lazy("URL patterns"),
    "user": gettext_lazy("Accounts"),
    "webhook": gettext_lazy("Webhooks"),
    "workflow": gettext_lazy("Workflows"),
}


class GroupFilter(ValueFilter):
    title = gettext_lazy("type")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        groups = {kind.name.partition(".")[0] for kind in all_kinds() if not kind.is_internal}
        named = [(group, str(_GROUPS.get(group, group.capitalize()))) for group in groups]
        return sorted(named, key=lambda item: item[1])

    def narrowed(self, rows: QuerySet[Event], value: str) -> QuerySet[Event]:
        return rows.filter(name__in=names_of(value))


class DoorFilter(ValueFilter):
    title = gettext_lazy("via")
    parameter_name = "via"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [(door, in_words(name)) for door, name in CHANNEL_LABELS.items()]

    def narrowed(self, rows: QuerySet[Event], value: str) -> QuerySet[Event]:
        return rows.filter(via=value[:20])


class EventStateFilter(ValueFilter):
    title = gettext_lazy("notification")
    parameter_name = "telling"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [("given-up", _("Failed"))]

    def narrowed(self, rows: QuerySet[Event], value: str) -> QuerySet[Event]:
        return rows.filter(pk__in=failed_events().values("pk"))


class ActorFilter(ValueFilter):
    title = gettext_lazy("account")
    parameter_name = "actor"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        rows = get_user_model()._default_manager.order_by("username")[:_MAX_CHOICES]
        return [(str(row.pk), str(row)) for row in rows]

    def narrowed(self, rows: QuerySet[Event], value: str) -> QuerySet[Event]:
        is_id = value.isascii() and value.isdigit() and len(value) <= 18
        return rows.filter(actor_id=int(value)) if is_id else rows.none()


class EventAgentFilter(ValueFilter):
    title = gettext_lazy("agent")
    parameter_name = "agent"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        users = get_user_model()._default_manager.filter(agent_id__isnull=False)
        ids = users.order_by("agent_id").values_list("agent_id", flat=True)[:_MAX_CHOICES]
        return [(id_, id_) for id_ in ids if id_]

    def narrowed(self, rows: QuerySet[Event], value: str) -> QuerySet[Event]:
        return rows.filter(agent_id=value[:80])


class EventPostFilter(ValueFilter):
    """A filter set by a link from a post's page."""

    title = gettext_lazy("post")
    parameter_name = "post"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        value = request.GET.get(self.parameter_name, "")
        return [(value, value)] if value else []

    def narrowed(self, rows: QuerySet[Event], value: str) -> QuerySet[Event]:
        post_id = parse_uuid(value)
        return rows.none() if post_id is None else rows.filter(post_id=post_id)


_BADGE_STYLES = {
    "review": "review",
    "ai-review": "ai-review",
    "agent": "ai-review",
    "mcp": "ai-review",
}
_FAILED_SUFFIXES = (
    "deleted",
    "purged",
    "revoked",
    "removed",
    "reject",
    "pruned",
    "disabled",
    "failed",
)

_EXPORT_PARAMETERS = {
    "kind": "event",
    "via": "via",
    "actor": "actor",
    "agent": "agentId",
    "post": "postId",
    "created_at__gte": "from",
    "created_at__lt": "to",
}
"""Filters of the list with their names in the export."""


class _Entries(ViewChangeList):
    """Rows with their sentences, built for the whole page at once."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rows = list(self.result_list)
        for row, entry in zip(rows, present(rows, actor_of(request)), strict=True):
            row.entry = entry
        self.result_list = rows


@admin.register(Event)
class EventAdmin(ListAdmin[Event]):
    view_permission = "settings.manage"
    has_exact_times = True
    list_display = ("what", "sentence", "door", "created_at")
    list_display_links = ("sentence",)
    list_filter = (
        GroupFilter,
        DoorFilter,
        EventStateFilter,
        "created_at",
        ActorFilter,
        EventAgentFilter,
        EventPostFilter,
    )
    search_fields = ("id",)
    search_help_text = gettext_lazy("Entry number, or ID of a post, event or run")
    ordering = ("-id",)
    sortable_by = ()
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    paginator = BoundedPaginator

    def get_queryset(self, request: HttpRequest) -> QuerySet[Event]:
        return queries.filter_activity()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return _Entries

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Event], search_term: str
    ) -> tuple[QuerySet[Event], bool]:
        text = search_term.strip()
        return (queryset.filter(_search_condition(text)) if text else queryset), False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        filters = {
            new: request.GET[old] for old, new in _EXPORT_PARAMETERS.items() if request.GET.get(old)
        }
        exports = {
            f"{format_}_url": f"/api/activity/export?{urlencode({'format': format_, **filters})}"
            for format_ in ("csv", "jsonl")
        }
        own = {"title": gettext("Activity log"), **exports}
        return super().changelist_view(request, {**own, **(extra_context or {})})

    @admin.display(description=gettext_lazy("Type"))
    def what(self, event: Event) -> SafeString:
        return badge_of(event)

    @admin.display(description=gettext_lazy("Event"))
    def sentence(self, event: Event) -> str:
        return str(_entry(event)["sentence"])

    @admin.display(description=gettext_lazy("Via"))
    def door(self, event: Event) -> str:
        return str(_entry(event)["door"])

    def get_urls(self) -> list[URLPattern]:
        def wrap(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        own = [
            path("<int:event_id>/change/", wrap(show), name="proofroom_core_event_change"),
            path(
                "<int:event_id>/tell-again/",
                wrap(tell_again),
                name="proofroom_core_event_tell_again",
            ),
        ]
        # Only the list of Django's pages: entries have their own page and cannot be edited.
        listed = [
            url for url in super().get_urls() if url.name == "proofroom_core_event_changelist"
        ]
        return own + listed


def badge_of(event: Event) -> SafeString:
    """Return the badge of the event's kind."""
    kind = outbox.find_kind(event.name)
    looks = [look for part, look in _BADGE_STYLES.items() if part in event.name.split(".")]
    look = "failed" if event.name.endswith(_FAILED_SUFFIXES) else (looks or ["new"])[0]
    return badge(look, in_words(kind.label) if kind else event.name)


@service_errors_as_http
def show(request: HttpRequest, event_id: int) -> TemplateResponse:
    """Show one entry: its facts, payload, causes and effects, and its link in the chain."""
    require(request, "settings.manage")
    # The path converter accepts more digits than a bigint holds.
    event = queries.find_entry(min(event_id, 2**63 - 1))
    causes, effects = queries.causes_of(event), queries.effects_of(event)
    related = [*causes, event, *(row for _, row in effects)]
    presented = dict(
        zip([row.pk for row in related], present(related, actor_of(request)), strict=True)
    )
    entry = presented[event.pk]
    tree = [(place, presented[row.pk], row) for place, row in enumerate(causes)]
    tree.append((len(causes), entry, event))
    tree += [(len(causes) + depth, presented[row.pk], row) for depth, row in effects]
    branches = [
        {
            "indent": "↳ " if place else "",
            # Em spaces, which browsers don't collapse.
            "level": "\u2003" * max(0, place - 1),
            "entry": one,
            "at": row.created_at,
            "is_here": row.pk == event.pk,
        }
        for place, one, row in tree
    ]
    context = {
        "event": event,
        "entry": entry,
        "badge": badge_of(event),
        "payload": json.dumps(entry["payload"], indent=2, ensure_ascii=False),
        "tree": branches if tree[1:] else [],
        "is_given_up": event.dispatched_at is None and event.attempts >= outbox.MAX_ATTEMPTS,
    }
    title = gettext("Entry %(pk)s") % {"pk": event.pk}
    return form_page(request, "admin/proofroom_core/event/entry.html", Event, context, title=title)


@require_POST
@service_errors_as_http
def tell_again(request: HttpRequest, event_id: int) -> HttpResponse:
    """Retry an event whose delivery failed."""
    require(request, "settings.manage")
    with service_errors_as_messages(request):
        if outbox.redeliver(event_ids=[min(event_id, 2**63 - 1)], actor=actor_of(request)):
            messages.success(request, gettext("Trying again."))
        else:
            messages.warning(
                request, gettext("This event has not failed, so there is nothing to retry.")
            )
    return HttpResponseRedirect(reverse("admin:proofroom_core_event_changelist"))


def _entry(event: Event) -> JsonObject:
    found: JsonObject = event.entry  # type: ignore[attr-defined]  # set by _Entries
    return found


def _search_condition(text: str) -> Q:
    """Match a number, an id or a full name. Parts of names don't match: that would read the whole log."""
    if text.isascii() and text.isdigit():
        return Q(pk=min(int(text[:19]), 2**63 - 1))
    id_ = parse_uuid(text)
    if id_ is None:
        return Q(name=text)
    return Q(uid=id_) | Q(post_id=id_) | Q(run_id=str(id_))
