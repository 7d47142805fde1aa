"""The JSON Schema of definitions, and the shipped definitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from jsonschema import Draft202012Validator

from proofroom.definitions import (
    Module,
    find_module_group,
    find_post_type,
    module_groups,
    modules,
    post_types,
    taxonomies,
)
from proofroom.definitions.props import json_schema
from tests.content.test_definitions_fields import Every

FIELD_TYPES = {
    "text", "textarea", "richtext", "number", "boolean", "select", "multiselect", "date", "url",
    "link", "media", "icon", "object", "repeater", "post-reference", "taxonomy-reference",
    "form-reference",
}  # fmt: skip


def properties(node: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, child in node.get("properties", {}).items():
        yield name, child
        yield from properties(child)
    if "items" in node:
        yield from properties(node["items"])


def objects(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "properties" in node:
        yield node
    for child in [*node.get("properties", {}).values(), node.get("items")]:
        if child:
            yield from objects(child)


SCHEMAS = {
    **{f"module {module.name}": module.props_schema() for module in modules},
    **{f"type {kind.name}": kind.custom_fields_schema() for kind in post_types},
    "every field type": json_schema(Every),
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_every_property_says_its_field_type_and_whether_it_is_translatable(schema):
    Draft202012Validator.check_schema(schema)

    for name, child in properties(schema):
        assert child["field"] in FIELD_TYPES, name
        assert isinstance(child["translatable"], bool), name
        assert not {"anyOf", "$ref", "$defs"} & set(child), name
    assert schema["additionalProperties"] is False
    for node in objects(schema):
        assert node["additionalProperties"] is False


def test_every_field_type_has_a_function():
    assert {child["field"] for _, child in properties(json_schema(Every))} == FIELD_TYPES


def test_a_property_in_the_schema():
    published: dict[str, Any] = json_schema(Every)
    schema = published["properties"]

    assert schema["oneLine"] == {
        "type": "string", "maxLength": 10, "field": "text", "translatable": True,
    }  # fmt: skip
    assert schema["imageId"] == {
        "type": ["string", "null"], "format": "uuid", "field": "media", "translatable": False,
    }  # fmt: skip
    assert schema["size"] == {
        "type": "string", "enum": ["s", "m"], "default": "s", "field": "select",
        "translatable": False,
    }  # fmt: skip
    assert schema["rows"] == {
        "type": "array", "maxItems": 2, "field": "repeater", "translatable": True,
        "items": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "maxLength": 5, "field": "text", "translatable": True}
            },
            "additionalProperties": False,
        },
    }  # fmt: skip


@pytest.mark.parametrize("module", list(modules), ids=modules.names())
def test_default_props_fit_the_published_schema(module: type[Module]):
    Draft202012Validator(module.props_schema()).validate(module.default_props())

    schema: dict[str, Any] = module.props_schema()
    assert set(module.default_props()) == set(schema["properties"])


@pytest.mark.parametrize("module", list(modules), ids=modules.names())
def test_every_module_guides_its_authors(module: type[Module]):
    guidance = module.ai.as_json()

    assert set(guidance) == {"layoutRoles", "useWhen", "avoidWhen", "compositionNotes"}
    assert all(guidance.values())
    assert len(module.description) > 20


def test_what_ships():
    assert set(modules.names()) >= {"hero", "prose", "faq", "features-list", "callout"}
    assert {"page", "blog", "profile", "company", "testimonial"} <= set(post_types.names())
    assert "topics" in taxonomies
    blog = find_post_type("blog")
    assert next((use.slug, use.max_selections) for use in blog.taxonomies) == ("topics", 3)
    group = find_module_group("blog-default")
    assert [(entry.type, entry.locked) for entry in group.modules] == [
        ("hero", True), ("prose", False), ("faq", False),
    ]  # fmt: skip
    assert find_post_type("page").hierarchical
    assert find_post_type("page").url_pattern == "/{path}"


def test_a_group_has_an_id_that_never_changes():
    group = find_module_group("blog-default")

    assert group.id() == UUID("373d6817-7b1e-503d-a262-3a135747286e")
    assert find_module_group(group.id()) is group
    assert find_module_group(str(group.id()).upper()) is group
    assert len({item.id() for item in module_groups}) == len(module_groups.names())


def test_seo_defaults_are_complete_and_not_shared():
    robots = find_post_type("testimonial").seo()["robotsJson"]
    assert robots == {"index": False}
    robots["index"] = True

    assert find_post_type("testimonial").seo()["robotsJson"] == {"index": False}
    assert find_post_type("page").seo() == {
        "noindex": False, "nofollow": False, "robotsJson": None,
    }  # fmt: skip
