"""A page is made once for each version of the content; addresses without end are not kept."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from content.posts import document_edits
from content.posts.edit import edit_post
from proofroom.core.caching.answer_cache import answers
from tests import make

pytestmark = pytest.mark.django_db


def test_a_page_that_is_kept_takes_one_query(django_assert_num_queries: Any) -> None:
    make.post("Filter coffee", slug="coffee")
    first = Client().get("/blog/coffee")

    with django_assert_num_queries(1):
        again = Client().get("/blog/coffee")

    assert again.content == first.content
    headers = [{**answer.headers, "X-Request-ID": ""} for answer in (first, again)]
    assert headers[0] == headers[1]


def test_what_changed_is_seen_at_once() -> None:
    post = make.post("Filter coffee", slug="coffee")
    Client().get("/blog/coffee")

    edit_post(
        post_id=post.pk,
        actor=make.actor("editor"),
        edit=lambda document: document_edits.patch_fields(document, {"metaTitle": "Tea"}),
    )

    assert b"<title>Tea</title>" in Client().get("/blog/coffee").content


def test_each_form_is_kept_by_itself() -> None:
    make.post("Filter coffee", slug="coffee")
    html = Client().get("/blog/coffee")

    markdown = Client().get("/blog/coffee", headers={"accept": "text/markdown"})

    assert markdown.headers["Content-Type"].startswith("text/markdown")
    assert Client().get("/blog/coffee").content == html.content


def test_addresses_with_a_query_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    make.post("Filter coffee", slug="coffee")
    kept: list[str] = []
    monkeypatch.setattr(answers, "put", lambda version, key, *rest: kept.append(key))

    for number in range(3):
        assert Client().get(f"/blog/coffee?n={number}").status_code == 200

    assert kept == []
