"""Taxonomy terms, to read."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from content.models import Term
from core.admin.rights import PermittedAdmin


@admin.register(Term)
class TermAdmin(PermittedAdmin[Term]):
    view_permission = "taxonomies.edit"
    list_display = ("name", "taxonomy", "slug", "locale", "parent", "uses")
    list_filter = ("taxonomy", "locale")
    list_select_related = ("parent",)
    search_fields = ("name", "slug")
    ordering = ("taxonomy", "order_index", "name")
    fields = ("name", "taxonomy", "slug", "locale", "parent", "order_index")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Term]:
        return super().get_queryset(request).annotate(number=Count("post_terms"))

    @admin.display(description="Posts", ordering="number")
    def uses(self, term: Term) -> int:
        return int(getattr(term, "number", 0))
