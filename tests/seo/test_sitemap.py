"""`/sitemap.xml`: the six rules of the specification, one test each, and other listing rules."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from content.models import Post
from content.posts.publish import set_status
from content.posts.trash import delete_post
from content.posts.variations import create_variation
from seo import sitemap
from tests import make
from tests.queries import count_queries
from tests.seo.protocol import Url, urls_of

pytestmark = pytest.mark.django_db
SITE = "http://testserver"


def page(title: str, slug: str, **fields: Any) -> Post:
    return make.post(title, type="page", slug=slug, **fields)


def listed() -> list[Url]:
    return urls_of(Client().get("/sitemap.xml").getvalue())


def paths() -> list[str]:
    return [url.location.removeprefix(SITE) for url in listed()]


def test_rule_1_only_published_posts_are_included() -> None:
    make.post(slug="live")
    make.post("Draft", slug="draft", status="draft")
    archived, gone = make.post("Archived", slug="archived"), make.post("Gone", slug="gone")
    set_status(post_id=archived.pk, status="archived", actor=make.actor("admin"))
    delete_post(post_id=gone.pk, actor=make.actor("admin"))
    original = make.post("Original", slug="original")
    create_variation(post_id=original.pk, variation="B", actor=make.actor())
    placeholder = make.post("Placeholder", slug="placeholder")
    Post.objects.filter(pk=placeholder.pk).update(is_placeholder=True)

    assert paths() == ["/blog/live", "/blog/original"]


def test_rule_2_what_is_not_to_be_indexed_is_left_out() -> None:
    make.post(slug="no", robotsJson={"index": False})
    make.post("Follow", slug="follow", robotsJson={"follow": False})
    make.post("Yes", slug="yes", robotsJson={"index": True, "x": "false"})
    odd = make.post("Odd", slug="odd")
    Post.objects.filter(pk=odd.pk).update(robots_json={"index": "false"})

    # `=== false`: a text is not false.
    assert paths() == ["/blog/follow", "/blog/yes", "/blog/odd"]


def test_rule_3_addresses_follow_the_patterns_and_their_fallback() -> None:
    top = page("About", "about")
    page("Team", "team", parentId=str(top.pk))
    page("Über uns", "ueber-uns", locale="de")
    make.post(slug="tea")
    orphan = make.post("Tee", slug="tee", locale="de")
    Post.objects.filter(pk=orphan.pk).update(type="gone", path="/de/gone/tee")

    assert paths() == ["/about", "/about/team", "/de/ueber-uns", "/blog/tea", "/de/gone/tee"]


def test_rule_4_parents_come_first_and_siblings_in_their_order() -> None:
    second = page("Second", "second", orderIndex=2)
    first = page("First", "first", orderIndex=1)
    page("Last", "last", orderIndex=-1, parentId=str(second.pk))
    b = page("B", "b", orderIndex=9, parentId=str(first.pk))
    page("A", "a", orderIndex=-3, parentId=str(first.pk))
    page("Below", "below", parentId=str(b.pk))
    make.post(slug="before", orderIndex=-5)

    assert paths() == [
        "/blog/before", "/first", "/first/a", "/first/b", "/first/b/below", "/second", "/second/last",
    ]  # fmt: skip


def test_a_parent_that_is_not_published_says_where_its_children_stand() -> None:
    hidden = page("Hidden", "hidden", orderIndex=1)
    page("Child", "child", parentId=str(hidden.pk))
    page("Before", "before", orderIndex=0)
    page("After", "after", orderIndex=2)
    set_status(post_id=hidden.pk, status="draft", actor=make.actor("admin"))

    assert paths() == ["/before", "/hidden/child", "/after"]


def test_siblings_made_in_the_same_moment_keep_their_children_with_them() -> None:
    a, b = page("A", "a"), page("B", "b")
    page("Below a", "below-a", parentId=str(a.pk))
    page("Below b", "below-b", parentId=str(b.pk))
    Post.objects.update(created_at=a.created_at)

    found = paths()

    assert sorted(found) == ["/a", "/a/below-a", "/b", "/b/below-b"]
    assert found[found.index("/a") + 1] == "/a/below-a"
    assert found[found.index("/b") + 1] == "/b/below-b"


def test_rule_5_a_canonical_url_replaces_the_own_one() -> None:
    make.post(slug="own")
    make.post("Elsewhere", slug="elsewhere", canonicalUrl="https://other.example/x?a=1&b='2'")
    make.post("Below", slug="below", canonicalUrl="https://other.example/käse")

    assert [url.location for url in listed()] == [
        f"{SITE}/blog/own",
        "https://other.example/x?a=1&b='2'",
        "https://other.example/k%C3%A4se",
    ]


def test_rule_6_the_last_change_is_the_update_of_the_post() -> None:
    post = make.post(slug="tea")
    Post.objects.filter(pk=post.pk).update(
        created_at="2020-01-01T00:00:00Z",
        published_at="2021-01-01T00:00:00Z",
        updated_at="2022-03-04T05:06:07.890Z",
    )

    assert [url.changed for url in listed()] == ["2022-03-04T05:06:07Z"]


def test_addresses_are_escaped() -> None:
    make.post("Käse", slug="kaese")
    Post.objects.update(path="/käse & brot/<x>")

    assert paths() == ["/k%C3%A4se%20&%20brot/%3Cx%3E"]


def test_an_address_that_the_protocol_does_not_take_is_left_out() -> None:
    make.post(slug="short")
    long = make.post("Long", slug="long")
    Post.objects.filter(pk=long.pk).update(path="/" + "ä" * 400)

    assert paths() == ["/blog/short"]


def test_languages_are_offered_between_what_may_be_listed() -> None:
    english = make.post(slug="tea")
    make.post("Tee", slug="tee", locale="de", translation_of=english)
    alone = make.post("Alone", slug="alone")
    make.post("Allein", slug="allein", locale="de", translation_of=alone, status="draft")
    hidden = make.post("Cup", slug="cup")
    no = {"index": False}
    make.post("Tasse", slug="tasse", locale="de", translation_of=hidden, robotsJson=no)

    found = {url.location.removeprefix(SITE): url.languages for url in listed()}

    tea = {
        "en": f"{SITE}/blog/tea",
        "de": f"{SITE}/de/blog/tee",
        "x-default": f"{SITE}/blog/tea",
    }
    assert found == {"/blog/tea": tea, "/de/blog/tee": tea, "/blog/alone": {}, "/blog/cup": {}}


def test_what_names_another_original_offers_no_languages() -> None:
    own = "http://127.0.0.1:8000/blog/tea"
    english = make.post(slug="tea", canonicalUrl=own)
    german = make.post("Tee", slug="tee", locale="de", translation_of=english)
    assert [set(url.languages) for url in listed()] == [{"en", "de", "x-default"}] * 2

    Post.objects.filter(pk=german.pk).update(canonical_url="https://other.example/tee")
    sitemap.drop_sitemap(SITE)

    assert [set(url.languages) for url in listed()] == [set(), set()]


def test_a_language_that_is_no_longer_one_of_the_site_is_left_out() -> None:
    make.post(slug="tea")
    gone = make.post("Thé", slug="the", locale="de")
    Post.objects.filter(pk=gone.pk).update(locale="fr", path="/fr/blog/the")

    assert paths() == ["/blog/tea"]


def test_a_site_without_posts_has_an_empty_sitemap() -> None:
    assert listed() == []


def test_it_is_read_in_as_many_queries_however_many_posts_there_are() -> None:
    post = make.post()

    def queries() -> int:
        sitemap.drop_sitemap(SITE)
        return count_queries(Client().get, "/sitemap.xml")

    before = queries()
    make.copies(
        post,
        50,
        slug=lambda number: f"copy-{number}",
        path=lambda number: f"/blog/copy-{number}",
        translation_group=lambda _: uuid4(),
    )

    assert queries() == before
    assert len(listed()) == 51
