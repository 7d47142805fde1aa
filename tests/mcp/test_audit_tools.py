"""The tools that find weak content and dead links in published posts."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from content.models import CheckedAddress, Post
from content.store.content_links import url_key
from tests import make
from tests.mcp.calling import by, done, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]


def walked(tool: str, **arguments: Any) -> list[dict[str, Any]]:
    """Return the rows of all pages. No page is longer than its limit."""
    rows: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    for _ in range(50):
        page = done(tool, **arguments, **cursor)
        assert len(page["items"]) <= arguments.get("limit", 20)
        rows += page["items"]
        if "nextCursor" not in page:
            return rows
        cursor = {"cursor": page["nextCursor"]}
    raise AssertionError("the pages do not end")


def test_an_audit_names_the_value_that_fails() -> None:
    empty = make.post("Empty", slug="empty", metaDescription="Short")
    long = make.post("Long", slug="long", metaTitle="x" * 61, metaDescription="y" * 161)
    make.post("Good", slug="good", metaTitle="x" * 60, metaDescription="y" * 160)
    make.post("Draft", slug="draft", status="draft")

    rows = walked("audit_posts", checks=["seoTitle", "seoDescription"])

    assert sorted(
        (one["check"], one["post"], one["url"], one["title"], one["path"], one["value"])
        for one in rows
    ) == sorted(
        [
            ("seoTitle", str(empty.pk), "/blog/empty", "Empty", "post.metaTitle", ""),
            ("seoTitle", str(long.pk), "/blog/long", "Long", "post.metaTitle", "x" * 61),
            ("seoDescription", str(long.pk), "/blog/long", "Long", "post.metaDescription", "y" * 161),
        ]
    )  # fmt: skip


def test_an_audit_reads_live_content_only() -> None:
    post = make.post(metaTitle="Short")
    make.staged(post, {"metaTitle": "z" * 80})

    assert walked("audit_posts", checks=["seoTitle"]) == []


def test_an_audit_is_narrowed_by_type_and_locale() -> None:
    make.post("English", slug="english")
    german = make.post("Deutsch", slug="deutsch", locale="de")
    page = make.post("Page", slug="page", type="page")

    def titles(**filters: str) -> list[str]:
        return [one["title"] for one in walked("audit_posts", checks=["seoTitle"], **filters)]

    assert titles(locale="de") == [german.title]
    assert titles(type="page") == [page.title]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"checks": ["seo"]}, "There is no check 'seo'. Available: seoTitle, seoDescription,"),
        ({"type": "blogs"}, "Did you mean 'blog'?"),
        ({"locale": "fr"}, "Known: en, de."),
        ({"cursor": "x"}, "This cursor is not of this list"),
        ({"limit": 101}, "`limit`"),
    ],
)
def test_a_wrong_audit_is_refused_with_the_lesson(arguments: dict[str, Any], words: str) -> None:
    assert words in refused("audit_posts", **arguments)[1]


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_divide_a_post_and_cover_each_failure_once(limit: int) -> None:
    for number in range(4):
        make.post(f"Post {number}", slug=f"post-{number}", metaTitle="x" * 61)
    whole = walked("audit_posts", limit=100)

    assert len({(one["check"], one["post"], one.get("path")) for one in whole}) >= 8
    assert walked("audit_posts", limit=limit) == whole


def links() -> Post:
    address = "https://shop.example/gone"
    now = timezone.now()
    CheckedAddress.objects.create(
        key=url_key(address), url=address, status=410, failures=9, checked_at=now, due_at=now
    )
    return make.post(
        "Links",
        slug="links",
        markdown=f"[a](/nowhere) and [b](/blog/links) and [c]({address}) and [d](https://new.example/)",
    )


def test_dead_links_within_and_outside_of_the_site() -> None:
    post = links()
    path = f"modules.{make.module_id(post, 'prose')}.props.content"

    rows = walked("check_links")

    assert sorted(rows, key=lambda one: one["href"]) == [
        {"post": str(post.pk), "path": path, "href": "/nowhere", "status": 404},
        {"post": str(post.pk), "path": path, "href": "https://shop.example/gone", "status": 410},
    ]
    assert walked("check_links", limit=1) == rows


def test_links_of_one_post_by_its_address() -> None:
    make.post("Other", slug="other", markdown="[x](/nowhere)")
    links()

    assert {one["href"] for one in walked("check_links", post="/blog/links")} == {
        "/nowhere",
        "https://shop.example/gone",
    }
    assert walked("check_links", type="page") == walked("check_links", locale="de") == []
    assert refused("check_links", post="/blog/none")[0] == "unknown_post"


def test_the_links_of_a_draft_are_checked_if_it_is_named() -> None:
    post = make.post("Draft", status="draft", markdown="[x](/nowhere)")

    assert walked("check_links") == []
    assert [one["href"] for one in walked("check_links", post=str(post.pk))] == ["/nowhere"]


@pytest.mark.parametrize("name", ["audit_posts", "check_links"])
def test_who_sees_no_posts_finds_none(name: str) -> None:
    links()
    make.site_role("clerk", "media.view")

    assert refused(name, by("clerk"))[0] == "not_allowed"
