"""The context that comes from code, as one JSON value: what an AI client may rely on without a
database."""

from __future__ import annotations

import json

from django.utils.module_loading import autodiscover_modules
from pydantic import BaseModel

from content import definitions
from core.json import JsonObject
from core.tools import Tool, all_tools
from core.tools.schemas import lean_schema, result_schema

SCHEMA_VERSION = 1


def code_context() -> JsonObject:
    """Post types, module groups, modules, taxonomies and tools, each in order of name.

    The same code gives the same value on every machine, so that a dump shows a contract change as a
    diff.
    """
    autodiscover_modules("tools")
    return {
        "schemaVersion": SCHEMA_VERSION,
        "postTypes": [_post_type(item) for item in definitions.post_types],
        "moduleGroups": [_module_group(item) for item in definitions.module_groups],
        "modules": [_module(item) for item in definitions.modules],
        "taxonomies": [_taxonomy(item) for item in definitions.taxonomies],
        "tools": [_tool(item) for item in all_tools()],
    }


def context_text(context: JsonObject) -> str:
    """The context as the text of a file: stable to the byte."""
    return json.dumps(context, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _post_type(item: type[definitions.PostType]) -> JsonObject:
    return {
        "name": item.name,
        "label": item.label,
        "description": item.description,
        "hierarchical": item.hierarchical,
        "localized": item.localized,
        "urlPattern": item.url_pattern,
        "allowedModules": [module.name for module in definitions.allowed_modules(item.name)],
        "moduleGroups": [group.name for group in definitions.groups_of(item.name)],
        "defaultModuleGroup": item.default_module_group,
        "taxonomies": [
            {"slug": use.slug, "maxSelections": use.max_selections} for use in item.taxonomies
        ],
        "customFieldsSchema": item.custom_fields_schema(),
    }


def _module_group(item: type[definitions.ModuleGroupDefinition]) -> JsonObject:
    return {
        "name": item.name,
        "label": item.label,
        "description": item.description,
        "postType": item.post_type,
        "modules": [
            {"type": module.type, "scope": module.scope, "locked": module.locked}
            for module in item.modules
        ],
    }


def _module(item: type[definitions.Module]) -> JsonObject:
    return {
        "name": item.name,
        "label": item.label,
        "description": item.description,
        "allowedScopes": list(item.allowed_scopes),
        "allowedPostTypes": list(item.allowed_post_types),
        "propsSchema": item.props_schema(),
        "defaultProps": item.default_props(),
        "aiGuidance": item.ai.as_json(),
    }


def _taxonomy(item: type[definitions.Taxonomy]) -> JsonObject:
    return {
        "slug": item.name,
        "label": item.label,
        "description": item.description,
        "hierarchical": item.hierarchical,
        "freeTagging": item.free_tagging,
    }


def _tool(item: Tool[BaseModel]) -> JsonObject:
    return {
        "name": item.name,
        "title": item.title,
        "description": item.description,
        "kind": item.kind,
        "group": item.group,
        "permission": item.permission,
        "inputSchema": lean_schema(item.arguments),
        "outputSchema": None if item.result is None else result_schema(item.result),
    }
