"""The activity log: every event, to read."""

from __future__ import annotations

import json

from django.contrib import admin

from core.admin.rights import PermittedAdmin
from core.models import Event


@admin.register(Event)
class EventAdmin(PermittedAdmin[Event]):
    view_permission = "settings.manage"
    list_display = ("name", "created_at", "actor", "via", "agent_id", "post_id", "is_dispatched")
    list_filter = ("name", "via")
    list_select_related = ("actor",)
    search_fields = ("name", "agent_id", "run_id")
    ordering = ("-id",)
    list_per_page = 50
    show_full_result_count = False
    fields = (
        "name",
        "created_at",
        "actor",
        "via",
        "agent_id",
        "run_id",
        "post_id",
        "details",
        "cause",
        "hop",
        "dispatched_at",
        "attempts",
    )
    readonly_fields = ("details", "created_at")

    @admin.display(description="Told", boolean=True)
    def is_dispatched(self, event: Event) -> bool:
        return event.dispatched_at is not None

    @admin.display(description="Details")
    def details(self, event: Event) -> str:
        return json.dumps(event.payload, indent=2, ensure_ascii=False)
