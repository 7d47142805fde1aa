"""`/api/schema/delivery` describes the site's own definitions, and whole answers are valid by it."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from content.api.delivery.posts import LISTABLE
from content.api.delivery.schema import delivery_document
from content.models import Post
from proofroom.core.api.schema import JSON_TYPE, operations
from proofroom.definitions import modules, post_types
from proofroom.definitions.richtext import schema as richtext
from proofroom.definitions.richtext.json_schema import component_name, rich_text_schemas
from proofroom.definitions.richtext.nodes import MARK_ORDER
from proofroom_apps.menus.services import create_menu
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


def answer_shape(document: Any, path: str, method: str = "get") -> Any:
    responses = document["paths"][path][method]["responses"]
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
    own = [set(post_types.names()), set(modules.names()), set(settings.CMS_ENV.locales)]

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
        if any(names <= set(map(str, values)) for names in own)
    ]
    assert found == []


def test_each_operation_of_the_whole_api_has_an_example() -> None:
    without = {
        path
        for path, _method, operation in operations(api_description())
        if '"example' not in json.dumps([operation.get("requestBody"), operation["responses"]])
    }
    # The answers are files.
    assert without == {
        "/api/personal-data/requests/{request_id}/file",
        "/api/forms/{slug}/submissions/{submission_id}/files/{file_id}",
    }


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


@pytest.fixture
def post() -> Post:
    """A published post with everything that a post can have, and the things around it."""
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
    make.added_module(post, type="blog-list", props={"postIds": [str(target.pk)]})
    make.post("Quote", type="testimonial", customFields={"quote": "Good", "rating": 5})
    parent = make.post("Parent", type="page", slug="parent")
    make.post("Child", type="page", slug="child", parentId=str(parent.pk))
    make.redirect("/left", target.path)
    make.form()
    items = [{"type": "post", "label": "", "postId": str(target.pk)}]
    create_menu(name="Main", slug="main", locale="en", items=items, actor=make.actor())
    return Post.objects.get(pk=post.pk)


@pytest.mark.django_db
def test_whole_answers_are_valid(post: Post) -> None:
    closed, sparse = closed_document(), closed_document(sparse=True)
    asset, term = post.featured_media_id, post.post_terms.get().term_id
    others = {
        "/api/public/posts": (
            "?allLocales=true",
            "?type=blog&include=media,terms,translations,modules.posts",
            f"?type=blog&fields={','.join(LISTABLE)}",
            "?type=page&include=parent,children&facets=terms,type&after=",
        ),
        "/api/public/posts/{post_id}": ("", "?include=media,terms,modules.posts&fallback=de"),
        "/api/public/resolve": (
            f"?path={post.path}",
            f"?path={post.path}&include=media,terms,modules.posts&fields=type,title,modules",
            "?path=/left",
            "?path=/blog",
            "?path=/blog/topics/filter",
        ),
    }
    texts = {"{post_id}": post.pk, "{asset_id}": asset, "{term_id}": term, "{menu}": "main"}
    texts |= {"{global_slug}": "newsletter", "{slug}": "contact"}
    for path, method, _operation in operations(closed):
        if method != "get":
            continue
        for query in others.get(path, ("",)):
            address = path
            for name, value in texts.items():
                address = address.replace(name, str(value))
            schema = sparse if "fields=" in query else closed
            assert problems(schema, path, ApiClient().read(address + query)) == [], path + query

    paths = {"paths": [post.path, "/left", "/blog", "/none"], "include": ["media", "terms"]}
    answer = ApiClient().write("POST", "/api/public/resolve", paths)
    assert problems(closed, "/api/public/resolve", answer, "post") == []


def closed_document(*, sparse: bool = False) -> Any:
    """Return the document with closed objects, so that members that it does not name are found.

    `sparse`: nothing is required, as with `fields`.
    """
    closed = json.loads(json.dumps(delivery_document()))
    waiting: list[Any] = [closed["components"]["schemas"]]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if part.get("type") == "object" and "properties" in part:
                part.setdefault("additionalProperties", False)
                if sparse:
                    part.pop("required", None)
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
    return closed


def problems(document: Any, path: str, answer: Any, method: str = "get") -> list[str]:
    shape = answer_shape(document, path, method)
    found = validator(document, shape).iter_errors(answer)
    # Of the choices of a `oneOf`, the problem deepest in the answer.
    return [f"{one.json_path}: {one.message[:300]}" for one in map(deepest, found)]


def deepest(problem: Any) -> Any:
    while problem.context:
        problem = max(problem.context, key=lambda one: len(one.absolute_path))
    return problem


def test_every_node_and_mark_of_rich_text_is_described() -> None:
    shapes = rich_text_schemas()
    nodes = richtext.NODES - {"doc"}

    assert set(shapes) == {
        "RichTextDocument",
        "RichTextBlock",
        "RichTextInline",
        "RichTextMark",
        "RichTextTableCellOrHeader",
        *(component_name(name) for name in nodes | set(MARK_ORDER)),
    }
    for name, rules in richtext.ATTRIBUTES.items():
        described = shapes[component_name(name)]["properties"]["attrs"]["properties"]
        added = {"heading": {"id"}, "image": {"mediaId"}, "link": {"post"}}.get(name, set())
        assert set(described) == set(rules) | added, name


def test_the_page_of_rich_text_names_every_node_mark_and_attribute() -> None:
    text = Path(settings.BASE_DIR, "docs", "reference", "rich-text.md").read_text()

    for name in (richtext.NODES - {"doc"}) | set(MARK_ORDER):
        assert f"`{name}`" in text, name
    for rules in richtext.ATTRIBUTES.values():
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


def test_its_introduction_says_nothing_of_accounts(document: Any) -> None:
    text = document["info"]["description"]

    assert "The **delivery API**" in text
    for word in ("session", "PUT", "csrf", "management"):
        assert word not in text
