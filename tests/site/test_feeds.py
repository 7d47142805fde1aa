"""Feeds: RSS 2.0 by the rules of its specification, one per post type and locale."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from content.models import Post
from proofroom_apps.website.feeds import FEED_ITEMS
from tests import make
from tests.site.test_pages import BLOG, home, text

pytestmark = pytest.mark.django_db
ATOM = "{http://www.w3.org/2005/Atom}"
RFC_822 = re.compile(
    r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} [+-]\d{4}\Z"
)


def child(element: ElementTree.Element, name: str) -> str:
    """Return the text of the only element with that name."""
    (found,) = element.findall(name)
    return found.text or ""


def valid_feed(response) -> tuple[ElementTree.Element, list[ElementTree.Element]]:
    """Return the channel and its items, validated by rssboard.org/rss-specification and its best practices."""
    assert response["Content-Type"] == "application/rss+xml; charset=utf-8"
    root = ElementTree.fromstring(response.content)  # noqa: S314  # our own
    assert (root.tag, root.get("version"), len(root)) == ("rss", "2.0", 1)
    channel = root[0]
    assert channel.tag == "channel"
    for name in ("title", "link", "description", "language"):
        assert child(channel, name)
    assert RFC_822.match(child(channel, "lastBuildDate"))
    (own,) = channel.findall(f"{ATOM}link")
    assert (own.get("rel"), own.get("href", "")[:4]) == ("self", "http")
    items = channel.findall("item")
    for item in items:
        assert child(item, "title")
        assert child(item, "description")
        assert RFC_822.match(child(item, "pubDate"))
        assert urlsplit(child(item, "link")).scheme in ("http", "https")
        assert item.findall("guid")[0].get("isPermaLink") == "false"
    assert len({child(item, "guid") for item in items}) == len(items)
    return channel, items


def test_a_feed_has_the_newest_posts_of_its_type_and_language(client):
    home()
    begin = datetime(2026, 1, 1, 12, tzinfo=UTC)
    for number in range(FEED_ITEMS + 2):
        post = make.post(f"Post {number}", excerpt=f"About {number}")
        Post.objects.filter(pk=post.pk).update(published_at=begin + timedelta(days=number))
    make.post("Kaffee", locale="de")
    make.post("A draft", status="draft")
    make.post("A page", type="page")

    channel, items = valid_feed(client.get("/blog/feed.xml"))

    newest = FEED_ITEMS + 1
    assert [child(item, "title") for item in items] == [
        f"Post {number}" for number in range(newest, newest - FEED_ITEMS, -1)
    ]
    assert child(channel, "title") == "Blog · Kettle"
    assert child(channel, "link") == "http://127.0.0.1:8000/blog"
    assert child(channel, "language") == "en"
    assert child(items[0], "link") == f"http://127.0.0.1:8000/blog/post-{newest}"
    assert child(items[0], "description") == f"About {newest}"
    assert parsedate_to_datetime(child(items[0], "pubDate")) == begin + timedelta(days=newest)
    german, (one,) = valid_feed(client.get("/de/blog/feed.xml"))
    assert (child(german, "language"), child(one, "title")) == ("de", "Kaffee")


def test_the_guid_stays_when_a_post_gets_another_address(client):
    post = make.post()
    (before,) = valid_feed(client.get("/blog/feed.xml"))[1]

    make.edited(post, {"slug": "coffee", "title": "New"})

    (after,) = valid_feed(client.get("/blog/feed.xml"))[1]
    assert child(after, "guid") == child(before, "guid") == f"urn:uuid:{post.pk}"
    assert child(after, "link") == "http://127.0.0.1:8000/blog/coffee"


def test_a_feed_is_asked_for_again_by_etag_and_changes_with_the_content(client):
    post = make.post()
    first = client.get("/blog/feed.xml")
    with CaptureQueriesContext(connection) as queries:
        unchanged = client.get("/blog/feed.xml", headers={"If-None-Match": first["ETag"]})

    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert len(queries) == 1
    assert first["Cache-Control"] == "public, max-age=60, stale-while-revalidate=60"
    built = child(valid_feed(first)[0], "lastBuildDate")
    later = timezone.now() + timedelta(days=1)
    make.edited(post, {"excerpt": "New"})
    Post.objects.filter(pk=post.pk).update(updated_at=later)

    changed = client.get("/blog/feed.xml", headers={"If-None-Match": first["ETag"]})
    assert changed.status_code == 200
    assert child(valid_feed(changed)[0], "lastBuildDate") != built


def test_texts_of_authors_are_text_in_a_feed(client):
    title = "Tea & <script>alert(1)</script> ]]>"
    post = make.post(title, slug="tea", excerpt="<b>Bold</b> & 'quoted'")
    Post.objects.filter(pk=post.pk).update(title=f"{title}\ufffe", excerpt="a\x0bb & <i>")

    response = client.get("/blog/feed.xml")

    (item,) = valid_feed(response)[1]
    assert (child(item, "title"), child(item, "description")) == (title, "a b & <i>")
    assert "<script>" not in text(response)


def test_a_post_without_an_excerpt_shows_its_first_words(client):
    make.post(markdown="Grind the beans. " * 40)

    (item,) = valid_feed(client.get("/blog/feed.xml"))[1]

    words = child(item, "description")
    assert words.startswith("How to brew filter coffee Grind the beans.")
    assert words.endswith("…")
    assert len(words) <= 161


def test_what_has_no_list_has_no_feed(client):
    home()
    make.post("A voice", type="testimonial", markdown="")

    for address in ("/feed.xml", "/pages/feed.xml", "/testimonials/feed.xml", "/people/feed.xml"):
        assert client.get(address).status_code == 404, address


def test_pages_link_their_types_feed(client):
    make.post()
    link = (
        '<link rel="alternate" type="application/rss+xml" title="Blog · 127.0.0.1" '
        'href="/blog/feed.xml">'
    )

    for address in (BLOG, "/blog"):
        assert text(client.get(address)).count(link) == 1, address
    assert "rss+xml" not in text(client.get("/nothing"))
