"""The JSON Schema of definitions, and the shipped definitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.template.loader import get_template
from jsonschema import Draft202012Validator

from content.checks import check_definitions
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
from tests.content.customer_app import customer_app
from tests.content.test_definitions import Every

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


MODULE = """
    from proofroom.definitions import AIGuidance, Module, ModuleProps, Text, Link

    class Tide(Module):
        name = "tide"
        stylesheet = "{sheet}"
        label = "Tide"
        description = "High and low water of the day."
        ai = AIGuidance(layout_roles=({roles}))
        allowed_post_types = ({types})

        class Props(ModuleProps):
            title: str = {title}
"""

GROUP = """
    from proofroom.definitions import GroupModule, ModuleGroupDefinition

    class Harbour(ModuleGroupDefinition):
        name = "harbour"
        label = "Harbour"
        post_type = "{post_type}"
        modules = (GroupModule("{module}", scope="{scope}", props={props}),)
"""

TYPE = """
    from proofroom.definitions import PostType, TaxonomyUse

    class Ship(PostType):
        name = "ship"
        label = "Ship"
        url_pattern = "/ships/{{slug}}"
        module_groups = ("{group}",)
        default_module_group = "{default}"
        taxonomies = (TaxonomyUse("{taxonomy}"),)
        allowed_modules = ({module})
"""


def good_module(**parts: str) -> str:
    return MODULE.format(
        **{"roles": '"body",', "types": "", "title": "Text()", "sheet": ""} | parts
    )


def good_group(**parts: str) -> str:
    good = {"post_type": "page", "module": "hero", "scope": "local", "props": "{}"}
    return GROUP.format(**good | parts)


def good_type(**parts: str) -> str:
    good = {"group": "blog-default", "default": "blog-default", "taxonomy": "topics", "module": ""}
    return TYPE.format(**good | parts)


def test_what_ships_is_sound():
    assert check_definitions() == []


def test_the_checks_run_with_all_others():
    assert check_definitions in run_checks.__self__.registered_checks  # type: ignore[attr-defined]  # a bound method


@pytest.mark.parametrize(
    ("path", "text", "thing", "reason"),
    [
        ("modules/tide.py", good_module(), "module 'tide'", "no template modules/tide.html"),
        (
            "modules/tide.py",
            good_module(sheet="tide.css"),
            "module 'tide'",
            "no stylesheet tide.css",
        ),
        (
            "modules/tide.py",
            good_module(sheet="../x.css"),
            "module 'tide'",
            "no stylesheet ../x.css",
        ),
        (
            "modules/tide.py",
            good_module(sheet="cms/icons.svg"),
            "module 'tide'",
            "no stylesheet cms/icons.svg",
        ),
        (
            "modules/tide.py",
            good_module().replace('ai = AIGuidance(layout_roles=("body",))', ""),
            "module 'tide'",
            "it has no ai",
        ),
        ("modules/tide.py", good_module(roles=""), "module 'tide'", "layout role is empty"),
        ("modules/tide.py", good_module(roles='" ",'), "module 'tide'", "layout role is empty"),
        ("modules/tide.py", good_module(types='"boat",'), "module 'tide'", "names 'boat'"),
        ("modules/tide.py", good_module(title='"plain"'), "module 'tide'", "field function"),
        (
            "modules/tide.py",
            good_module(title='Link(default="javascript:1")'),
            "module 'tide'",
            "default props are not valid",
        ),
        ("module_groups/h.py", good_group(module="nix"), "group 'harbour'", "no module 'nix'"),
        ("module_groups/h.py", good_group(post_type="x"), "group 'harbour'", "no post type 'x'"),
        ("module_groups/h.py", good_group(scope="static"), "group 'harbour'", "may not be static"),
        (
            "module_groups/h.py",
            good_group(props='{"titel": "x"}'),
            "group 'harbour'",
            "There is no property 'titel'",
        ),
        ("post_types/s.py", good_type(group="nix"), "type 'ship'", "no module group 'nix'"),
        ("post_types/s.py", good_type(), "type 'ship'", "'blog-default' is for 'blog'"),
        ("post_types/s.py", good_type(default="nix"), "type 'ship'", "'nix' is not in"),
        ("post_types/s.py", good_type(taxonomy="nix"), "type 'ship'", "no taxonomy 'nix'"),
        ("post_types/s.py", good_type(module='"nix",'), "type 'ship'", "no module 'nix'"),
    ],
)
def test_a_broken_definition_is_named_with_its_file(
    tmp_path, monkeypatch, path, text, thing, reason
):
    with customer_app(tmp_path, monkeypatch, "harbour_app", {path: text}):
        messages = [str(error) for error in check_definitions()]

    found = [message for message in messages if reason in message]
    assert found, messages
    assert str(tmp_path / "harbour_app" / path) in found[0]
    assert thing in found[0]


@pytest.mark.parametrize(
    ("printed", "is_wrong"),
    [
        ("{{ props.body }}", True),
        ("{{ props.body|linebreaksbr }}", True),
        ("{{ props.body|safe }}", True),
        ("{% load modules %}{{ props.body|richtext:heading_ids }}", False),
        ("{{ props.bodyNote }}", False),
        ('{% include "modules/parts/heading.html" %}', False),
    ],
)
def test_rich_text_that_a_template_prints_as_data_is_named(
    tmp_path, monkeypatch, settings, printed, is_wrong
):
    folder = tmp_path / "templates" / "modules"
    folder.mkdir(parents=True)
    (folder / "tide.html").write_text(printed)
    text = good_module().replace("title: str = Text()", "body: dict = RichText()")
    text = text.replace("Text, Link", "RichText")
    templates = [
        {
            **settings.TEMPLATES[0],
            "DIRS": [tmp_path / "templates", *settings.TEMPLATES[0].get("DIRS", [])],
        }
    ]
    settings.TEMPLATES = [*templates, *settings.TEMPLATES[1:]]

    with customer_app(tmp_path, monkeypatch, "harbour_app", {"modules/tide.py": text}):
        messages = [str(error) for error in check_definitions()]

    assert (
        any("prints props.body, which is rich text, as data" in one for one in messages) is is_wrong
    )


def test_an_introduction_of_rich_text_is_shown_as_html():
    document = {
        "type": "doc",
        "content": [{"type": "paragraph", "content": [{"type": "text", "text": "A <b"}]}],
    }
    part = get_template("modules/parts/heading.html")

    rich = part.render({"props": {"intro": document}})
    plain = part.render({"props": {"intro": "One\ntwo"}})

    assert rich.strip() == '<div class="lead"><p>A &lt;b</p></div>'
    assert plain.strip() == '<p class="lead">One<br>two</p>'


def test_two_definitions_of_one_name_are_refused_with_both_places(tmp_path, monkeypatch):
    text = good_module().replace('"tide"', '"hero"')

    with (
        customer_app(tmp_path, monkeypatch, "harbour_app", {"modules/tide.py": text}),
        pytest.raises(
            ImproperlyConfigured,
            match=r"proofroom_apps\.starter\.modules\.hero.*harbour_app\.modules",
        ),
    ):
        modules.all()
