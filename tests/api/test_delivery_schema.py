"""`/api/schema/delivery` describes the site's own definitions, and whole answers are valid by it."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from content.api.delivery_schema import delivery_document
from proofroom.core.api.schema import JSON_TYPE, operations
from proofroom.definitions import modules, post_types
from proofroom.definitions.richtext import schema as richtext
from proofroom.definitions.richtext.json_schema import component_name, rich_text_schemas
from proofroom.definitions.richtext.nodes import MARK_ORDER
from tests import make
from tests.api_client import ApiClient
from tests.api_description import api_description

URL = "/api/schema/delivery"


@pytest.fixture(scope="module")
def document() -> Any:
    return delivery_document()


def validator(document: Any, shape: Any) -> Draft202012Validator:
    resource = Resource.from_contents(document, default_specification=DRAFT202012)
    registry = Registry().with_resource("urn:api", resource)
    return Draft202012Validator({"$ref": "urn:api" + shape["$ref"]}, registry=registry)


def answer_shape(document: Any, path: str) -> Any:
    responses = document["paths"][path]["get"]["responses"]
    return responses["200"]["content"][JSON_TYPE]["schema"]


@pytest.mark.django_db
def test_it_is_public_and_kept() -> None:
    response = ApiClient().get(URL)

    assert response.status_code == 200
    assert response["Cache-Control"] == "public, max-age=300"
    assert response.json()["openapi"].startswith("3.1")
    assert b"openapi: 3.1" in ApiClient().get(f"{URL}?format=yaml").content


def test_it_has_the_delivery_operations_only(document: Any) -> None:
    paths = set(document["paths"])

    assert {"/api/public/posts", "/api/public/posts/{post_id}", "/api/public/resolve"} <= paths
    assert all(
        path.startswith(("/api/public/", "/api/menus/by-slug/", "/api/forms")) for path in paths
    )
    assert not any("agents" in path for path in paths)
    assert all(operation["security"] == [] for _, _, operation in operations(document))
    assert "User" not in document["components"]["schemas"]
    assert "securitySchemes" not in document["components"]


def test_modules_and_posts_are_told_apart_by_their_type(document: Any) -> None:
    schemas = document["components"]["schemas"]

    for name, types in (
        ("Module", modules.names()),
        ("Post", post_types.names()),
        ("ListedPost", post_types.names()),
    ):
        shape = schemas[name]
        assert shape["discriminator"]["propertyName"] == "type"
        assert sorted(shape["discriminator"]["mapping"]) == sorted(types)
        for type_, reference in shape["discriminator"]["mapping"].items():
            one = schemas[reference.rpartition("/")[2]]
            assert one["properties"]["type"] == {"const": type_}
            assert "type" in one["required"]
    assert set(schemas["Resolved"]["discriminator"]["mapping"]) >= {"post", "redirect"}
    fields = schemas["TestimonialFields"]
    assert fields["properties"]["rating"]["type"] == ["integer", "null"]
    assert set(fields["required"]) == set(fields["properties"])
    hero = schemas["HeroModuleProps"]
    assert hero["properties"]["theme"]["enum"] == ["light", "dark", "accent"]
    assert set(hero["required"]) == set(hero["properties"])
    answer = schemas["FaqModuleProps"]["properties"]["items"]["items"]["properties"]["answer"]
    assert answer == {"$ref": "#/components/schemas/RichTextDocument"}


def test_locales_types_and_fields_are_those_of_the_site(document: Any) -> None:
    for path, _method, operation in operations(document):
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "query" and parameter["name"] == "locale":
                assert parameter["schema"]["enum"] == list(settings.CMS_ENV.locales), path
    parameters = {
        parameter["name"]: parameter
        for parameter in document["paths"]["/api/public/posts"]["get"]["parameters"]
    }
    assert parameters["type"]["schema"]["enum"] == list(post_types.names())
    fields = parameters["fields"]
    assert (fields["style"], fields["explode"], fields["schema"]["type"]) == (
        "form",
        False,
        "array",
    )
    assert {"title", "modules"} <= set(fields["schema"]["items"]["enum"])


def test_the_description_of_the_whole_api_names_nothing_of_a_site() -> None:
    own = [post_types.names(), modules.names(), settings.CMS_ENV.locales]

    def enums(part: Any) -> Any:
        if isinstance(part, dict):
            if isinstance(part.get("enum"), list):
                yield part["enum"]
            for value in part.values():
                yield from enums(value)
        elif isinstance(part, list):
            for value in part:
                yield from enums(value)

    found = [
        values
        for values in enums(api_description())
        if any(set(names).issubset(map(str, values)) for names in own)
    ]
    assert found == []


def test_each_operation_has_an_example_that_is_valid(document: Any) -> None:
    for path, method, operation in operations(document):
        contents = [operation.get("requestBody", {}).get("content", {})]
        contents += [
            answer.get("content", {})
            for status, answer in operation["responses"].items()
            if status.startswith("2")
        ]
        for content in contents:
            media = content.get(JSON_TYPE)
            if media is None:
                continue
            assert media.keys() & {"example", "examples"}, (path, method)
            if "example" in media and "$ref" in media["schema"]:
                problems = validator(document, media["schema"]).iter_errors(media["example"])
                assert [problem.message for problem in problems] == [], (path, method)


@pytest.mark.django_db
def test_whole_answers_are_valid() -> None:
    document = delivery_document()
    asset, term = make.image(), make.term("Filter")
    target = make.post("Target", slug="target")
    post = make.post(
        "Everything",
        taxonomyTermIds=[str(term.pk)],
        featuredMediaId=str(asset.pk),
        markdown=(
            "## Top\n\nSee **[this](/blog/target)**.\n\n1. one\n2. two\n\n> quote\n\n```python\nx\n```\n\n"
            f"| a | b |\n|---|--:|\n| 1 | 2 |\n\n---\n\n![A]({asset.file.url})"
        ),
    )
    make.changed_module(post, make.module_id(post, "hero"), props={"ctaUrl": "/blog/target"})
    make.placed(post, make.global_module(ctaLabel="Go", ctaUrl="/a"), ctaLabel="Now")
    make.post("Quote", type="testimonial", customFields={"quote": "Good", "rating": 5})
    make.redirect("/left", target.path)

    for path, address in (
        ("/api/public/posts", "/api/public/posts?allLocales=true"),
        ("/api/public/posts/{post_id}", f"/api/public/posts/{post.pk}"),
        ("/api/public/resolve", f"/api/public/resolve?path={post.path}"),
        ("/api/public/resolve", "/api/public/resolve?path=/left"),
        ("/api/public/terms", "/api/public/terms"),
    ):
        answer = ApiClient().read(address)
        problems = validator(document, answer_shape(document, path)).iter_errors(answer)
        assert [(problem.json_path, problem.message[:300]) for problem in problems] == [], address


def test_every_node_and_mark_of_rich_text_is_described() -> None:
    shapes = rich_text_schemas()
    nodes = richtext._KNOWN - {"doc"}

    assert set(shapes) == {
        "RichTextDocument",
        "RichTextBlock",
        "RichTextInline",
        "RichTextMark",
        "RichTextTableCellOrHeader",
        *(component_name(name) for name in nodes | set(MARK_ORDER)),
    }
    for name, rules in richtext._ATTRIBUTES.items():
        described = shapes[component_name(name)]["properties"]["attrs"]["properties"]
        added = {"heading": {"id"}, "image": {"mediaId"}, "link": {"post"}}.get(name, set())
        assert set(described) == set(rules) | added, name


def test_the_page_of_rich_text_names_every_node_mark_and_attribute() -> None:
    text = Path(settings.BASE_DIR, "docs", "reference", "rich-text.md").read_text()

    for name in (richtext._KNOWN - {"doc"}) | set(MARK_ORDER):
        assert f"`{name}`" in text, name
    for rules in richtext._ATTRIBUTES.values():
        for attribute in rules:
            assert f"`{attribute}`" in text, attribute


def test_types_are_written_without_a_server(tmp_path: Path) -> None:
    shown, path = StringIO(), tmp_path / "site.ts"
    call_command("generate_types", "typescript", stdout=shown)
    call_command("generate_types", "typescript", "--output", str(path), stdout=StringIO())

    text = shown.getvalue()
    assert path.read_text() == text
    assert "export type Module = " in text
    assert "export interface BlogPost {" in text
    assert '  theme: "light" | "dark" | "accent";' in text
    assert "export interface Site {" in text
    assert '    "blog": BlogListedPost;' in text
    managed = StringIO()
    call_command("generate_types", "typescript", "--api", "management", stdout=managed)
    assert "  posts_create: {" in managed.getvalue()


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Cannot write"):
        call_command("generate_types", "typescript", "--output", str(tmp_path))
