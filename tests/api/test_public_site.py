"""Frontends read the site, its global modules and its files."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from content.models import Layer
from content.store.media_usage import rebuild_references
from tests import make
from tests.api_client import ApiClient
from tests.queries import count_queries

pytestmark = pytest.mark.django_db


def site(query: str = "") -> Any:
    return ApiClient().read(f"/api/public/site{query}")


def test_the_site_names_its_languages_types_and_words() -> None:
    make.post("Kettle", type="page", slug="home")

    english, german = site(), site("?locale=de")

    assert (english["name"], english["locale"], english["homeUrl"]) == ("Kettle", "en", "/")
    assert english["mediaBase"] == f"{english['url']}/media/"
    assert english["locales"][:2] == [
        {"code": "en", "label": "English", "default": True, "homeUrl": "/", "direction": "ltr"},
        {"code": "de", "label": "Deutsch", "default": False, "homeUrl": "/de/", "direction": "ltr"},
    ]
    types = {one["type"]: one for one in german["types"]}
    assert (types["blog"]["listUrl"], types["blog"]["feedUrl"]) == ("/de/blog", "/de/blog/feed.xml")
    assert types["page"]["listUrl"] is None
    assert (english["words"]["search"], german["words"]["search"]) == ("Search", "Suchen")
    assert set(english["words"]) == set(german["words"])
    assert english["analytics"]["trackUrl"] == "/api/public/analytics/track"
    assert english["consent"]["question"]
    ApiClient().read("/api/public/site?locale=xx", expect=422)


def test_the_site_follows_the_title_of_its_home_page() -> None:
    post = make.post("Kettle", type="page", slug="home")
    assert site()["name"] == "Kettle"

    make.edited(post, {"title": "Teapot"})

    assert site()["name"] == "Teapot"


def test_a_global_module_is_answered_while_a_published_page_shows_it() -> None:
    image, module = make.image("letter.png"), make.global_module("letter")
    module.type, module.props = "hero", {"title": "Subscribe", "imageId": str(image.pk)}
    module.save()
    address = "/api/public/globals/letter"
    draft = make.post("Draft", slug="draft", status="draft")
    make.placed(draft, module)
    rebuild_references()
    ApiClient().read(address, expect=404)
    ApiClient().read(f"/api/public/media/{image.pk}", expect=404)

    make.placed(make.post("Live", slug="live"), module)
    rebuild_references()

    found = ApiClient().read(address)
    assert (found["id"], found["slug"], found["type"]) == (str(module.pk), "letter", "hero")
    assert found["props"]["title"] == "Subscribe"
    assert set(found["media"]) == {str(image.pk)}
    assert ApiClient().read(f"/api/public/media/{image.pk}")["id"] == str(image.pk)
    for unknown in ("none", "%00", "x" * 500):
        ApiClient().read(f"/api/public/globals/{unknown}", expect=404)


def test_a_file_is_answered_while_published_content_uses_it() -> None:
    image, staged, of_draft = (make.image(f"{name}.png") for name in "abc")
    post = make.post(featuredMediaId=str(image.pk))
    make.staged(post, {"featuredMediaId": str(staged.pk)}, layer=Layer.REVIEW)
    make.post("Draft", slug="draft", status="draft", featuredMediaId=str(of_draft.pk))

    found = ApiClient().read(f"/api/public/media/{image.pk}")

    whole = ApiClient().read(f"/api/public/posts/{post.pk}")["media"][str(image.pk)]
    assert found == {"id": str(image.pk), **whole}
    for hidden in (staged.pk, of_draft.pk, uuid4(), "x", "%00"):
        ApiClient().read(f"/api/public/media/{hidden}", expect=404)
    ApiClient("editor").write("PUT", f"/api/posts/{post.pk}", {"status": "draft"})
    ApiClient().read(f"/api/public/media/{image.pk}", expect=404)


def test_each_costs_a_fixed_number_of_queries() -> None:
    image, module = make.image(), make.global_module()
    term = make.term("Coffee")
    for number in range(3):
        post = make.post(
            slug=f"post-{number}",
            featuredMediaId=str(image.pk),
            taxonomyTermIds=[str(term.pk)],
        )
        make.placed(post, module)
    make.post("Kettle", type="page", slug="home")

    def cost(path: str) -> int:
        return count_queries(Client().get, path)

    # One of them is for the version of the content.
    assert cost("/api/public/globals/newsletter") == 2
    assert cost(f"/api/public/media/{image.pk}") == 2
    assert cost(f"/api/public/terms/{term.pk}") == 3
    # Menus, and the posts that they and home pages are.
    assert cost("/api/public/site") == 3
    # The same frame.
    assert cost("/api/public/site?locale=en") == 1
