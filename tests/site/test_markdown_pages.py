"""Pages as Markdown, and llms.txt: content negotiation, and content."""

from __future__ import annotations

import re

import pytest
import yaml
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.models import Layer
from content.posts.front_matter import split_front_matter
from content.posts.publish import set_status
from proofroom.core.caching.content_negotiation import prefers_markdown
from tests import make
from tests.site.test_pages import BLOG, full_page, home, page, text

pytestmark = pytest.mark.django_db
HTML, MARKDOWN = "text/html; charset=utf-8", "text/markdown; charset=utf-8"
CHROME = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("", False),
        ("*/*", False),
        (CHROME, False),
        ("text/*", False),
        ("text/html", False),
        ("text/markdown", True),
        ("TEXT/Markdown; charset=utf-8; Q=1.0", True),
        ("text/markdown, text/html;q=0.9, */*;q=0.1", True),
        ("text/markdown, text/html, */*", True),
        ("text/html, text/markdown;q=0.9", False),
        ("text/markdown;q=0.5, */*", False),
        ("text/markdown;q=0.5, text/*;q=0.4", True),
        ("text/markdown;q=0", False),
        ("text/markdown;q=0, */*", False),
        ("text/html;q=0, */*", True),
        ("text/markdown;q=2", False),
        ("text/markdown;q=x", False),
        ("text/markdown;q=-1, text/html", False),
        ("text/markdown;q=0.0000", False),
        (",;,q=1,/,", False),
        ("text/markdown" + ";a=b" * 100_000, True),
        ("a/b," * 200_000 + "text/markdown", False),
    ],
    ids=range(22),
)
def test_who_would_rather_have_markdown(accept, wanted):
    assert prefers_markdown(accept) is wanted


def test_one_address_has_two_forms_that_no_cache_can_mix(client):
    make.post()

    html = client.get(BLOG, headers={"Accept": CHROME})
    markdown = client.get(BLOG, headers={"Accept": "text/markdown"})

    assert (html["Content-Type"], markdown["Content-Type"]) == (HTML, MARKDOWN)
    varied = "Accept, Accept-Encoding"
    assert (html["Vary"], markdown["Vary"]) == (
        varied,
        "Accept",
    )  # so short a text is not compressed
    assert html["ETag"] != markdown["ETag"]
    # A shared cache that ignores Vary may only store what is valid for all.
    assert html["Cache-Control"] == "public, max-age=60, stale-while-revalidate=60"
    assert markdown["Cache-Control"] == "private, max-age=60"
    for accept, etag, status, vary in (
        ("text/markdown", html["ETag"], 200, "Accept"),
        ("text/html", markdown["ETag"], 200, varied),
        ("text/markdown", markdown["ETag"], 304, "Accept"),
    ):
        answer = client.get(BLOG, headers={"Accept": accept, "If-None-Match": etag})
        assert (answer.status_code, answer["Vary"]) == (status, vary)


def test_the_form_has_an_address_of_its_own(client):
    make.post()

    own = client.get(f"{BLOG}.md", headers={"Accept": CHROME})

    assert own["Content-Type"] == MARKDOWN
    assert own["Cache-Control"] == "public, max-age=60, stale-while-revalidate=60"
    assert not own.has_header("Vary")
    assert own["Link"] == f'<http://127.0.0.1:8000{BLOG}>; rel="canonical"'
    assert own.content == client.get(BLOG, headers={"Accept": "text/markdown"}).content
    assert f'<link rel="alternate" type="text/markdown" href="{BLOG}.md">' in text(client.get(BLOG))


def test_a_page_says_what_it_is_and_what_its_modules_show(client):
    post = make.post('Tea: "hot" # and *strong*', slug="tea", excerpt="Short", locale="de")

    head, body = split_front_matter(text(client.get("/de/blog/tea.md")))

    assert head == {
        "title": 'Tea: "hot" # and *strong*',
        "description": "Short",
        "canonical": "http://127.0.0.1:8000/de/blog/tea",
        "locale": "de",
        "published": head["published"],
        "updated": head["updated"],
    }
    assert str(head["published"])[:10] == post.published_at.date().isoformat()
    assert body.strip().startswith('# Tea: "hot" # and \\*strong\\*')
    assert "Grind the beans.\n\nPour the water." in body
    assert body.count("\n# ") == 1


def test_a_page_without_an_opening_module_has_its_title_and_excerpt(client):
    page("About", fields={"excerpt": "Who we are."})

    body = split_front_matter(text(client.get("/about.md")))[1]

    assert body.strip() == "# About\n\nWho we are."


def test_custom_fields_are_there(client):
    make.post(
        "Ada", type="profile", markdown="", customFields={"role": "Roaster", "website": "https://ada.example"}
    )  # fmt: skip

    body = text(client.get("/people/ada.md"))

    assert "Job title" not in body
    assert "Role: Roaster" in body
    assert "https://ada.example" in body


def test_home_pages_and_lists_have_it_too(client):
    first = home()
    home("de", "Kessel", translation_of=first)
    make.post(excerpt="A *short* way.")

    assert "# Kettle" in text(client.get("/index.html.md"))
    assert "# Kessel" in text(client.get("/de/index.html.md"))
    assert client.get("/", headers={"Accept": "text/markdown"})["Content-Type"] == MARKDOWN
    listed = text(client.get("/blog.md"))
    assert listed == text(client.get("/blog", headers={"Accept": "text/markdown"}))
    line = (
        "- [How to brew filter coffee](http://127.0.0.1:8000/blog/how-to-brew-filter-coffee.md): "
        "A \\*short\\* way."
    )
    assert line in listed
    for address in ("/.md", "/blog/.md", "/index.html", "/nothing.md", "/blog.md.md", "/de.md"):
        assert client.get(address).status_code == 404, address


def test_drafts_and_staged_words_are_in_none(client):
    draft = make.post("A secret", status="draft")
    post = make.post()
    make.staged(post, {"title": "Staged words"})
    make.staged(post, {"excerpt": "Staged words"}, layer=Layer.REVIEW)

    for address in (f"{BLOG}.md", "/blog.md", "/llms.txt"):
        answer = text(client.get(address))
        assert "Staged" not in answer, address
        assert "secret" not in answer, address
    assert client.get(f"{draft.path}.md").status_code == 404


def test_what_search_engines_must_not_show_says_so_and_is_not_in_llms_txt(client):
    hidden = make.post("Hidden", robotsJson={"index": False})
    make.post()

    assert client.get(f"{hidden.path}.md")["X-Robots-Tag"] == "noindex"
    assert not client.get(f"{BLOG}.md").has_header("X-Robots-Tag")
    assert "Hidden" not in text(client.get("/llms.txt"))


def test_an_original_at_an_address_of_other_letters_is_named_in_ascii(client):
    make.post(canonicalUrl="https://elsewhere.example/東京?a=<b>")

    link = client.get(f"{BLOG}.md")["Link"]

    assert link == ('<https://elsewhere.example/%E6%9D%B1%E4%BA%AC?a=%3Cb%3E>; rel="canonical"')


def test_a_page_in_markdown_takes_no_more_queries_than_in_html(client):
    full_page(40)

    for address in ("/blog/long", "/blog"):
        with CaptureQueriesContext(connection) as queries:
            client.get(address, headers={"Accept": "text/markdown"})
        assert len(queries) <= 6, [query["sql"] for query in queries]


def test_llms_txt_has_the_shape_of_its_proposal(client):
    first = page("Kettle", fields={"slug": "home", "metaDescription": "Notes on *slow* mornings."})
    home("de", "Kessel", translation_of=first)
    page("About", fields={"excerpt": "Who we are."})
    make.post(excerpt="A short way.")

    english, german = client.get("/llms.txt"), client.get("/de/llms.txt")

    assert english["Content-Type"] == "text/plain; charset=utf-8"
    assert english["Cache-Control"] == "public, max-age=60, stale-while-revalidate=60"
    lines = text(english).splitlines()
    assert lines[0] == "# Kettle"
    assert lines[2] == "> Notes on \\*slow\\* mornings."
    assert [line for line in lines if line.startswith("## ")] == [
        "## Blog",
        "## Pages",
        "## Optional",
    ]
    for line in lines[3:]:
        assert re.fullmatch(
            r"(## \w+)?|- \[[^\]]+\]\(http://127\.0\.0\.1:8000/\S+\)(: .+)?", line
        ), line
    assert "- [About](http://127.0.0.1:8000/about.md): Who we are." in lines
    assert "- [Kettle](http://127.0.0.1:8000/index.html.md): Notes on \\*slow\\* mornings." in lines
    assert "- [RSS: Blog](http://127.0.0.1:8000/blog/feed.xml)" in lines
    assert text(german).startswith("# Kessel\n")
    assert "About" not in text(german)
    unchanged = client.get("/llms.txt", headers={"If-None-Match": english["ETag"]})
    assert unchanged.status_code == 304


def test_every_link_of_llms_txt_leads_somewhere(client):
    home()
    make.post()
    make.post("Ada", type="profile", markdown="")

    links = re.findall(r"\]\(http://127\.0\.0\.1:8000(/[^)]+)\)", text(client.get("/llms.txt")))

    assert "/people.md" in links
    for link in links:
        assert client.get(link).status_code == 200, link


def test_a_locale_without_pages_has_no_llms_txt(client):
    post = make.post()

    assert client.get("/de/llms.txt").status_code == 404
    set_status(post_id=post.pk, status="archived", actor=make.actor())
    assert client.get("/llms.txt").status_code == 404


def test_front_matter_is_yaml_whatever_a_title_holds(client):
    title = "--- !!python/object: {x: [1, &a *a %"
    make.post(title, slug="odd")

    answer = text(client.get("/blog/odd.md"))

    assert yaml.safe_load(answer.split("---\n")[1])["title"] == title
