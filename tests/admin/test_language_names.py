"""Lists and choices of the admin show languages by name."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from content.models import Layer
from tests import make

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def test_no_page_says_the_code_of_a_language(signed_in: SignedIn) -> None:
    post = make.post("Filterkaffee", locale="de", slug="filterkaffee")
    make.staged(post, {"title": "Filterkaffee von Hand"}, layer=Layer.REVIEW)
    client = signed_in("admin")
    replace = "/admin/content/replacement/add/"
    sent = {"find": "Filterkaffee", "replace": "Kaffee", "tables": "posts", "case_sensitive": "on"}

    for shown in (
        client.get("/admin/"),
        client.get("/admin/inbox/"),
        client.get("/admin/inbox/all/?layer=review"),
        client.get("/admin/palette/?q=Filterkaffee"),
        client.get("/admin/content/post/targets/?kind=post-reference&q=Filterkaffee"),
        client.post(replace, sent),
    ):
        page = shown.content.decode()
        path = shown.wsgi_request.path
        assert "Filterkaffee" in page, path
        assert re.search(r"(·|\\u00b7) German\b", page), path
        assert not re.search(r"(·|\\u00b7) de\b", page), path


def test_menus_and_forms_are_named_with_their_language() -> None:
    assert str(make.form(title="Schreiben Sie uns", locale="de")) == "Schreiben Sie uns (German)"
