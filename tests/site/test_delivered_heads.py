"""The `seo` of the delivery API says what the head of the built-in site says."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from content.models import Layer, Post
from tests import make
from tests.site.test_pages import home

pytestmark = pytest.mark.django_db


def head_of(post: Post) -> dict[str, Any]:
    """Return the metadata of the built-in page with the names of the API."""
    html = Client().get(post.path).content.decode()
    names = re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)">', html)
    metas = {name: unescape(value) for name, value in names}
    links = re.findall(r'<link rel="([a-z]+)"(?: hreflang="([^"]+)")? href="([^"]+)">', html)
    title = re.search(r"<title>(.*?)</title>", html, re.S)
    scripts = re.findall(r'<script type="application/ld\+json">(.*?)</script>', html, re.S)
    assert title is not None
    return {
        "title": metas["og:title"],
        "description": metas.get("description", ""),
        "canonical": next(unescape(url) for rel, _, url in links if rel == "canonical"),
        "robots": metas.get("robots", ""),
        "alternates": [
            {"locale": locale, "url": unescape(url)}
            for rel, locale, url in links
            if rel == "alternate" and locale
        ],
        "type": metas["og:type"],
        "siteName": metas.get("og:site_name", ""),
        "locale": metas["og:locale"],
        "image": metas.get("og:image"),
        "publishedTime": metas.get("article:published_time"),
        "modifiedTime": metas.get("article:modified_time"),
        "jsonLd": [json.loads(script) for script in scripts],
    }


def delivered(post: Post) -> dict[str, Any]:
    seo = Client().get(f"/api/public/posts/{post.pk}").json()["seo"]
    graph = seo.pop("openGraph")
    assert (graph["title"], graph["description"], graph["url"]) == (
        seo["title"], seo["description"], seo["canonical"],
    )  # fmt: skip
    image = graph["image"]
    return {
        **seo,
        **{name: graph[name] for name in ("type", "siteName", "locale")},
        "image": image["url"] if image else None,
        "publishedTime": graph["publishedTime"],
        "modifiedTime": graph["modifiedTime"],
    }


def test_a_post_with_everything_has_the_head_of_its_page() -> None:
    home()
    parent = make.post("Parent", type="page", slug="parent")
    child = make.post("Child", type="page", slug="child", parentId=str(parent.pk))
    post = make.post(
        slug="coffee",
        excerpt="A short way.",
        metaTitle="Filter “coffee” & tea",
        robotsJson={"index": False},
        featuredMediaId=str(make.image().pk),
    )
    german = make.post("Kaffee", locale="de", translation_of=post, slug="kaffee")

    for one in (parent, child, post, german):
        assert delivered(one) == head_of(one), one.title
    assert delivered(post)["robots"] == "noindex"
    assert len(delivered(post)["alternates"]) == 3


def test_pages_without_metadata_have_the_head_of_their_page() -> None:
    front = make.post("Kettle", type="page", slug="home")
    plain = make.post("Plain", slug="plain", canonicalUrl="https://example.com/plain")

    for one in (front, plain):
        assert delivered(one) == head_of(one), one.title


def test_threat_09_a_head_says_nothing_of_what_is_staged() -> None:
    post = make.post("Kettle", type="page", slug="kettle")
    make.staged(post, {"metaTitle": "zeppelin", "excerpt": "zeppelin"})
    make.staged(post, {"metaDescription": "zeppelin"}, layer=Layer.REVIEW)
    make.post("zeppelin", type="page", slug="below", status="draft")
    child = make.post("Child", type="page", slug="child", parentId=str(post.pk))
    make.post("zeppelin", locale="de", translation_of=post, type="page", slug="d", status="draft")

    for one in (post, child):
        assert b"zeppelin" not in Client().get(f"/api/public/posts/{one.pk}").content


def test_a_page_that_appears_above_changes_the_answer() -> None:
    post = make.post(slug="coffee")
    address = f"/api/public/posts/{post.pk}"
    assert Client().get(address).json()["ancestors"] == []

    make.post("Our blog", type="page", slug="blog")

    assert Client().get(address).json()["ancestors"] == [{"title": "Our blog", "url": "/blog"}]
