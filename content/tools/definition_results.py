"""Results of the tools that read definitions. Optional keys are left out, never null."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from proofroom.core.tools import Result
from proofroom.core.tools.pagination import ToolPage


class ListedType(Result):
    slug: str
    name: str
    hierarchical: bool
    localized: bool
    module_groups: list[str]
    description: str | None = None
    url_pattern: str | None = None
    default_module_group: str | None = None


class TypePage(ToolPage):
    items: list[ListedType]


class UsedTaxonomy(Result):
    slug: str
    max_selections: int | None = None


class NamedGroup(Result):
    id: str
    name: str
    description: str


class TypeConfig(Result):
    slug: str
    name: str
    hierarchical: bool
    localized: bool
    custom_fields: dict[str, Any]
    taxonomies: list[UsedTaxonomy]
    seo_defaults: dict[str, Any]
    url_patterns: list[str]
    allowed_modules: list[str]
    module_groups: list[NamedGroup]
    default_module_group: str | None = None


class ListedModule(Result):
    type: str
    name: str
    description: str
    allowed_scopes: list[str]
    ai_guidance: dict[str, Any]
    icon: str | None = None
    allowed_post_types: list[str] | None = None


class ModulePage(ToolPage):
    items: list[ListedModule]


class ExcludedModule(Result):
    type: str
    why: str


class AllowedModules(ModulePage):
    excluded: list[ExcludedModule]


class ModuleSchema(Result):
    type: str
    props_schema: dict[str, Any]
    default_props: dict[str, Any]
    ai_guidance: dict[str, Any]
    allowed_scopes: list[str]
    allowed_post_types: list[str]


class InspectedModule(ModuleSchema):
    """`usageCount` are posts that show one, drafts aside."""

    field_types: dict[str, str]
    template: str
    defined_in: str
    usage_count: int


class GroupPlaceResult(Result):
    type: str
    order_index: int
    locked: bool
    scope: str | None = None
    default_props: dict[str, Any] | None = None
    global_slug: str | None = None


class ListedGroup(Result):
    id: str
    name: str
    post_type: str
    description: str
    modules: list[GroupPlaceResult]
    label: str | None = None
    source: str | None = None


class GroupPage(ToolPage):
    items: list[ListedGroup]


class ListedGlobal(Result):
    global_slug: str
    type: str
    label: str
    usage_count: int
    updated_at: str
    id: str | None = None
    version: int | None = None
    props: dict[str, Any] | None = None


class GlobalPage(ToolPage):
    items: list[ListedGlobal]


class OneGlobal(ListedGlobal):
    module_schema: dict[str, Any] | None = Field(None, alias="schema")


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


class Candidate(Result):
    type: str
    why: str
    avoid_when: list[str]


class RoleCandidates(Result):
    role: str
    candidates: list[Candidate]


class LayoutSuggestion(Result):
    roles: list[RoleCandidates]
    missing_roles: list[str]
    recommended_order: list[str]
    known_roles: list[str] | None = None
