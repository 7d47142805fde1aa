"""The search page: hits, display, and hostile queries."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.models import Layer, Post
from proofroom.core import search as core_search
from proofroom.core.errors import RuleViolation
from proofroom.core.search import ranked_rows
from proofroom_apps.website import search_page
from proofroom_apps.website.search_page import PER_PAGE, highlight, make_snippet
from tests import make
from tests.site.test_pages import home, page, text

pytestmark = pytest.mark.django_db


def results(response) -> list[tuple[str, str]]:
    found = re.findall(r'<h2><a href="([^"]+)">(.*?)</a></h2>', text(response))
    return [(url, re.sub("</?mark>", "", title)) for url, title in found]


def test_published_posts_of_the_locale_are_found_with_their_words_marked(client):
    make.post(markdown="Boil the kettle, then pour.", excerpt="A short way to a good cup.")
    make.post("Wasserkocher", locale="de", markdown="Ein kettle auf Deutsch.")
    make.post("A kettle in the drawer", status="draft")
    deleted = make.post("A kettle thrown away")
    Post.objects.filter(pk=deleted.pk).update(deleted_at=deleted.created_at)

    english, german = client.get("/search?q=kettle"), client.get("/de/search?q=kettle")

    assert results(english) == [("/blog/how-to-brew-filter-coffee", "How to brew filter coffee")]
    assert "Boil the <mark>kettle</mark>, then pour." in text(english)
    assert "1 page with “kettle”" in text(english)
    assert results(german) == [("/de/blog/wasserkocher", "Wasserkocher")]
    assert "1 Seite mit „kettle“" in text(german)
    assert '<html lang="de">' in text(german)


@pytest.mark.parametrize("most", [0, 1_000])
def test_nothing_but_live_words_of_the_locale_is_found_however_many_have_them(
    client, monkeypatch, most
):
    monkeypatch.setattr(ranked_rows, "MAX_RANKED", most)
    monkeypatch.setattr(ranked_rows, "MAX_IN_SET", most)
    make.post("Zanzibar on the page")
    staged = make.post("Nothing", slug="nothing")
    make.staged(staged, {"title": "Zanzibar staged"})
    make.staged(staged, {"excerpt": "Zanzibar in Review"}, layer=Layer.REVIEW)
    make.post("Zanzibar as a draft", status="draft", slug="draft")
    archived = make.post("Zanzibar archived", slug="archived")
    Post.objects.filter(pk=archived.pk).update(status="archived")
    make.post("Sansibar, auch Zanzibar", locale="de")
    deleted = make.post("Zanzibar in the trash", slug="trash")
    Post.objects.filter(pk=deleted.pk).update(deleted_at=deleted.created_at)

    response = client.get("/search?q=zanzibar")

    assert [title for _, title in results(response)] == ["Zanzibar on the page"]
    assert "1 page with “zanzibar”" in text(response)
    assert [title for _, title in results(client.get("/de/search?q=zanzibar"))] == [
        "Sansibar, auch Zanzibar"
    ]


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="only PostgreSQL estimates")
def test_of_what_most_posts_have_a_number_is_estimated_and_rounded(client, monkeypatch):
    for name in ("MAX_RANKED", "MAX_IN_SET"):
        monkeypatch.setattr(ranked_rows, name, 0)
    monkeypatch.setattr(search_page, "PER_PAGE", 2)
    monkeypatch.setattr(search_page, "MAX_RESULTS", 4)
    for number in range(6):
        make.post(f"Kettle {number}")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE content_post")

    response = client.get("/search?q=kettle&page=2")

    assert "About 6 pages with “kettle”" in text(response)
    assert len(results(response)) == 2
    assert 'rel="next"' not in text(response)
    assert "Etwa" not in text(response)
    assert client.get("/search?q=kettle&page=3").status_code == 404


@pytest.mark.parametrize(("number", "shown"), [(7, 7), (1_001, 1_000), (35_188, 35_000)])
def test_an_estimate_has_two_digits(number, shown):
    assert search_page._rounded(number) == shown


def test_what_is_only_staged_is_not_found(client):
    post = make.post()
    make.staged(post, {"excerpt": "zanzibar"})
    make.staged(post, {"title": "zanzibar"}, layer=Layer.REVIEW)

    response = client.get("/search?q=zanzibar")

    assert results(response) == []
    assert "No results for “zanzibar”." in text(response)


def test_nothing_asked_says_what_to_do_and_reads_no_posts(client):
    home()
    client.get("/search")
    with CaptureQueriesContext(connection) as queries:
        response = client.get("/search")

    assert response.status_code == 200
    assert "Enter one or more words." in text(response)
    assert '<label for="search">Search terms</label>' in text(response)
    # The content version, which a process without a transaction asks for once a second.
    assert len(queries) == 1


def test_search_engines_leave_it_out_and_shared_caches_too(client):
    response = client.get("/search?q=tea")

    assert '<meta name="robots" content="noindex">' in text(response)
    assert "canonical" not in text(response)
    assert response["Cache-Control"] == "private, max-age=60"
    assert not response.cookies


def test_result_pages_take_a_fixed_number_of_queries(client):
    home()
    for number in range(PER_PAGE + 1):
        make.post(f"Kettle {number:02}")
    counts = []
    # The page frame is read once for each content version.
    client.get("/search")

    for address in ("/search?q=kettle", "/search?q=kettle&page=2"):
        with CaptureQueriesContext(connection) as queries:
            response = client.get(address)
        counts.append((len(results(response)), len(queries)))

    # The home page is called Kettle too.
    assert counts == [(PER_PAGE, 4 + (connection.vendor == "sqlite")), (2, 4)]
    assert '<a rel="prev" href="/search?q=kettle">Previous results</a>' in text(response)
    for wrong in ("3", "0", "-1", "x", "9" * 40):
        assert client.get("/search", {"q": "kettle", "page": wrong}).status_code == 404


@pytest.mark.parametrize("case", ["script", "attribute", "entity", "double"])
def test_threat_32_what_was_asked_comes_back_as_text(client, case):
    asked = {
        "script": "<script>alert(1)</script>",
        "attribute": '" autofocus onfocus="alert(1)',
        "entity": "&lt;img src=x onerror=alert(1)&gt;",
        "double": "%3Cscript%3Ealert(1)",
    }[case]
    make.post(asked, excerpt=asked, slug="odd", markdown=asked.replace("<", "\\<"))

    html = text(client.get("/search", {"q": asked}))

    body = html[html.index("<main") : html.index("</main")]
    assert not re.search(r"<script|<img|onfocus=\"alert|onerror=alert\(1\)>", body)
    value = re.search(r'name="q" value="([^"]*)"', body)
    assert value is not None
    assert unescape(value[1]) == asked
    assert results(client.get("/search", {"q": asked}))[0][0] == "/blog/odd"


@pytest.mark.parametrize(
    "case", ["nul", "megabyte", "wildcards", "operators", "surrogate", "brackets", "words", "space"]
)
def test_threat_18_19_26_hostile_questions_are_answered(client, case):
    make.post()
    asked = {
        "nul": "cof\x00fee",
        "megabyte": "a" * 1_000_000,
        "wildcards": "%_*?%",
        "operators": "coffee AND NOT NEAR(x) title:* \"'); DROP TABLE content_post; --",
        "surrogate": "\ufffd\udcff".encode("utf-8", "surrogatepass"),
        "brackets": "(((" * 500 + "{{7*7}}",
        "words": "b c d " * 50_000,
        "space": " \t\u3000\u2028 ",
    }[case]

    response = client.get("/search", {"q": asked})

    assert response.status_code == 200
    assert results(response) == []
    assert len(response.content) < 20_000


def test_callers_are_held_to_the_limit_of_public_answers(client, settings):
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "public": "2/hour"}

    answers = [client.get("/search?q=tea", REMOTE_ADDR="198.51.100.7") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[2]["Retry-After"]) > 0


def test_no_page_comes_to_the_addresses_of_the_site_itself():
    for locale in ("en", "de"):
        with pytest.raises(RuleViolation) as refusal:
            page("Search", locale=locale)
        assert (refusal.value.code, list(refusal.value.details)) == ("path_reserved", ["slug"])
    assert Post.objects.count() == 0
    # Below another page the address is free.
    below = page("Search", parent=page("Help"))
    assert below.path == "/help/search"


def test_other_forms_of_the_address_lead_to_the_one(client):
    for address, canonical in (
        ("/search/?q=tea", "/search?q=tea"),
        ("/en/search", "/search"),
        ("/de/search/", "/de/search"),
    ):
        response = client.get(address)
        assert (response.status_code, response["Location"]) == (301, canonical)
    assert client.post("/search", {"q": "tea"}).status_code == 405


def test_every_page_has_the_search_field_once(client):
    home()

    for address in ("/", "/nothing", "/search"):
        assert text(client.get(address)).count('role="search" action="/search"') == 1, address
    assert 'action="/de/search"' in text(client.get("/de/nichts"))


def test_a_snippet_shows_the_place_with_most_hits():
    words = "Nothing here. " * 40 + "The kettle boils, the water is hot. " + "More words. " * 40

    shown = make_snippet(words, core_search.query_words("water kettle"))

    assert "The <mark>kettle</mark> boils, the <mark>water</mark> is hot." in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert len(shown) < 300


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("brew", "<mark>Brewing</mark> Käse &amp; &lt;b&gt;"),
        ("kase", "Brewing <mark>Käse</mark> &amp; &lt;b&gt;"),
        ("KÄSE", "Brewing <mark>Käse</mark> &amp; &lt;b&gt;"),
        ("b x", "Brewing Käse &amp; &lt;<mark>b</mark>&gt;"),
        ("lt amp", "Brewing Käse &amp; &lt;b&gt;"),
    ],
)
def test_marks_stand_around_words_and_never_in_what_was_escaped(asked, shown):
    assert highlight("Brewing Käse & <b>", core_search.query_words(asked)) == shown
