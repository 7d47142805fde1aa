"""What the list of media can be narrowed to in the admin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from media.models import Asset
from media.queries import category_counts, in_category, of_type, used

_MOST: Final = 50


class CategoryFilter(admin.SimpleListFilter):
    title = "category"
    parameter_name = "category"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        found, _ = category_counts(0, _MOST)
        return [(name, f"{name} ({number})") for name, number in found]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Asset]) -> QuerySet[Asset]:
        return in_category(queryset, self.value() or "")

    def has_output(self) -> bool:
        return bool(self.lookup_choices)


class TypeFilter(admin.SimpleListFilter):
    title = "type"
    parameter_name = "type"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [
            ("image", "Images"),
            ("application/pdf", "PDF"),
            ("image/gif", "GIF"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Asset]) -> QuerySet[Asset]:
        return of_type(queryset, self.value() or "")


class UseFilter(admin.SimpleListFilter):
    title = "use"
    parameter_name = "used"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [("true", "In use"), ("false", "Unused")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Asset]) -> QuerySet[Asset]:
        if self.value() not in ("true", "false"):
            return queryset
        return used(queryset, self.value() == "true")
