"""The admin site: title, navigation and home."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path

_ORDER = {"content": 0, "agents_app": 1, "media": 2, "accounts": 3, "core": 4}
_NAMES = {
    "AgentRun": "Runs",
    "Asset": "Media",
    "Event": "Activity log",
    "ModuleInstance": "Global modules",
    "User": "Accounts",
}
"""What people call the lists, where the model's name is the database's."""


class CmsAdminSite(admin.AdminSite):
    site_header = "CMS"
    site_title = "CMS"
    index_title = "Home"
    index_template = "admin/home.html"

    def get_urls(self) -> list[URLPattern | URLResolver]:
        # Models are not loaded yet when the site itself is imported.
        from content.admin.inbox import inbox

        own: list[URLPattern | URLResolver] = [
            path("inbox/", self.admin_view(inbox), name="inbox"),
        ]
        return own + super().get_urls()

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """What waits for a person, and what happened lately."""
        from cms_project.admin_home.overview import overview

        return super().index(request, {**overview(request), **(extra_context or {})})

    def get_app_list(
        self, request: HttpRequest, app_label: str | None = None
    ) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = super().get_app_list(request, app_label)
        for app in found:
            for model in app["models"]:
                model["name"] = _NAMES.get(str(model["object_name"]), model["name"])
        return sorted(found, key=lambda app: _ORDER.get(str(app["app_label"]), 9))
