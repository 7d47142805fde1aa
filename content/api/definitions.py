"""`/api/modules/registry`, `/static`, `/:type/schema`: the module types that are code."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from content import presenters
from content.api.schema import definitions as schema
from content.definitions import find_post_type, modules, why_excluded
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.views import ApiViewSet
from core.errors import NotFound, RuleViolation, invalid


class ModuleDefinitionViewSet(ApiViewSet):
    """Module types: which there are, what they are made of."""

    permissions: ClassVar[dict[str, Declared]] = {
        "registry": "posts.view",
        "static": "posts.view",
        "describe": "posts.view",
    }

    @extend_schema(parameters=schema.REGISTRY_PARAMETERS, responses=schema.ModuleTypeListSchema)
    def registry(self, request: Request) -> Response:
        """Every module type. With `postType`, `allowed` and `excludedBecause` are about posts of that type."""
        page = page_of(request)
        post_type = request.query_params.get("postType")
        if post_type is not None:
            _require_post_type(post_type)
        rows = list(modules)
        data = [
            presenters.module_definition(
                row, why_excluded(post_type, row.name) if post_type is not None else None
            )
            for row in rows[page.slice]
        ]
        return Response(page.envelope(data, len(rows)))

    @extend_schema(parameters=schema.STATIC_PARAMETERS, responses=schema.StaticModuleListSchema)
    def static(self, request: Request) -> Response:
        """Module types without props to edit, by the words of their name and description."""
        page = page_of(request)
        words = request.query_params.get("q", "").lower()
        if len(words) > schema.WORD_MAX:
            raise invalid("q", f"q must be a text of at most {schema.WORD_MAX} characters.")
        rows = [
            row
            for row in modules
            if "static" in row.allowed_scopes
            and words in f"{row.name} {row.label} {row.description}".lower()
        ]
        data = [presenters.static_module(row) for row in rows[page.slice]]
        return Response(page.envelope(data, len(rows)))

    @extend_schema(responses=schema.ModuleTypeSchema)
    def describe(self, request: Request, module_type: str) -> Response:
        """One module type with its props as JSON Schema, the defaults, and the field type of each prop."""
        definition = modules.get(module_type)
        if definition is None:
            raise NotFound(f"There is no module type {module_type[:80]!r}.")
        return Response(presenters.whole_definition(definition))


def _require_post_type(name: str) -> None:
    try:
        find_post_type(name)
    except RuleViolation as error:
        raise invalid("postType", error.message, code=error.code) from None
