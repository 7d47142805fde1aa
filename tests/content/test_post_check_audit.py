"""Checks of many posts: failures and dead links of published posts, page by page."""

from __future__ import annotations

import pytest

from content.post_checks import audit
from content.post_checks.audit import PostFilter, find_dead_links, find_failing_posts
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import RuleViolation
from tests import make
from tests.content.checking import set_levels
from tests.queries import count_queries

pytestmark = pytest.mark.django_db


def found(*checks: str, **asked):
    page = find_failing_posts(actor=make.actor("editor"), checks=checks, **asked)
    return [(one.check, one.post.title, one.failure.path) for one in page.failures]


def test_an_audit_finds_failures_of_published_posts_by_check_type_and_language():
    make.post("Good", metaTitle="Good", metaDescription="Good")
    make.post("Bad", metaTitle="x" * 61)
    make.post("Draft", status="draft")
    make.post("Schlecht", locale="de")
    make.post("Page", type="page")

    assert sorted(found("seoTitle", "seoDescription", posts=PostFilter(type="blog"))) == [
        ("seoDescription", "Bad", "post.metaDescription"),
        ("seoDescription", "Schlecht", "post.metaDescription"),
        ("seoTitle", "Bad", "post.metaTitle"),
        ("seoTitle", "Schlecht", "post.metaTitle"),
    ]
    assert found("seoTitle", posts=PostFilter(locale="de")) == [
        ("seoTitle", "Schlecht", "post.metaTitle")
    ]
    assert found("seoTitle", posts=PostFilter(type="page")) == [
        ("seoTitle", "Page", "post.metaTitle")
    ]


def test_staged_values_do_not_count_and_values_are_named():
    post = make.post("Bad", metaTitle="x" * 61)
    make.staged(post, {"metaTitle": "Short"})

    page = find_failing_posts(actor=make.actor("editor"), checks=["seoTitle"])

    assert [one.failure.value for one in page.failures] == ["x" * 61]


def test_a_check_that_is_off_for_the_type_is_skipped(monkeypatch):
    make.post("Bad")
    set_levels(monkeypatch, {"seoTitle": "off"})

    assert found("seoTitle") == []


def test_pages_cover_all_posts_once_and_end(monkeypatch):
    monkeypatch.setattr(audit, "_BATCH", 2)
    monkeypatch.setattr(audit, "MAX_POSTS_READ", 3)
    titles = {make.post(f"Post {number}").title for number in range(7)}

    seen, cursor, pages = [], "", 0
    while True:
        page = find_failing_posts(
            actor=make.actor("editor"), checks=["seoTitle"], limit=2, cursor=cursor
        )
        assert page.read <= 3
        seen += [one.post.title for one in page.failures]
        cursor, pages = page.cursor, pages + 1
        if not cursor:
            break
    assert sorted(seen) == sorted(titles)
    assert pages > 2


def test_an_unknown_check_a_bad_cursor_and_a_bad_limit_are_refused():
    for asked, key in (
        ({"checks": ["seoTitel"]}, "checks"),
        ({"checks": [], "cursor": "x"}, "cursor"),
        ({"checks": [], "limit": 0}, "limit"),
        ({"checks": [], "limit": 101}, "limit"),
    ):
        with pytest.raises(RuleViolation) as refused:
            find_failing_posts(actor=make.actor("editor"), **asked)
        assert list(refused.value.details) == [key]


def test_the_queries_of_an_audit_do_not_grow_with_the_posts():
    def read() -> None:
        find_failing_posts(actor=actor, checks=[], limit=100)

    actor = make.actor("editor")
    for number in range(2):
        make.post(f"First {number}", markdown="[a](/nowhere) [b](https://b.example)")
    few = count_queries(read)
    for number in range(10):
        make.post(f"Second {number}", markdown="[a](/nowhere) [b](https://b.example)")

    assert count_queries(read) == few <= 22


def test_an_audit_reads_only_posts_that_the_actor_may_view():
    make.site_role("german", "posts.view", scope=ContentScope(locales=frozenset({"de"})))
    make.post("Bad")
    make.post("Schlecht", locale="de")
    actor = make.actor("german")

    page = find_failing_posts(actor=actor, checks=["seoTitle"])
    links = find_dead_links(actor=actor)

    assert [one.post.title for one in page.failures] == ["Schlecht"]
    assert links.links == []


def test_dead_links_are_found_in_posts_and_in_their_global_modules():
    target = make.post("Target", slug="target")
    module = make.global_module(ctaLabel="Go", ctaUrl="/gone")
    from content.store.content_links import rebuild_links

    rebuild_links()
    one = make.post("One", markdown=f"[a](/nowhere) [b]({target.path})")
    two = make.post("Two")
    place = make.placed(two, module)
    make.post("Draft", status="draft", markdown="[c](/nowhere)")

    page = find_dead_links(actor=make.actor("editor"))

    assert sorted((one.post.title, one.path, one.href, one.status) for one in page.links) == [
        ("One", f"modules.{make.module_id(one, 'prose')}.props.content", "/nowhere", 404),
        ("Two", f"modules.{place}.props.ctaUrl", "/gone", 404),
    ]
    only = find_dead_links(actor=make.actor("editor"), posts=PostFilter(ids=[two.pk]))
    assert [link.post.title for link in only.links] == ["Two"]


def test_dead_links_come_in_pages(monkeypatch):
    monkeypatch.setattr(audit, "_LINK_BATCH", 2)
    for number in range(5):
        make.post(f"Post {number}", markdown="[a](/nowhere)")

    seen, cursor = [], ""
    while True:
        page = find_dead_links(actor=make.actor("editor"), limit=2, cursor=cursor)
        seen += [one.post.title for one in page.links]
        cursor = page.cursor
        if not cursor:
            break
    assert sorted(seen) == [f"Post {number}" for number in range(5)]
