"""Global modules, to read: what is shared, and by how many posts."""

from __future__ import annotations

import json

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from content.models import ModuleInstance
from core.admin.rights import PermittedAdmin


@admin.register(ModuleInstance)
class SharedModuleAdmin(PermittedAdmin[ModuleInstance]):
    view_permission = "globals.edit"
    list_display = ("__str__", "type", "global_slug", "uses", "updated_at")
    search_fields = ("label", "global_slug")
    ordering = ("global_slug",)
    fields = ("label", "global_slug", "type", "values", "updated_at")
    readonly_fields = ("values", "updated_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ModuleInstance]:
        shared = super().get_queryset(request).filter(scope="global")
        return shared.annotate(number=Count("placements"))

    @admin.display(description="Posts", ordering="number")
    def uses(self, module: ModuleInstance) -> int:
        return int(getattr(module, "number", 0))

    @admin.display(description="Props")
    def values(self, module: ModuleInstance) -> str:
        return json.dumps(module.props, indent=2, ensure_ascii=False)
