"""The admin of deliveries: one list for all receivers, and a page per delivery with its calls."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_POST

from proofroom.core import outbox
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.labels import badge, public_kind_label
from proofroom.core.admin.lists import ListAdmin
from proofroom.core.admin.permissions import (
    actor_of,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.i18n import in_words
from proofroom.webhooks import queries
from proofroom.webhooks.delivery_queue import find_blocking_delivery
from proofroom.webhooks.models import Delivery, DeliveryStatus
from proofroom.webhooks.services.replay import replay_delivery

BADGES = {"pending": "queued", "sending": "running", "cancelled": "archived"}


def badge_of(status: str) -> SafeString:
    """Render a status as a label with a colour."""
    return badge(BADGES.get(status, status), in_words(str(DeliveryStatus(status).label)))


class ReceiverFilter(admin.SimpleListFilter):
    title = gettext_lazy("receiver")
    parameter_name = "receiver"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind, in_words(name)) for kind, name in queries.RECEIVERS.items()]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Delivery]
    ) -> QuerySet[Delivery] | None:
        value = self.value()
        return queries.of_receiver(queryset, value) if value in queries.RECEIVERS else None


class EventFilter(admin.SimpleListFilter):
    """A filter by event. It offers the registered events."""

    # Django's own filter would read all values of the table to find the choices.
    title = gettext_lazy("event")
    parameter_name = "event_name"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        kinds = [kind for kind in outbox.all_kinds() if kind.is_webhook or kind.is_trigger]
        tests = [kind for kind in outbox.all_kinds() if kind.name.endswith(".test")]
        return [(kind.public_name, in_words(kind.label)) for kind in (*kinds, *tests)]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Delivery]
    ) -> QuerySet[Delivery] | None:
        value = self.value()
        return queryset.filter(event_name=value) if value else None


@admin.register(Delivery)
class DeliveryAdmin(ListAdmin[Delivery]):
    view_permission = "webhooks.manage"
    list_display = ("what", "to", "state", "when", "attempts", "why")
    list_filter = ("status", ReceiverFilter, EventFilter, "created_at", "webhook")
    list_select_related = ("webhook",)
    ordering = ("-created_at", "-id")
    list_per_page = 50
    show_full_result_count = False

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        known = ("workflow_id__exact", "workflow_id", "post_id__exact", "post_id")
        return lookup in known or super().lookup_allowed(lookup, value, request)

    @admin.display(description=gettext_lazy("Event"), ordering="event_name")
    def what(self, row: Delivery) -> str:
        return public_kind_label(row.event_name)

    @admin.display(description=pgettext_lazy("receiver", "To"))
    def to(self, row: Delivery) -> str:
        return receiver_name(row)

    @admin.display(description=gettext_lazy("Status"), ordering="status")
    def state(self, row: Delivery) -> SafeString:
        return badge_of(row.status)

    @admin.display(description=gettext_lazy("When"), ordering="created_at")
    def when(self, row: Delivery) -> object:
        return row.created_at

    @admin.display(description=gettext_lazy("Error"))
    def why(self, row: Delivery) -> str:
        return row.last_error or "—"

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(
            request, {"title": gettext("Deliveries"), **(extra_context or {})}
        )

    def get_urls(self) -> list[URLPattern]:
        def wrap(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        extra_urls = [
            path(
                "<uuid:delivery_id>/change/", wrap(show), name="proofroom_webhooks_delivery_change"
            ),
            path(
                "<uuid:delivery_id>/replay/",
                wrap(replay),
                name="proofroom_webhooks_delivery_replay",
            ),
        ]
        list_urls = [
            url
            for url in super().get_urls()
            if url.name == "proofroom_webhooks_delivery_changelist"
        ]
        return extra_urls + list_urls


def receiver_name(row: Delivery) -> str:
    """Return the name of the receiver, for people."""
    if row.webhook is not None:
        return row.webhook.name
    if row.workflow_id:
        return gettext("Workflow %(workflow_id)s") % {"workflow_id": row.workflow_id}
    kind, _, suffix = row.lane.partition(":")
    name = in_words(queries.RECEIVERS.get(kind, kind))
    agent_id, _, number = suffix.rpartition(":")
    return (
        gettext("%(name)s %(number)s of %(agent_id)s")
        % {"name": name, "number": number, "agent_id": agent_id}
        if agent_id
        else name
    )


@service_errors_as_http
def show(request: HttpRequest, delivery_id: UUID) -> TemplateResponse:
    """Show a delivery: its status, its body, and every call."""
    require(request, "webhooks.manage")
    row = queries.find_delivery(delivery_id)
    visible = queries.visible_request(row, actor_of(request))
    body = visible.body
    with suppress(TypeError, ValueError):  # no body, or not JSON
        body = json.dumps(json.loads(body or ""), indent=2, ensure_ascii=False)
    context = {
        "row": row,
        "to": receiver_name(row),
        "label": public_kind_label(row.event_name),
        "state": badge_of(row.status),
        "shown": visible,
        "body": body,
        "tries": list(row.tries.order_by("-number")),
        "is_finished": row.next_attempt_at is None,
        "waits_for_a_try": row.waits_for_retry and not row.is_held,
        "is_held": row.is_held,
        "waits_for": find_blocking_delivery(row),
    }
    title = f"{public_kind_label(row.event_name)}: {row.get_status_display().lower()}"
    return form_page(
        request, "admin/proofroom_webhooks/delivery.html", Delivery, context, title=title
    )


@require_POST
@service_errors_as_http
def replay(request: HttpRequest, delivery_id: UUID) -> HttpResponse:
    """Send a finished delivery again."""
    require(request, "webhooks.manage")
    with service_errors_as_messages(request):
        replay_delivery(delivery_id=delivery_id, actor=actor_of(request))
        messages.success(request, gettext("Sending again."))
    return HttpResponseRedirect(
        reverse("admin:proofroom_webhooks_delivery_change", args=[delivery_id])
    )
