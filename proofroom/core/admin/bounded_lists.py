"""Admin lists for tables that only grow: a bounded count, and filters that don't read their choices from the rows."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

from proofroom.core.database.row_counts import COUNTED_TO


class BoundedPaginator(Paginator):  # type: ignore[type-arg]  # not subscriptable at runtime
    """Counts up to a bound: counting a long log would cost more than reading the page."""

    @cached_property
    def count(self) -> int:
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]
        return rows.order_by()[:COUNTED_TO].count()


class ValueFilter(admin.SimpleListFilter):
    """A filter for one value; an unknown value matches nothing."""

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        raise NotImplementedError

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return self.narrowed(queryset, value) if value else queryset
