"""The admin site: title, navigation and home."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

_ORDER = {
    "content": 0,
    "seo": 1,
    "forms": 1,
    "analytics": 1,
    "agents_app": 2,
    "mcp_bridge": 2,
    "media": 3,
    "proofroom_accounts": 4,
    "proofroom_core": 5,
}
_SECTIONS = {
    "proofroom_feedback": "content",
    "proofroom_menus": "content",
    "proofroom_taxonomies": "content",
}
"""Apps whose lists stand in the section of another app."""
_NAMES = {
    "AgentBatch": gettext_lazy("Batches"),
    "AgentRun": gettext_lazy("Runs"),
    "AgentSwitch": gettext_lazy("Agents"),
    "Asset": gettext_lazy("Media"),
    "Event": gettext_lazy("Activity log"),
    "ModuleInstance": gettext_lazy("Global modules"),
    "Replacement": gettext_lazy("Find and replace"),
    "SiteCount": gettext_lazy("Figures of the site"),
    "UrlPattern": gettext_lazy("URL patterns"),
    "User": gettext_lazy("Accounts"),
    "WorkflowSwitch": gettext_lazy("Workflows"),
}
"""What people call the lists, where the model's name is the database's."""


def _is_done(response: HttpResponse) -> bool:
    """Return whether a form of Django's own went through: it leads on then."""
    return response.status_code == 302


def _page(name: str, object_name: str, address: str) -> dict[str, Any]:
    """A page that stands among the lists, of no model."""
    return {
        "name": name,
        "object_name": object_name,
        "perms": {"view": True},
        "admin_url": reverse(address),
        "add_url": None,
        "view_only": True,
    }


def _join_sections(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the lists of apps that have no section of their own into the one that they stand in, by name."""
    sections: dict[str, dict[str, Any]] = {}
    for app in found:
        label = _SECTIONS.get(app["app_label"], app["app_label"])
        if label not in sections:
            address = reverse("admin:app_list", args=[label])
            name = apps.get_app_config(label).verbose_name
            sections[label] = {
                **app,
                "app_label": label,
                "app_url": address,
                "name": name,
                "models": [],
            }
        sections[label]["models"] += app["models"]
    for joined in sections.values():
        joined["models"].sort(key=lambda model: str(model["name"]).lower())
    return list(sections.values())


class CmsAdminSite(admin.AdminSite):
    site_header = "Proofroom"
    site_title = "Proofroom"
    index_title = gettext_lazy("Home")
    index_template = "admin/home.html"

    def get_urls(self) -> list[URLPattern | URLResolver]:
        # Models are not loaded yet when the site itself is imported.
        from agents_app.admin.batches import bulk
        from agents_app.admin.run_dialog.field_run import ask_field
        from agents_app.admin.run_dialog.start import ask
        from analytics.admin.heatmap import heatmap
        from analytics.admin.heatmap_frame import heatmap_frame
        from analytics.admin.variations import variations
        from cms_project.help import help_image, help_page
        from cms_project.palette import palette
        from mcp_bridge.admin.connect import connect
        from proofroom.core.admin.design import design
        from proofroom.editorial.inbox.batches import inbox_batch, inbox_batch_cancel, inbox_batches
        from proofroom.editorial.inbox.page import inbox
        from proofroom.editorial.inbox.similar_changes import inbox_all, inbox_like
        from proofroom.editorial.translations.matrix import translations
        from seo.admin.search_engines import address_trace, search_engines

        own: list[URLPattern | URLResolver] = [
            path("language/", require_POST(set_language), name="language"),
            path("palette/", self.admin_view(palette), name="palette"),
            path("design/", self.admin_view(design), name="design"),
            path("inbox/", self.admin_view(inbox), name="inbox"),
            path("inbox/all/", self.admin_view(inbox_all), name="inbox-all"),
            path("inbox/like/<slug:like>/", self.admin_view(inbox_like), name="inbox-like"),
            path("inbox/batches/", self.admin_view(inbox_batches), name="inbox-batches"),
            path(
                "inbox/batches/<uuid:batch_id>/",
                self.admin_view(inbox_batch),
                name="inbox-batch",
            ),
            path(
                "inbox/batches/<uuid:batch_id>/cancel/",
                self.admin_view(inbox_batch_cancel),
                name="inbox-batch-cancel",
            ),
            path(
                "content/translations/",
                self.admin_view(translations),
                name="content-translations",
            ),
            path("seo/search-engines/", self.admin_view(search_engines), name="seo"),
            path("seo/trace/", self.admin_view(address_trace), name="seo-trace"),
            path("agents_app/ask/", self.admin_view(ask), name="agents_app_ask"),
            path("agents_app/bulk/", self.admin_view(bulk), name="agents_app_bulk"),
            path("agents_app/field/", self.admin_view(ask_field), name="agents_app_ask_field"),
            path("mcp/", self.admin_view(connect), name="mcp-connect"),
            path(
                "analytics/variations/<uuid:post_id>/",
                self.admin_view(variations),
                name="analytics-variations",
            ),
            path(
                "analytics/heatmap/<uuid:post_id>/",
                self.admin_view(heatmap),
                name="analytics-heatmap",
            ),
            path(
                "analytics/frame/<uuid:post_id>/",
                self.admin_view(heatmap_frame),
                name="analytics-heatmap-frame",
            ),
            path("help/", self.admin_view(help_page), name="help"),
            path("help/<slug:page>/", self.admin_view(help_page), name="help-page"),
            path("help/images/<str:name>", self.admin_view(help_image), name="help-image"),
        ]
        return own + super().get_urls()

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Django's page, with the limit on tries that the API has."""
        from proofroom.accounts.login_limits import count_login_try
        from proofroom.accounts.services.sessions import record_login
        from proofroom.core.admin.permissions import actor_of

        if request.method == "POST":
            over = count_login_try(request, request.POST.get("username", ""))
            if over is not None:
                return self._too_many_tries(request, over.wait)
        response = super().login(request, extra_context)
        if request.method == "POST" and request.user.is_authenticated and _is_done(response):
            record_login(actor=actor_of(request))
        return response

    def logout(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        from proofroom.accounts.services.sessions import record_logout
        from proofroom.core.admin.permissions import actor_of

        if request.method == "POST" and request.user.is_authenticated:
            record_logout(actor=actor_of(request))
        return super().logout(request, extra_context)

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        from proofroom.accounts.services.sessions import record_own_password
        from proofroom.core.admin.permissions import actor_of

        with transaction.atomic():
            response = super().password_change(request, extra_context)
            if request.method == "POST" and _is_done(response):
                record_own_password(actor=actor_of(request))
        return response

    def _too_many_tries(self, request: HttpRequest, wait: int) -> HttpResponse:
        request.method = "GET"
        text = ngettext(
            "Too many tries to log in. Wait %(wait)d second.",
            "Too many tries to log in. Wait %(wait)d seconds.",
            wait,
        )
        messages.error(request, text % {"wait": wait})
        response = super().login(request)
        response.status_code = 429
        response["Retry-After"] = str(wait)
        return response

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """Return what waits for a person, and what happened lately."""
        from cms_project.overview import overview

        return super().index(request, {**overview(request), **(extra_context or {})})

    def get_app_list(
        self, request: HttpRequest, app_label: str | None = None
    ) -> list[dict[str, Any]]:
        from mcp_bridge.admin.connect import PERMISSIONS

        section = _SECTIONS.get(app_label or "", app_label)
        labels = [label for label, of in _SECTIONS.items() if of == section] if section else []
        found: list[dict[str, Any]] = [
            app
            for label in [section, *labels]
            for app in super(CmsAdminSite, self).get_app_list(request, label)
        ]
        found = _join_sections(found)
        connects = any(request.user.has_perm(permission) for permission in PERMISSIONS)
        is_there = any(app["app_label"] == "mcp_bridge" for app in found)
        if connects and not is_there and section in (None, "mcp_bridge"):
            # The section of AI clients, for whoever may see none of its lists.
            found.append(
                {
                    "name": apps.get_app_config("mcp_bridge").verbose_name,
                    "app_label": "mcp_bridge",
                    "app_url": reverse("admin:mcp-connect"),
                    "has_module_perms": True,
                    "models": [],
                }
            )
        for app in found:
            if app["app_label"] == "seo" and request.user.has_perm("seo.manage"):
                app["models"].insert(0, _page(_("Search engines"), "SearchEngines", "admin:seo"))
            if app["app_label"] == "content" and request.user.has_perm("posts.view"):
                app["models"].append(
                    _page(_("Translations"), "Translations", "admin:content-translations")
                )
            if app["app_label"] == "mcp_bridge" and connects:
                app["models"].insert(
                    0, _page(_("Connect an AI client"), "Connect", "admin:mcp-connect")
                )
            for model in app["models"]:
                model["name"] = _NAMES.get(str(model["object_name"]), model["name"])
        return sorted(found, key=lambda app: _ORDER.get(str(app["app_label"]), 9))
