"""Metadata in the head of a page, for search engines, other sites and feed readers."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest

from content.models import Post
from content.posts.edit import edit_post
from content.posts.publish import set_status
from content.store import document_edits
from proofroom.core.json import JsonObject
from tests import make
from tests.content.test_rendering import ATTACK, Page
from tests.site.test_images import image
from tests.site.test_pages import BLOG, home, page, text

pytestmark = pytest.mark.django_db

SITE = "http://127.0.0.1:8000"


def metas(response) -> dict[str, str]:
    found = re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)">', text(response))
    return {name: unescape(value) for name, value in found}


def things(response) -> dict[str, dict]:
    """Return the structured data of a page, by type."""
    found = re.findall(r'<script type="application/ld\+json">(.*?)</script>', text(response), re.S)
    return {thing["@type"]: thing for thing in map(json.loads, found)}


def test_an_article_is_a_blog_posting_of_the_site(client):
    home()
    post = make.post(excerpt="A short way.", featuredMediaId=str(make.image().pk))

    found = things(client.get(BLOG))

    assert set(found) == {"BlogPosting", "BreadcrumbList"}
    article = found["BlogPosting"]
    image = article.pop("image")
    site = {"@type": "Organization", "name": "Kettle", "url": f"{SITE}/"}
    assert article == {
        "@context": "https://schema.org",
        "@type": "BlogPosting",
        "headline": post.title,
        "name": post.title,
        "description": "A short way.",
        "url": f"{SITE}{BLOG}",
        "mainEntityOfPage": f"{SITE}{BLOG}",
        "inLanguage": "en",
        "datePublished": article["datePublished"],
        "dateModified": article["dateModified"],
        "author": site,
        "publisher": site,
    }
    assert image["@type"] == "ImageObject"
    assert image["url"].startswith(f"{SITE}/media/")
    assert image["width"] > 0
    # The site does not show accounts.
    assert "admin" not in text(client.get(BLOG))


def test_structured_data_of_a_person_a_company_and_a_testimonial(client):
    make.post(
        "Ada", type="profile", markdown="",
        customFields={"role": "Roaster", "email": "ada@people.example", "website": "https://ada.example"},
    )  # fmt: skip
    make.post(
        "Mill Ltd", type="company", markdown="",
        customFields={"website": "https://mill.example", "industry": "Milling"},
    )  # fmt: skip
    said = {
        "quote": "Warm.",
        "authorName": "Bo",
        "authorRole": "Baker",
        "company": "Oven",
        "rating": 5,
    }
    make.post("Warm", type="testimonial", markdown="", customFields=said)

    person = things(client.get("/people/ada"))["Person"]
    company = things(client.get("/companies/mill-ltd"))["Organization"]
    review = things(client.get("/testimonials/warm"))["Review"]

    assert (person["name"], person["jobTitle"], person["email"], person["sameAs"]) == (
        "Ada", "Roaster", "ada@people.example", "https://ada.example",
    )  # fmt: skip
    assert (company["name"], company["sameAs"]) == ("Mill Ltd", "https://mill.example")
    assert review["reviewBody"] == "Warm."
    assert review["author"] == {
        "@type": "Person", "name": "Bo", "jobTitle": "Baker",
        "worksFor": {"@type": "Organization", "name": "Oven"},
    }  # fmt: skip
    assert review["reviewRating"] == {"@type": "Rating", "ratingValue": 5, "bestRating": 5}
    assert review["itemReviewed"]["@type"] == "Organization"


def test_questions_of_a_page_are_its_faq(client):
    post = make.post()
    item: JsonObject = {
        "question": "How hot </script>?",
        "answer": {
            "type": "doc",
            "content": [
                {"type": "paragraph", "content": [{"type": "text", "text": "Below boiling."}]}
            ],
        },
    }

    def ask(document):
        faq = next(module for module in document.modules if module.type == "faq")
        return document_edits.update_module(document, faq.id, props={"items": [item]})

    assert "FAQPage" not in things(client.get(BLOG))
    edit_post(post_id=post.pk, actor=make.actor("admin"), edit=ask)

    assert things(client.get(BLOG))["FAQPage"]["mainEntity"] == [
        {
            "@type": "Question",
            "name": "How hot </script>?",
            "acceptedAnswer": {"@type": "Answer", "text": "Below boiling."},
        }
    ]


def test_the_home_page_offers_the_search_of_the_site(client):
    first = home()
    home("de", "Kessel", translation_of=first)

    assert things(client.get("/"))["WebSite"]["potentialAction"] == {
        "@type": "SearchAction",
        "target": {
            "@type": "EntryPoint",
            "urlTemplate": f"{SITE}/search?q={{search_term_string}}",
        },
        "query-input": "required name=search_term_string",
    }
    german = things(client.get("/de/"))["WebSite"]
    assert (german["url"], german["name"]) == (f"{SITE}/de/", "Kessel")
    assert "WebSite" not in things(client.get("/nothing"))


def test_a_shared_page_shows_its_picture_with_its_size(client):
    asset = make.image()
    post = make.post(excerpt="A short way.", featuredMediaId=str(asset.pk))
    german = make.post("Filterkaffee", locale="de", translation_of=post)

    found = metas(client.get(BLOG))

    assert found["og:title"] == "How to brew filter coffee · 127.0.0.1"
    assert found["og:description"] == "A short way."
    assert (found["og:type"], found["og:url"]) == ("article", f"{SITE}{BLOG}")
    assert (found["og:locale"], found["og:locale:alternate"]) == ("en", "de")
    assert (found["og:image:width"], found["og:image:height"]) == (
        str(asset.width), str(asset.height),
    )  # fmt: skip
    assert found["twitter:card"] == "summary_large_image"
    assert metas(client.get(german.path))["twitter:card"] == "summary"
    assert "article:published_time" in found


@pytest.mark.parametrize(
    ("case", "fields", "shown"),
    [
        ("written", {"metaDescription": "For search.", "excerpt": "Short."}, "For search."),
        ("excerpt", {"excerpt": "Short.\n\nAnd  more."}, "Short. And more."),
        ("words", {}, "How to brew filter coffee Grind the beans. Pour the water."),
    ],
    ids=["written", "excerpt", "words"],
)
def test_every_page_has_a_description(client, case, fields, shown):
    make.post(**fields)

    assert metas(client.get(BLOG))["description"] == shown


def test_a_page_of_nothing_is_described_by_its_title(client):
    page("About")

    assert metas(client.get("/about"))["description"] == "About"


def test_first_words_end_between_two_words(client):
    make.post(markdown="wonderful " * 100)

    shown = metas(client.get(BLOG))["description"]

    assert len(shown) <= 161
    assert shown.endswith("wonderful…")


def switch(response) -> list[tuple[str, str]]:
    found = re.search(r'<nav class="languages".*?</nav>', text(response), re.S)
    return re.findall(r'<a href="([^"]*)" lang="([^"]*)"', found[0]) if found else []


def test_the_language_switch_leads_to_the_translation_else_to_the_home_page(client):
    first = home()
    german_home = home("de", "Kessel", translation_of=first)
    post = make.post()
    german = make.post("Filterkaffee", locale="de", translation_of=post)

    assert switch(client.get(BLOG)) == [(BLOG, "en"), (german.path, "de")]
    assert switch(client.get("/search?q=x")) == [("/search", "en"), ("/de/search", "de")]
    assert switch(client.get("/de/nichts")) == [("/", "en"), ("/de/", "de")]
    set_status(post_id=german.pk, status="archived", actor=make.actor())
    assert switch(client.get(BLOG)) == [(BLOG, "en"), ("/de/", "de")]
    # To search engines the home page is no translation of a post.
    assert "hreflang=" not in text(client.get(BLOG)).split("</head>")[0]
    set_status(post_id=german_home.pk, status="archived", actor=make.actor())
    assert switch(client.get(BLOG)) == []


def test_a_third_language_without_a_catalogue_speaks_english_and_knows_its_direction(
    client, settings
):
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"locales": ("en", "de", "ar", "fr")})
    home()
    for locale in ("ar", "fr"):
        post = make.post("Tea", locale=locale, slug=f"tea-{locale}")
        Post.objects.filter(pk=post.pk).update(path=f"/{locale}/blog/tea")

    arabic, french = client.get("/ar/blog/tea"), client.get("/fr/blog")

    assert '<html lang="ar" dir="rtl">' in text(arabic)
    assert '<html lang="fr">' in text(french)
    for response in (arabic, french):
        assert "Skip to content" in text(response)
        assert '<button class="button">Search</button>' in text(response)
    assert '<html lang="ar" dir="rtl">' in text(client.get("/ar/nothing"))


@pytest.mark.parametrize("address", ["/", BLOG, "/blog", "/search?q=x", "/nothing"])
def test_every_page_has_the_headers_of_a_closed_house(client, address):
    home()
    make.post()

    response = client.get(address)

    policy = dict(
        part.strip().split(" ", 1) for part in response["Content-Security-Policy"].split(";")
    )
    assert policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["form-action"] == "'self'"
    assert policy["object-src"] == "'none'"
    assert "unsafe" not in response["Content-Security-Policy"]
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Frame-Options"] == "DENY"
    assert response["Referrer-Policy"] == "same-origin"
    assert not re.search(
        r"<script(?![^>]*(\ssrc=|ld\+json))|<style|\sstyle=|\son\w+=", text(response)
    )


def facts(client, post: Post) -> Any:
    html = text(client.get(post.path))
    return html[html.index('class="facts') : html.index("</main>")]


def test_a_person_has_role_picture_and_ways_to_reach_them(client):
    post = make.post(
        "Sample Roaster", type="profile", featuredMediaId=str(image("face.png").pk),
        customFields={
            "role": "Head of roasting", "email": "roaster@example.com",
            "website": "https://example.com/me",
        },
    )  # fmt: skip

    html = facts(client, post)

    assert "<dt>Role</dt><dd>Head of roasting</dd>" in html
    assert '<a href="mailto:roaster@example.com">roaster@example.com</a>' in html
    assert '<a href="https://example.com/me" rel="noopener noreferrer">' in html
    assert 'alt="Picture face.png"' in html
    assert '<link rel="stylesheet" href="/static/cms/modules/facts.css">' in text(
        client.get(post.path)
    )


def test_a_company_has_its_logo_and_industry(client):
    post = make.post(
        "Sample Mill", type="company",
        customFields={"industry": "Milling", "logoId": str(image("logo.png").pk)},
    )  # fmt: skip

    html = facts(client, post)

    assert "<dt>Industry</dt><dd>Milling</dd>" in html
    assert 'alt="Picture logo.png"' in html
    assert "<dt>Website</dt>" not in html


def test_a_testimonial_is_a_quote_with_who_said_it(client):
    post = make.post(
        "Said once", type="testimonial",
        customFields={
            "quote": "Good & slow.", "authorName": "A guest", "company": "Sample Mill",
            "portraitId": str(image("portrait.png").pk), "rating": 5,
        },
    )  # fmt: skip

    html = facts(client, post)

    assert "<blockquote><p>Good &amp; slow.</p></blockquote>" in html
    assert "<cite>A guest</cite>" in html
    assert "<span>Sample Mill</span>" in html
    assert 'aria-label="5 of 5 stars">★★★★★</p>' in html
    assert 'alt="Picture portrait.png"' in html


@pytest.mark.parametrize("type", ["profile", "company", "testimonial"])
@pytest.mark.parametrize(
    "stored",
    [{}, {"logoId": 5, "rating": "5", "quote": "", "website": "javascript:alert(1)"}, "attack"],
    ids=["nothing", "odd", "attack"],
)
def test_what_is_stored_in_any_shape_harms_no_page(client, type, stored):
    post = make.post("Somebody", type=type)
    names = ("role", "email", "website", "industry", "quote", "authorName", "authorRole", "company")
    values = dict.fromkeys(names, ATTACK) if stored == "attack" else stored
    Post.objects.filter(pk=post.pk).update(custom_fields=values)

    response = client.get(post.path)

    assert response.status_code == 200
    found = Page(text(response).partition("<main")[2].partition(">")[2].partition("</main>")[0])
    assert found.count("script") == found.count("img") == 0
    for _, attributes in found.elements:
        assert "script:" not in (attributes.get("href") or "").partition("mailto:")[0]
        assert not [name for name in attributes if name.startswith("on")]
