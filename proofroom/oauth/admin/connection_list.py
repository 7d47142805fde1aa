"""The list of all users' connected AI clients, for users who manage tokens."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.admin.bounded_lists import ValueFilter
from proofroom.core.admin.lists import ListAdmin
from proofroom.core.i18n.ages import age_html
from proofroom.oauth.connections import with_state
from proofroom.oauth.models import OAuthConnection

_STATES = {True: gettext_lazy("connected"), False: gettext_lazy("ended")}
_BADGES = {True: "succeeded", False: "archived"}


class StateFilter(ValueFilter):
    title = gettext_lazy("status")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("connected", _STATES[True]), ("ended", _STATES[False])]

    def narrowed(self, rows: QuerySet[OAuthConnection], value: str) -> QuerySet[OAuthConnection]:
        if value not in ("connected", "ended"):
            return rows.none()
        return rows.filter(is_open=value == "connected")  # type: ignore[misc]  # annotated


@admin.register(OAuthConnection)
class OAuthConnectionAdmin(ListAdmin[OAuthConnection]):
    view_permission = "tokens.manage"
    empty_words = gettext_lazy(
        "Nobody has connected an AI client yet. People do it from the client itself, "
        "with the address of the MCP server."
    )
    list_display = (
        "client_name",
        "user",
        "state",
        "allowed",
        "used",
        "connected_at",
        "calls",
        "end",
    )
    list_display_links = None
    list_filter = (StateFilter,)
    search_fields = ("client__name", "client__client_id", "user__username", "user__email")
    ordering = ("-connected_at", "-pk")
    sortable_by = ("used", "connected_at")
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER

    def get_queryset(self, request: HttpRequest) -> QuerySet[OAuthConnection]:
        return with_state(super().get_queryset(request)).select_related("client", "user")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        title = _("Connected AI clients")
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def get_urls(self) -> list[URLPattern]:
        return [url for url in super().get_urls() if str(url.name).endswith("_changelist")]

    @admin.display(description=gettext_lazy("Client"))
    def client_name(self, connection: OAuthConnection) -> SafeString:
        client = connection.client
        return format_html('{} <span class="quiet">{}</span>', client.label, client.document_host)

    @admin.display(description=gettext_lazy("Status"))
    def state(self, connection: OAuthConnection) -> SafeString:
        is_open: bool = connection.is_open  # type: ignore[attr-defined]  # annotated
        return format_html(
            '<span class="badge badge-{}">{}</span>', _BADGES[is_open], str(_STATES[is_open])
        )

    @admin.display(description=gettext_lazy("Can"))
    def allowed(self, connection: OAuthConnection) -> str:
        text = _("Read and propose") if "propose" in connection.scopes else _("Read")
        if connection.starts_agents:
            starts_label = _("start agents")  # gettext does not find it inside the f-string
            text = f"{text} · {starts_label}"
        if "diagnostics" in connection.scopes:
            text = f"{text} · {_('diagnostics')}"
        return f"{text} · {_('part of the content')}" if connection.content_scope else text

    @admin.display(description=gettext_lazy("Last used"), ordering="last_used_at")
    def used(self, connection: OAuthConnection) -> SafeString | str:
        return age_html(connection.last_used_at) if connection.last_used_at else _("never")

    @admin.display(description=gettext_lazy("Calls"))
    def calls(self, connection: OAuthConnection) -> SafeString:
        query = urlencode({"caller": f"oauth:{connection.pk}"})
        url = reverse("admin:mcp_bridge_mcpcall_changelist")
        return format_html('<a href="{}?{}">{}</a>', url, query, _("Show calls"))

    @admin.display(description=gettext_lazy("Actions"))
    def end(self, connection: OAuthConnection) -> SafeString | str:
        if not connection.is_open:  # type: ignore[attr-defined]  # annotated
            return ""
        names = {"name": connection.client.label}
        # The button submits the list's form to the same URL as on the account page.
        return format_html(
            '<a class="button" href="{}" aria-label="{}">{}</a> '
            '<button type="submit" formaction="{}" name="back" value="list" aria-label="{}">{}</button>',
            reverse("admin:oauth-limit", args=[connection.pk]),
            _("Limit %(name)s to part of the content") % names,
            _("Limit…"),
            reverse("admin:oauth-disconnect", args=[connection.pk]),
            _("Disconnect %(name)s") % names,
            _("Disconnect"),
        )
