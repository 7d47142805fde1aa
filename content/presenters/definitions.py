"""Module definitions and module groups as the wire has them."""

from __future__ import annotations

from content.definitions import Module, props_of
from content.module_group_queries import Group, place_json
from content.presenters.modules import Wire


def module_definition(definition: type[Module], excluded: str | None = None) -> Wire:
    """`excluded` is why it may not stand in posts of the type that was asked for."""
    return {
        "type": definition.name,
        "label": definition.label,
        "description": definition.description,
        "icon": definition.icon,
        "allowedScopes": list(definition.allowed_scopes),
        "allowedPostTypes": list(definition.allowed_post_types),
        "aiGuidance": definition.ai.as_json(),
        "allowed": excluded is None,
        "excludedBecause": excluded,
    }


def static_module(definition: type[Module]) -> Wire:
    names = ("type", "label", "description", "icon")
    wire = module_definition(definition)
    return {name: wire[name] for name in names}


def whole_definition(definition: type[Module]) -> Wire:
    """All that is needed to fill a module: schema, defaults, field types, guidance."""
    wire = module_definition(definition)
    del wire["allowed"], wire["excludedBecause"]
    return {
        **wire,
        "propsSchema": definition.props_schema(),
        "defaultProps": definition.default_props(),
        "fieldTypes": {name: prop.kind for name, prop in props_of(definition.Props).items()},
    }


def module_group(group: Group) -> Wire:
    return {
        "id": group.id,
        "name": group.name,
        "label": group.label,
        "description": group.description,
        "postType": group.post_type,
        "modules": [
            {**place_json(place), "orderIndex": index} for index, place in enumerate(group.modules)
        ],
        "source": "code" if group.is_code else "stored",
        "version": group.version,
    }
