"""Invalid input gets the contract's error, and nothing is stored."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from content.models import Post
from tests import make
from tests.api.refusals import refused, stored
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


@pytest.mark.parametrize(
    ("props", "key"),
    [
        ({"title": 5}, "props.title"),
        ({"titel": "x"}, "props.titel"),
        ({"title": MEGABYTE}, "props.title"),
        ({"title": "bell\x07"}, "props.title"),
        ({"title": ["x"]}, "props.title"),
        ({"title": {"a": 1}}, "props.title"),
    ],
    ids=lambda v: str(v)[:30].replace("\x00", "NUL"),
)
def test_a_prop_that_does_not_fit_its_schema(props: Any, key: str) -> None:
    post = make.post()
    id_ = make.module_id(post, "hero")

    refused("PUT", f"/api/post-modules/{id_}", {"props": props}, 422, "invalid_props", key)
    refused(
        "PUT",
        f"/api/posts/{post.pk}/review",
        {"modules": [{"postModuleId": id_, "props": props}]},
        422,
        "invalid_props",
        f"modules.{id_}.{key}",
    )


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ({"props": {}}, "modules.0.postModuleId"),
        ({"postModuleId": "nonsense"}, "modules.0.postModuleId"),
        ({"postModuleId": "HERO", "position": -1}, "modules.0.position"),
        ({"postModuleId": "HERO", "position": "first"}, "modules.0.position"),
        ({"postModuleId": "HERO", "props": [1]}, "modules.0.props"),
        ({"postModuleId": "HERO", "locked": False}, "modules.0.locked"),
    ],
    ids=str,
)
def test_a_staged_module_that_does_not_fit(entry: dict[str, Any], key: str) -> None:
    post = make.post()
    if entry.get("postModuleId") == "HERO":
        entry = {**entry, "postModuleId": make.module_id(post, "hero")}

    before = stored()
    answer = ApiClient("editor").write(
        "PUT", f"/api/posts/{post.pk}/review", {"modules": [entry]}, expect=422
    )

    assert list(answer["details"]) == [key]
    assert stored() == before


def test_a_locked_module_stays_where_and_what_it_is() -> None:
    post = make.post()
    hero = make.module_id(post, "hero")
    order = list(make.layers(post).live.order)
    url, key = f"/api/post-modules/{hero}", f"modules.{hero}"

    refused("DELETE", url, None, 422, "locked_module", key)
    refused("PUT", url, {"orderIndex": 2}, 422, "locked_module", key)
    refused("PUT", url, {"locked": False}, 422, "locked_module", "locked")
    refused("PUT", url, {"type": "callout"}, 422, "module_type", "type")
    refused(
        "POST",
        f"/api/posts/{post.pk}/modules/reorder",
        {"order": [*order[1:], order[0]]},
        422,
        "locked_module",
        key,
    )
    refused(
        "PUT",
        f"/api/posts/{post.pk}/review",
        {"modules": [{"postModuleId": hero, "position": 2}]},
        422,
        "locked_module",
        key,
    )
    refused(
        "POST",
        f"/api/posts/{post.pk}/modules",
        {"type": "callout", "orderIndex": 0},
        422,
        "locked_module",
        key,
    )
    ApiClient("editor").write("PUT", url, {"props": {"title": "Its props can change"}})


@pytest.mark.parametrize("order", [[], ["x"], "abc", {"a": 1}, [1, 2, 3]], ids=str)
def test_an_order_names_every_module_once(order: Any) -> None:
    post = make.post()
    before = stored()

    answer = ApiClient("editor").write(
        "POST", f"/api/posts/{post.pk}/modules/reorder", {"order": order}, expect=422
    )

    assert all(key.startswith("order") for key in answer["details"]), answer
    assert stored() == before


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("per_page=0", "per_page"),
        ("per_page=101", "per_page"),
        ("per_page=ten", "per_page"),
        ("per_page=-1", "per_page"),
        ("per_page=", "per_page"),
        ("per_page=%C2%B2", "per_page"),
        ("page=0", "page"),
        ("page=1.5", "page"),
        ("page=99999999999999999999", "page"),
        ("ordering=password", "ordering"),
        ("ordering=--title", "ordering"),
        ("ordering=author__password", "ordering"),
        ("type=recipe", "type"),
        ("locale=xx", "locale"),
        ("allLocales=1", "allLocales"),
        ("slug=%00", "slug"),
        ("search=%00", "search"),
        ("taxonomy=" + "x" * 300, "taxonomy"),
    ],
)
@pytest.mark.parametrize("path", ["/api/posts", "/api/public/posts"])
def test_a_query_parameter_with_a_bad_value(path: str, query: str, key: str) -> None:
    make.post()

    answer = ApiClient("editor").read(f"{path}?{query}", expect=422)

    assert list(answer["details"]) == [key]
    assert answer["code"] == "invalid"


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("type=recipe", "type must be one of: blog, company, page, profile, testimonial."),
        ("locale=xx", "locale must be one of: en, de."),
        ("status=live", "status must be one of: draft, published, archived."),
        ("hasReview=1", "hasReview must be one of: true, false."),
    ],
)
def test_a_bad_value_error_lists_the_choices(query: str, sentence: str) -> None:
    answer = ApiClient("editor").read(f"/api/posts?{query}", expect=422)

    assert (answer["error"], list(answer["details"].values())) == (sentence, [[sentence]])


@pytest.mark.parametrize("name", ["status", "hasReview", "hasAiReview"])
def test_filters_of_people_are_checked_for_people_and_unknown_in_public(name: str) -> None:
    make.post()

    for path in ("/api/posts", "/api/public/posts"):
        answer = ApiClient("editor").read(f"{path}?{name}=secret", expect=422)
        assert list(answer["details"]) == [name]
    assert ApiClient().get(f"/api/public/posts?{name}=true").status_code == 422


def test_threat_18_unknown_parameters_are_refused_and_no_lookup_leaks() -> None:
    make.post()
    editor = ApiClient("editor")

    for query in (
        "author__password__startswith=x",
        "title__icontains=zzz",
        "deleted_at__isnull=false",
        "search_text=zzz",
        "format=xml",
    ):
        name = query.partition("=")[0]
        for path in ("/api/posts", "/api/public/posts"):
            assert list(editor.read(f"{path}?{query}", expect=422)["details"]) == [name]


INJECTIONS = [
    "' OR 1=1 --",
    '"; DROP TABLE content_post; --',
    "%' AND '1'='1",
    "\\",
    "[$ne]",
    "{{7*7}}",
    "🦆" * 40,
]


@pytest.mark.parametrize("text", INJECTIONS)
def test_threat_25_words_in_a_query_are_only_words(text: str) -> None:
    make.post()
    editor = ApiClient("editor")

    for name in ("search", "slug", "taxonomy"):
        assert editor.read("/api/posts", **_query(**{name: text}))["meta"]["total"] == 0
    assert editor.read("/api/posts")["meta"]["total"] == 1
    post = Post.objects.get()
    assert editor.read(f"/api/posts/{post.pk}/provenance", **_query(path=text))["data"] == []


def _query(**values: str) -> dict[str, Any]:
    return {"QUERY_STRING": urlencode(values)}


def test_a_page_past_the_last_is_empty() -> None:
    make.post()

    answer = ApiClient("editor").read("/api/posts?page=9&per_page=1")

    assert answer == {
        "data": [],
        "meta": {"total": 1, "per_page": 1, "current_page": 9, "last_page": 1},
    }
