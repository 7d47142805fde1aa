"""The OpenAPI document: one error format, all URLs, no secret and no version.

`./run check` validates it, and checks that the committed one is current.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings

from proofroom.core.api.schema import operations
from tests.api_client import ApiClient
from tests.api_description import api_description
from tests.contract.addresses import addresses

JSON_TYPE = "application/json"
CHANGES = "/api/public/changes"


@pytest.fixture(scope="module")
def document() -> Any:
    return api_description()


def resolved(part: Any, document: Any) -> Any:
    """Return the target of a reference; other values unchanged."""
    while isinstance(part, dict) and "$ref" in part:
        found = document
        for name in part["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        part = found
    return part


def test_every_address_is_described_with_the_one_error(document: Any) -> None:
    described = {
        (path.replace("{", "<").replace("}", ">"), method.upper())
        for path, item in document["paths"].items()
        for method in item
    }
    served = {(item.path, method) for item in addresses() for method in item.methods}

    assert document["openapi"] == "3.1.0"
    undescribed = {"/api/schema/", "/api/schema/delivery", "/api/docs/"}
    assert described == served - {(path, "GET") for path in undescribed}
    error = document["components"]["schemas"]["Error"]
    assert set(error["required"]) == {"error", "code", "details"}
    assert document["components"]["securitySchemes"]["session"]["in"] == "cookie"
    for path, method, operation in operations(document):
        assert operation["description"], (method, path)
        assert operation["summary"], (method, path)
        refusals = {code: r for code, r in operation["responses"].items() if code[0] in "d4"}
        assert {"default", "429"} <= set(refusals), (method, path)
        for refusal in refusals.values():
            body = resolved(refusal, document)["content"][JSON_TYPE]["schema"]
            assert body == {"$ref": "#/components/schemas/Error"}, (method, path)


def test_every_answer_and_every_body_says_what_is_in_it(document: Any) -> None:
    for path, method, operation in operations(document):
        answers = [answer for code, answer in operation["responses"].items() if code[0] == "2"]
        assert answers, (method, path)
        bodies = [*answers, *([operation["requestBody"]] if "requestBody" in operation else [])]
        for body in bodies:
            content = resolved(body, document).get("content", {})
            for media_type, described in content.items():
                if media_type == JSON_TYPE:
                    shape = resolved(described["schema"], document)
                    assert says_something(shape, document), (method, path, shape)


def says_something(shape: Any, document: Any) -> bool:
    """Return True if a schema names properties or items, or explains why it cannot."""
    choices = [resolved(item, document) for item in shape.get("oneOf", shape.get("anyOf", []))]
    if choices:
        return all(says_something(item, document) for item in choices)
    is_open = bool(shape.get("additionalProperties")) and "description" in shape
    is_empty = shape.get("additionalProperties") is False
    return bool(shape.get("properties") or shape.get("items") or is_open or is_empty)


def test_a_body_takes_no_unknown_key_and_a_list_is_an_envelope(document: Any) -> None:
    for path, method, operation in operations(document):
        body = operation.get("requestBody", {}).get("content", {}).get(JSON_TYPE)
        if body is not None:
            shape = resolved(body["schema"], document)
            assert "properties" not in shape or "additionalProperties" in shape, (method, path)
        # Changes are followed by their cursor, not in pages.
        if operation["operationId"].endswith("_list") and path != "/api/public/changes":
            answer = operation["responses"]["200"]["content"][JSON_TYPE]["schema"]
            expected = {"data", "next"} if path == CHANGES else {"data", "meta"}
            assert expected <= set(resolved(answer, document)["properties"]), path


def test_names_are_unique_and_tags_described(document: Any) -> None:
    names = [operation["operationId"] for _, _, operation in operations(document)]
    tags = {tag["name"] for tag in document["tags"] if tag["description"]}

    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z][a-z_]+[a-z]", name) for name in names), names
    assert {tag for _, _, operation in operations(document) for tag in operation["tags"]} == tags


def test_what_is_made_is_linked_to_where_it_is_read(document: Any) -> None:
    links = document["paths"]["/api/posts"]["post"]["responses"]["201"]["links"]

    assert set(links) >= {"posts_retrieve", "posts_update", "posts_destroy"}
    assert links["posts_retrieve"] == {
        "operationId": "posts_retrieve",
        "parameters": {"post_id": "$response.body#/id"},
    }


def test_conditional_reads_answer_their_version(document: Any) -> None:
    for path in ("/api/posts", "/api/posts/{post_id}", "/api/public/posts"):
        responses = document["paths"][path]["get"]["responses"]
        assert "ETag" in responses["200"]["headers"], path
        assert "304" in responses, path
    assert "304" not in document["paths"]["/api/posts/{post_id}/export"]["get"]["responses"]


@pytest.mark.django_db
def test_threat_41_the_served_document_is_public_and_holds_no_secret() -> None:
    response = ApiClient().get("/api/schema/")

    assert response.status_code == 200
    text = response.content.decode()
    for secret in (settings.SECRET_KEY, str(settings.BASE_DIR), str(settings.DATA_DIR)):
        assert secret not in text
    assert "\n  version: '1'\n" in text
