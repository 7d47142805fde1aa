"""Filters of the activity log. None asks the log for its values: that would read all of it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.activity.presenters import CHANNEL_LABELS
from proofroom.core.activity.queries import names_of
from proofroom.core.admin.bounded_lists import ValueFilter
from proofroom.core.i18n import in_words
from proofroom.core.models import Event
from proofroom.core.outbox import all_kinds
from proofroom.core.outbox.dispatch import failed_events

_MOST = 100
Choices = list[tuple[str, str]]
_GROUPS = {
    "activity": gettext_lazy("Activity log"),
    "agent": gettext_lazy("Agents"),
    "ai": gettext_lazy("AI settings"),
    "chat": gettext_lazy("Chat"),
    "content": gettext_lazy("Menus, terms, redirects and more"),
    "database": gettext_lazy("Find and replace"),
    "events": gettext_lazy("Events"),
    "feedback": gettext_lazy("Notes"),
    "form": gettext_lazy("Forms"),
    "mcp": gettext_lazy("AI clients (MCP)"),
    "mcp_token": gettext_lazy("MCP tokens"),
    "media": gettext_lazy("Media"),
    "module-group": gettext_lazy("Module groups"),
    "post": gettext_lazy("Posts"),
    "redirects": gettext_lazy("Redirects"),
    "sitemap": gettext_lazy("Sitemap"),
    "token": gettext_lazy("API tokens"),
    "urlPattern": gettext_lazy("URL patterns"),
    "user": gettext_lazy("Accounts"),
    "webhook": gettext_lazy("Webhooks"),
    "workflow": gettext_lazy("Workflows"),
}


class GroupFilter(ValueFilter):
    title = gettext_lazy("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        groups = {kind.name.partition(".")[0] for kind in all_kinds() if not kind.is_internal}
        named = [(group, str(_GROUPS.get(group, group.capitalize()))) for group in groups]
        return sorted(named, key=lambda item: item[1])

    def narrowed(self, rows: QuerySet[Event], value: str) -> QuerySet[Event]:
        return rows.filter(name__in=names_of(value))


class DoorFilter(ValueFilter):
    title = gettext_lazy("door")
    parameter_name = "via"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [(door, in_words(name)) for door, name in CHANNEL_LABELS.items()]

    def narrowed(self, rows: QuerySet[Event], value: str) -> QuerySet[Event]:
        return rows.filter(via=value[:20])


class EventStateFilter(ValueFilter):
    title = gettext_lazy("telling")
    parameter_name = "telling"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [("given-up", _("Given up"))]

    def narrowed(self, rows: QuerySet[Event], value: str) -> QuerySet[Event]:
        return rows.filter(pk__in=failed_events().values("pk"))


class ActorFilter(ValueFilter):
    title = gettext_lazy("account")
    parameter_name = "actor"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        rows = get_user_model()._default_manager.order_by("username")[:_MOST]
        return [(str(row.pk), str(row)) for row in rows]

    def narrowed(self, rows: QuerySet[Event], value: str) -> QuerySet[Event]:
        is_id = value.isascii() and value.isdigit() and len(value) <= 18
        return rows.filter(actor_id=int(value)) if is_id else rows.none()


class EventAgentFilter(ValueFilter):
    title = gettext_lazy("agent")
    parameter_name = "agent"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        users = get_user_model()._default_manager.filter(agent_id__isnull=False)
        ids = users.order_by("agent_id").values_list("agent_id", flat=True)[:_MOST]
        return [(id_, id_) for id_ in ids if id_]

    def narrowed(self, rows: QuerySet[Event], value: str) -> QuerySet[Event]:
        return rows.filter(agent_id=value[:80])


class EventPostFilter(ValueFilter):
    """Only shown where a post's page led here."""

    title = gettext_lazy("post")
    parameter_name = "post"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        value = request.GET.get(self.parameter_name, "")
        return [(value, value)] if value else []

    def narrowed(self, rows: QuerySet[Event], value: str) -> QuerySet[Event]:
        try:
            return rows.filter(post_id=UUID(value))
        except ValueError:
            return rows.none()
