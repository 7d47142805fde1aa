"""The link from a page of the site to its editor: for people who may edit that post, never part of the page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from proofroom.core.content_scope import ContentScope
from tests import make

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def test_only_who_may_edit_the_post_gets_the_link(signed_in: SignedIn) -> None:
    post, page = make.post(), make.post("About", type="page", slug="about")
    draft = make.post("Draft", slug="draft", status="draft")
    make.site_role("reader", "posts.view")
    make.site_role("translate_only", "posts.view", "posts.translate")
    scope = ContentScope(types=frozenset({"page"}))
    make.site_role("desk", "posts.view", "posts.edit", scope=scope)

    def link(role: str, of: object) -> tuple[int, str]:
        answer = signed_in(role).get(f"/admin/content/post/{of.pk}/change/link/")  # type: ignore[attr-defined]
        return answer.status_code, answer.json()["url"] if answer.status_code == 200 else ""

    editor = (200, f"/admin/content/post/{post.pk}/change/")
    assert link("editor", post) == link("translator", post) == editor
    assert link("reader", post) == link("translate_only", post) == (200, "")
    assert link("translate_only", draft)[1]
    assert link("desk", page)[1]
    assert link("desk", post)[1] == ""
    new = make.post("New", type="page", slug="new", status="draft")
    assert 'value="save"' in signed_in("desk").get(link("desk", new)[1]).content.decode()
    assert Client().get(f"/admin/content/post/{post.pk}/change/link/").status_code == 302


def test_the_page_is_the_same_for_staff_and_visitors(signed_in: SignedIn) -> None:
    post = make.post()
    visitor, editor = Client().get(post.path), signed_in("editor").get(post.path)

    assert visitor.content == editor.content
    assert "change/link" not in visitor.content.decode()
    assert "/admin/" not in visitor.content.decode()
    assert visitor.headers["Cache-Control"] == editor.headers["Cache-Control"]
    assert visitor.headers["ETag"] == editor.headers["ETag"]
    assert "Cookie" not in visitor.headers.get("Vary", "")
