"""`/api/modules/registry`, `/static`, `/:type/schema`: the module types defined in code."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.common_answers import ScopeText
from proofroom.core.api.answer import Answer, MetaAnswer, list_of
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import NotFound, RuleViolation, invalid
from proofroom.definitions import exclusion_reason, find_post_type, modules, props_of

WORD_MAX: Final = 200
REGISTRY_PARAMETERS: Final = [query_parameter("postType", "A post type."), *PAGES]
STATIC_PARAMETERS: Final = [query_parameter("q", "Part of a name or description."), *PAGES]


class GuidanceAnswer(Answer):
    """Advice on when to choose a module."""

    layout_roles: list[str]
    use_when: list[str]
    avoid_when: list[str]
    composition_notes: str


class StaticModuleAnswer(Answer):
    """A module type without editable props."""

    type: str
    label: str
    description: str
    icon: str


class RegisteredModuleAnswer(StaticModuleAnswer):
    """A module type, and whether the given post type allows it."""

    allowed_scopes: list[ScopeText]
    allowed_post_types: list[str] = Field(description="Empty means every post type.")
    ai_guidance: GuidanceAnswer = Field(validation_alias="ai")
    allowed: bool
    excluded_because: str | None


class ModuleTypeListAnswer(Answer):
    """Module types."""

    data: list[RegisteredModuleAnswer]
    meta: MetaAnswer


class ModuleTypeAnswer(StaticModuleAnswer):
    """A module type with its schema and defaults."""

    allowed_scopes: list[ScopeText]
    allowed_post_types: list[str]
    ai_guidance: GuidanceAnswer = Field(validation_alias="ai")
    props_schema: dict[str, Any] = Field(description="JSON Schema 2020-12.")
    default_props: dict[str, Any]
    field_types: dict[str, str] = Field(description="The field type of each prop.")


class ModuleDefinitionViewSet(ApiViewSet):
    """Module types and their schemas."""

    permissions: ClassVar[dict[str, Declared]] = {
        "registry": "posts.view",
        "static": "posts.view",
        "describe": "posts.view",
    }

    @extend_schema(parameters=REGISTRY_PARAMETERS, responses=ModuleTypeListAnswer)
    def registry(self, request: Request) -> Response:
        """List all module types. With `postType`, `allowed` and `excludedBecause` refer to that type."""
        page = page_of(request)
        post_type = request.query_params.get("postType")
        if post_type is not None:
            try:
                find_post_type(post_type)
            except RuleViolation as error:
                raise invalid("postType", error.message, code=error.code) from None
        rows = list(modules)
        data = []
        for row in rows[page.slice]:
            excluded = exclusion_reason(post_type, row.name) if post_type is not None else None
            data.append(
                RegisteredModuleAnswer.of(
                    row,
                    type=row.name,
                    allowed=excluded is None,
                    excluded_because=excluded,
                )
            )
        return Response(page.envelope(data, len(rows)))

    @extend_schema(
        parameters=STATIC_PARAMETERS, responses=list_of(StaticModuleAnswer, "Static modules.")
    )
    def static(self, request: Request) -> Response:
        """List module types without editable props, searched by name and description."""
        page = page_of(request)
        words = request.query_params.get("q", "").lower()
        if len(words) > WORD_MAX:
            raise invalid("q", f"q must be a text of at most {WORD_MAX} characters.")
        rows = [
            row
            for row in modules
            if "static" in row.allowed_scopes
            and words in f"{row.name} {row.label} {row.description}".lower()
        ]
        data = [StaticModuleAnswer.of(row, type=row.name) for row in rows[page.slice]]
        return Response(page.envelope(data, len(rows)))

    @extend_schema(responses=ModuleTypeAnswer)
    def describe(self, request: Request, module_type: str) -> Response:
        """Return a module type with its props as JSON Schema, the defaults, and the field types."""
        definition = modules.get(module_type)
        if definition is None:
            raise NotFound(f"There is no module type {module_type[:80]!r}.")
        return Response(
            ModuleTypeAnswer.of(
                definition,
                type=definition.name,
                props_schema=definition.props_schema(),
                default_props=definition.default_props(),
                field_types={name: prop.kind for name, prop in props_of(definition.Props).items()},
            )
        )
