"""Query parameters: an allow-list, and literal search terms."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from content.models import Post
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


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
def test_a_bad_value_is_told_which_ones_there_are(query: str, sentence: str) -> None:
    answer = ApiClient("editor").read(f"/api/posts?{query}", expect=422)

    assert (answer["error"], list(answer["details"].values())) == (sentence, [[sentence]])


@pytest.mark.parametrize("name", ["status", "hasReview", "hasAiReview"])
def test_filters_of_people_are_checked_for_people_and_ignored_in_public(name: str) -> None:
    make.post()

    assert list(ApiClient("editor").read(f"/api/posts?{name}=secret", expect=422)["details"]) == [
        name
    ]
    assert ApiClient().read(f"/api/public/posts?{name}=secret")["meta"]["total"] == 1


def test_threat_18_unknown_parameters_are_refused_or_ignored_and_no_lookup_leaks() -> None:
    make.post()
    editor = ApiClient("editor")
    plain = editor.read("/api/public/posts")

    for query in (
        "author__password__startswith=x",
        "title__icontains=zzz",
        "deleted_at__isnull=false",
        "search_text=zzz",
        "format=xml",
    ):
        name = query.partition("=")[0]
        assert list(editor.read(f"/api/posts?{query}", expect=422)["details"]) == [name]
        assert editor.read(f"/api/public/posts?{query}") == plain, query


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
