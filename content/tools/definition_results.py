"""Results of the tools that read definitions. Optional keys are left out, never null."""

from __future__ import annotations

from typing import Any

from proofroom.core.tools import Result
from proofroom.core.tools.pagination import ToolPage


class ListedTaxonomy(Result):
    slug: str
    name: str
    hierarchical: bool
    free_tagging: bool
    description: str | None = None


class TaxonomyPage(ToolPage):
    items: list[ListedTaxonomy]


class ListedTerm(Result):
    id: str
    slug: str
    name: str
    children: list[Any]
    locale: str | None = None
    order_index: int | None = None


class TermPage(ToolPage):
    items: list[ListedTerm]
