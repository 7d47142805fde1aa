"""Menus, to read. They are edited over REST until the admin has a tree for them."""

from __future__ import annotations

import json

from django.contrib import admin

from content.models import Menu
from core.admin.rights import PermittedAdmin


@admin.register(Menu)
class MenuAdmin(PermittedAdmin[Menu]):
    view_permission = "menus.edit"
    list_display = ("name", "slug", "locale", "updated_at")
    list_filter = ("locale",)
    search_fields = ("name", "slug")
    ordering = ("slug", "locale")
    fields = ("name", "slug", "locale", "entries", "updated_at")
    readonly_fields = ("entries", "updated_at")

    @admin.display(description="Entries")
    def entries(self, menu: Menu) -> str:
        return json.dumps(menu.items, indent=2, ensure_ascii=False)
