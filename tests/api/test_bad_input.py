"""Invalid input gets the contract's error, and nothing is stored."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

SCRIPT = "<script>alert(1)</script>"
MEGABYTE = "x" * 1_000_000


FIELDS: list[tuple[str, Any]] = [
    ("title", ""),
    ("title", None),
    ("title", 5),
    ("title", MEGABYTE),
    ("title", "two\nlines"),
    ("title", "nul\x00"),
    ("title", ["a", "list"]),
    ("slug", "Not A Slug"),
    ("slug", SCRIPT),
    ("slug", "../etc/passwd"),
    ("slug", "a" * 201),
    ("excerpt", {"an": "object"}),
    ("excerpt", "x" * 2001),
    ("metaTitle", True),
    ("metaTitle", MEGABYTE),
    ("metaDescription", "bell\x07"),
    ("canonicalUrl", "javascript:alert(1)"),
    ("canonicalUrl", "/only/a/path"),
    ("canonicalUrl", f"https://e.example/{'x' * 2000}"),
    ("robotsJson", "noindex"),
    ("robotsJson", {"index": "yes"}),
    ("robotsJson", {"note": "x" * 20_001}),
    ("jsonldOverrides", [1, 2]),
    ("featuredMediaId", "not-an-id"),
    ("featuredMediaId", "00000000-0000-4000-8000-000000000000"),
    ("parentId", "00000000-0000-4000-8000-000000000000"),
    ("orderIndex", 1.5),
    ("orderIndex", 10**30),
    ("orderIndex", True),
    ("publishAt", "tomorrow"),
    ("publishAt", "2001-01-01T00:00:00Z"),
    ("publishAt", "2099-01-01T00:00:00"),
    ("publishAt", "2099-13-45T00:00:00Z"),
    ("taxonomyTermIds", "topics"),
    ("taxonomyTermIds", ["not-an-id"]),
    ("taxonomyTermIds", [1]),
    ("taxonomyTermIds", ["00000000-0000-4000-8000-000000000000"]),
    ("taxonomyTermIds", [f"00000000-0000-4000-8000-{n:012}" for n in range(100_000)]),
    ("customFields", ["a"]),
    ("nonsense", 1),
    ("author__password__startswith", "p"),
    ("moduleGroup", "x"),
    ("deletedAt ", None),
]


@pytest.mark.parametrize(
    ("field", "value"), FIELDS, ids=lambda v: str(v)[:30].replace("\x00", "NUL")
)
@pytest.mark.parametrize("door", ["live", "review"])
def test_a_field_that_does_not_fit(door: str, field: str, value: Any) -> None:
    post = make.post()
    path = f"/api/posts/{post.pk}" + ("/review" if door == "review" else "")
    code = "unknown_field" if field in ("nonsense", "moduleGroup") else "invalid"
    if field.startswith(("author__", "deletedAt ")):
        code = "unknown_field"

    refused(
        "PUT",
        path,
        {field: value, "metaTitle": value if field == "metaTitle" else "ok"},
        422,
        code,
        field,
    )


@pytest.mark.parametrize(
    ("body", "key", "code"),
    [
        ({"type": "blog"}, "title", "invalid"),
        ({"title": "T"}, "type", "invalid"),
        ({"type": 5, "title": "T"}, "type", "invalid"),
        ({"type": "blog", "title": MEGABYTE}, "title", "invalid"),
        ({"type": "blog", "title": "T", "locale": "xx"}, "locale", "invalid"),
        ({"type": "blog", "title": "T", "status": "gone"}, "status", "invalid"),
        ({"type": "blog", "title": "T", "status": "archived"}, "status", "invalid"),
        ({"type": "blog", "title": "T", "nonsense": 1}, "nonsense", "unknown_field"),
        ({"type": "blog", "title": "T", "modules": {}}, "modules", "invalid"),
        ({"type": "blog", "title": "T", "modules": ["hero"]}, "modules.0", "invalid"),
        (
            {"type": "blog", "title": "T", "modules": [{"type": "heroo"}]},
            "modules.0.type",
            "unknown_module",
        ),
        (
            {
                "type": "blog",
                "title": "T",
                "modules": [{"type": "prose"}, {"type": "hero", "props": {"title": 5}}],
            },
            "modules.1.props.title",
            "invalid_props",
        ),
        (
            {"type": "blog", "title": "T", "modules": [{"type": "hero", "colour": 1}]},
            "modules.0.colour",
            "invalid",
        ),
        (
            {
                "type": "blog",
                "title": "T",
                "modules": [{"type": "callout", "globalSlug": "no\x00"}],
            },
            "modules.0.globalSlug",
            "invalid",
        ),
    ],
    ids=(lambda v: str(v)[:40].replace("\x00", "NUL")),
)
def test_a_post_that_cannot_be_created(body: Any, key: str, code: str) -> None:
    refused("POST", "/api/posts", body, 422, code, key)


def test_an_unknown_post_type_is_refused() -> None:
    refused(
        "POST", "/api/posts", {"type": "recipe", "title": "T"}, 422, "unknown_post_type", "type"
    )


@pytest.mark.parametrize(
    "name", ["restore", "review", "modules", "changes", "revisions", "provenance", "export"]
)
@pytest.mark.parametrize("id_", ["00000000-0000-4000-8000-000000000000", "%00", "1"])
def test_an_id_that_names_nothing_is_404_with_one_body(id_: str, name: str) -> None:
    method = {"restore": "POST", "review": "PUT"}.get(name, "GET")
    client = ApiClient("editor")

    answer = client.write(
        method, f"/api/posts/{id_}/{name}", {} if method != "GET" else None, expect=404
    )

    assert answer["code"] == "not_found"
    shown = "\x00" if id_ == "%00" else id_
    assert answer["error"] in (f"No post has the ID {shown}.",)


def test_threat_21_deleted_and_absent_posts_answer_alike() -> None:
    post = make.post()
    editor = ApiClient("editor")
    editor.write("DELETE", f"/api/posts/{post.pk}")
    absent = "11111111-1111-4111-8111-111111111111"

    gone = editor.read(f"/api/posts/{post.pk}", expect=404)
    never = editor.read(f"/api/posts/{absent}", expect=404)

    assert json.dumps(gone).replace(str(post.pk), absent) == json.dumps(never)


def test_what_could_not_be_stored_is_refused_on_its_path_through_every_door() -> None:
    post = make.post()
    url = f"/api/posts/{post.pk}"

    for value, inner in (
        ({"a": ["\x00"]}, ".a.0"),
        ({"\x00": 1}, ""),
        ({"a": 10**18}, ".a"),
        ({"a": 1e308}, ".a"),
    ):
        for method, path in (("PUT", url), ("PUT", f"{url}/review")):
            body = {"jsonldOverrides": value, "metaTitle": "ok"}
            refused(method, path, body, 422, "invalid", f"jsonldOverrides{inner}")
        body = {"digest": "d1.", "\x00" if inner == "" else "note": value}
        refused(
            "POST",
            f"{url}/review/approve",
            body,
            422,
            "invalid",
            f"note{inner}" if inner else "body",
        )
