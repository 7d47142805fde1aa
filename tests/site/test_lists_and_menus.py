"""The index of the blog, and the menus on every page."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from content.models import Post
from content.posts.edit import edit_post
from content.posts.trash import delete_post
from content.store.post_queries import list_posts_of
from proofroom.core.caching.content_version import live_state
from proofroom.definitions.listings import LIST_PAGE_SIZE, IndexPage
from proofroom.taxonomies.models import Term
from proofroom.taxonomies.services import change_term
from proofroom_apps.menus.models import Menu
from proofroom_apps.website.queries import _listed, load_extents, load_listed_page
from tests import make
from tests.queries import page_queries
from tests.site.test_pages import BLOG, home, page, text

pytestmark = pytest.mark.django_db


def titles(response) -> list[str]:
    return re.findall(r'<h2><a href="[^"]+">([^<]+)</a></h2>', text(response))


def test_the_list_has_the_newest_first_and_its_own_language_only(client):
    for age, title in enumerate(("Newest", "Middle", "Oldest")):
        post = make.post(title)
        moment = timezone.now() - timedelta(days=age)
        Post.objects.filter(pk=post.pk).update(published_at=moment)
    make.post("Entwurf", locale="de", status="draft")
    make.post("Kaffee", locale="de")

    assert titles(client.get("/blog")) == ["Newest", "Middle", "Oldest"]
    assert titles(client.get("/de/blog")) == ["Kaffee"]


def test_only_articles_are_dated_in_lists(client):
    make.post("Anna", type="profile")
    make.post("Tea")

    assert ("Anna" in text(client.get("/people")), "<time" in text(client.get("/people"))) == (
        True,
        False,
    )
    assert "<time" in text(client.get("/blog"))


def test_the_list_has_pages(client):
    for number in range(LIST_PAGE_SIZE + 1):
        make.post(f"Post {number:02}")

    first, second = client.get("/blog"), client.get("/blog?page=2")

    assert (len(titles(first)), len(titles(second))) == (LIST_PAGE_SIZE, 1)
    assert not set(titles(first)) & set(titles(second))
    assert '<a rel="next" href="/blog?page=2">' in text(first)
    assert '<a rel="prev" href="/blog">' in text(second)
    assert '<link rel="canonical" href="http://127.0.0.1:8000/blog?page=2">' in text(second)
    for wrong in ("3", "0", "-1", "x", "1e9", "٢", "9" * 400, ""):
        assert client.get("/blog", {"page": wrong}).status_code == 404


def test_the_list_of_a_term_begins_with_its_description(client):
    coffee = make.term("Coffee")
    change_term(term_id=coffee.pk, actor=make.actor(), description="Beans <b>and</b>\nwater")
    for number in range(LIST_PAGE_SIZE + 1):
        make.post(f"Post {number:02}", taxonomyTermIds=[str(coffee.pk)])

    first, second = (
        text(client.get("/blog/topics/coffee")),
        text(client.get("/blog/topics/coffee?page=2")),
    )

    assert '<p class="lead">Beans &lt;b&gt;and&lt;/b&gt;<br>water</p>' in first
    assert '<meta name="description" content="Beans &lt;b&gt;and&lt;/b&gt; water">' in first
    assert "Beans" not in second
    assert text(client.get("/blog/topics/coffee.md")).count("water") == 2
    change_term(term_id=coffee.pk, actor=make.actor(), description="Only beans")
    assert "Only beans" in text(client.get("/blog/topics/coffee"))


def test_a_list_without_a_published_post_is_no_page(client):
    make.post(status="draft")
    make.post("Kaffee", locale="de")

    for address in ("/blog", "/blog.md", "/blog/feed.xml", "/people", "/de/people", "/pages"):
        assert client.get(address).status_code == 404, address
    assert client.get("/de/blog").status_code == 200


def test_a_page_at_the_lists_url_replaces_the_list(client):
    page("Blog")
    make.post()

    assert titles(client.get("/blog")) == []


def menu(items, slug="main", locale="en"):
    rows = [{"id": str(n), "children": [], "url": "", **item} for n, item in enumerate(items)]
    return Menu.objects.create(slug=slug, locale=locale, name=slug, items=rows)


def links(response, css="site-menu") -> list[tuple[str, str]]:
    html = text(response)
    found = re.search(rf'<nav class="{css}".*?</nav>', html, re.S)
    return re.findall(r'<a href="([^"]*)"[^>]*>([^<]+)</a>', found[0]) if found else []


def test_an_item_for_a_post_follows_its_path_and_its_translation(client):
    about = page("About")
    german = page("Über uns", locale="de", translation_of=about)
    menu([{"label": "", "type": "post", "postId": str(about.pk), "url": "/old"}])

    assert links(client.get("/about")) == [("/about", "About")]
    assert links(client.get(german.path)) == [(german.path, "Über uns")]
    assert 'aria-current="page">About' in text(client.get("/about"))


def test_the_languages_menu_precedes_the_default_languages(client):
    make.post()
    make.post("Kaffee", locale="de")
    menu([{"label": "Contact", "type": "custom", "url": "/contact"}])

    assert links(client.get("/de/blog")) == [("/contact", "Contact")]
    menu([{"label": "Kontakt", "type": "custom", "url": "/de/kontakt"}], locale="de")
    Post.objects.filter(locale="de").update(slug="x")

    assert ("/de/kontakt", "Kontakt") in links(client.get("/de/"))


def test_a_menu_drops_what_cannot_be_followed(client):
    draft = page("Draft", status="draft")
    menu(
        [
            {"label": "Gone", "type": "post", "postId": str(draft.pk), "url": draft.path},
            {"label": "Odd", "type": "post", "postId": "not an id"},
            {
                "label": "More", "type": "post", "postId": str(draft.pk), "url": draft.path,
                "children": [{"id": "9", "label": "Blog", "type": "custom", "url": "/blog"}],
            },
            {"label": "Evil", "type": "custom", "url": "javascript:alert(1)"},
        ]
    )  # fmt: skip
    make.post()

    response = client.get(BLOG)

    assert links(response) == [("/blog", "Blog")]
    assert "Gone" not in text(response)
    assert draft.path not in text(response)
    assert "javascript:" not in text(response)


def test_the_footer_has_a_menu_of_its_own(client):
    home()
    menu([{"label": "Imprint", "type": "custom", "url": "/imprint"}], slug="footer")

    html = text(client.get("/"))

    assert '<a href="/imprint">Imprint</a>' in html[html.index("<footer") :]


def topic_names(response) -> list[tuple[str, str]]:
    line = re.search(r'<p class="byline">.*?</p>', text(response), re.S)
    return re.findall(r'<a href="([^"]+)">([^<]+)</a>', line[0]) if line else []


def tagged(title, *terms, **more):
    post = make.post(title, **more)
    edit_post(
        post_id=post.pk,
        actor=make.actor("admin"),
        edit=lambda document: document.with_terms([str(term.pk) for term in terms]),
    )
    return post


def test_posts_lead_to_the_lists_of_their_topics(client):
    home()
    coffee, tea = make.term("Coffee"), make.term("Tea")
    tagged("Brewing", coffee)
    tagged("Steeping", tea)
    tagged("Both", coffee, tea)
    tagged("Hidden", coffee, status="draft")
    tagged("Tee", tea, locale="de")

    link = ("/blog/topics/coffee", "Coffee")
    assert topic_names(client.get("/blog/brewing")) == [link]
    response = client.get(link[0])

    assert sorted(titles(response)) == ["Both", "Brewing"]
    html = text(response)
    assert "<title>Coffee · Blog · Kettle</title>" in html
    assert "<h1>Coffee</h1>" in html
    assert f'<link rel="canonical" href="http://127.0.0.1:8000{link[0]}">' in html
    assert links(response, "breadcrumb") == [("/", "Kettle"), ("/blog", "Blog")]
    assert "hreflang" not in html.split("</head>")[0]
    # A term without a locale is one of every locale.
    assert titles(client.get("/de/blog/topics/tea")) == ["Tee"]
    assert 'hreflang="de" href="http://127.0.0.1:8000/de/blog/topics/tea"' in text(
        client.get("/blog/topics/tea")
    )


def test_what_is_no_topic_has_no_list(client):
    coffee = make.term("Coffee")
    tagged("Brewing", coffee)
    make.term("Empty")

    for address in (
        "/blog/topics", "/blog/topics/empty", "/blog/topics/nothing", "/blog/tags/coffee",
        "/blog/topics/coffee/x", "/blog/topics/", "/blog/topics/%00", "/de/blog/topics/coffee",
        "/people/topics/coffee", "/blog/topics/coffee?page=2", "/blog/topics/coffee/feed.xml",
    ):  # fmt: skip
        assert client.get(address).status_code == 404, address
    assert client.get("/blog/topics/coffee").status_code == 200


def test_a_term_of_another_language_does_not_come_into_a_list(client):
    english = Term.objects.create(taxonomy="topics", slug="tea", name="Tea", locale="en")
    german = Term.objects.create(taxonomy="topics", slug="tea", name="Tee", locale="de")
    tagged("Steeping", english)
    tagged("Ziehen", german, locale="de")

    assert "<h1>Tea</h1>" in text(client.get("/blog/topics/tea"))
    assert "<h1>Tee</h1>" in text(client.get("/de/blog/topics/tea"))


@pytest.mark.parametrize("dates", ["different", "same", "none"])
def test_deep_list_pages_continue_where_the_previous_ones_end(client, monkeypatch, dates):
    monkeypatch.setattr("proofroom_apps.website.list_pages.LIST_PAGE_SIZE", 2)
    monkeypatch.setattr("content.store.post_queries.DEEP_FROM", 2)
    _listed.cache_clear()
    coffee = make.term("Coffee")
    for number in range(7):
        tagged(f"Post {number}", coffee)
    if dates != "different":
        moment = timezone.now() if dates == "same" else None
        Post.objects.filter(slug__in=["post-2", "post-3", "post-4"]).update(published_at=moment)

    for address in ("/blog", "/blog/topics/coffee"):
        expected = list(list_posts_of(IndexPage("blog", "en")).values_list("title", flat=True))
        pages = {n: titles(client.get(f"{address}?page={n}")) for n in (4, 2, 3, 1)}
        assert [title for n in (1, 2, 3, 4) for title in pages[n]] == expected
        assert 'page=4"' in text(client.get(f"{address}?page=3"))
        assert client.get(f"{address}?page=5").status_code == 404


def test_lists_take_six_queries_however_long_they_are(client):
    home()
    coffee = make.term("Coffee")
    for number in range(LIST_PAGE_SIZE + 1):
        tagged(f"Post {number}", coffee)

    counts = {}
    for address in (
        "/blog",
        "/blog?page=2",
        "/blog/topics/coffee",
        "/blog/feed.xml",
        "/search?q=post",
    ):
        counts[address] = page_queries(client, address)

    assert max(counts.values()) <= 6, counts


def test_lists_say_in_their_head_what_comes_before_and_after(client):
    for number in range(LIST_PAGE_SIZE + 1):
        make.post(f"Post {number:02}")

    head = text(client.get("/blog?page=2")).split("</head>")[0]

    assert '<link rel="prev" href="/blog">' in head
    assert 'rel="next"' not in head
    assert "<title>Blog (2) · 127.0.0.1</title>" in head
    assert "Blog (2): all posts published by 127.0.0.1, newest first." in head


def test_people_and_companies_have_lists_in_the_words_of_the_language(client):
    make.post("Ada", type="profile", locale="de", markdown="")
    make.post("Mühle", type="company", locale="de", slug="muehle", markdown="")

    assert "<h1>Personen</h1>" in text(client.get("/de/people"))
    assert "<h1>Unternehmen</h1>" in text(client.get("/de/companies"))
    assert client.get("/people").status_code == 404


def test_posts_of_a_list_are_counted_again_only_when_they_change(client):
    for number in range(LIST_PAGE_SIZE):
        make.post(f"Post {number}")

    def counts(address: str) -> bool:
        """Count queries of a page that no cache could answer."""
        with CaptureQueriesContext(connection) as queries:
            assert client.get(address).status_code == 200
        return any("COUNT(" in query["sql"] for query in queries)

    assert counts("/blog?n=1")
    assert not counts("/blog?n=2")

    made = make.post("One more")
    assert counts("/blog?n=3")
    assert "page=2" in text(client.get("/blog?n=4"))
    assert not counts("/blog?n=5&page=2")

    delete_post(post_id=made.pk, actor=make.actor("admin"))
    assert "page=2" not in text(client.get("/blog?n=6"))
    assert client.get("/blog?n=7&page=2").status_code == 404


def test_the_first_post_of_a_language_may_come_while_its_list_is_read(client):
    make.post("English")
    listing = IndexPage("blog", "de")
    state = live_state()
    assert load_extents(listing, state).keys() == {"en"}

    make.post("Deutsch", locale="de")
    found = load_listed_page(listing, 0, LIST_PAGE_SIZE, state)

    assert found is not None
    assert found.extents.keys() == {"de", "en"}
