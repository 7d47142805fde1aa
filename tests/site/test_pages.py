"""Public pages: visible content, hidden content, and cost."""

from __future__ import annotations

import json
import re
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.layers import approve, digest_of, submit
from content.models import Layer, Post
from content.posts.create import create_post, propose_post
from content.posts.edit import edit_post
from content.posts.publish import set_status
from content.posts.trash import delete_post
from content.store import document_edits
from proofroom_apps.menus.models import Menu
from tests import make

pytestmark = pytest.mark.django_db
BLOG = "/blog/how-to-brew-filter-coffee"


def page(title="About", *, parent=None, **more):
    fields = {"title": title, **more.pop("fields", {})}
    if parent is not None:
        fields["parentId"] = str(parent.pk)
    return create_post(
        actor=make.actor("admin"),
        type="page",
        fields=fields,
        status=more.pop("status", "published"),
        edit=lambda document: document,
        **more,
    )


def home(locale="en", title="Kettle", **more):
    return page(title, fields={"slug": "home"}, locale=locale, **more)


def text(response):
    return response.content.decode()


def test_a_published_post_is_shown_at_its_path(client):
    make.post()

    response = client.get(BLOG)

    assert response.status_code == 200
    assert "<h1>How to brew filter coffee</h1>" in text(response)
    assert "Pour the water." in text(response)
    assert response["Content-Type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("state", ["draft", "archived", "deleted", "placeholder"])
def test_what_is_not_published_is_nowhere(client, state):
    home()
    post = make.post("A secret title", status="draft" if state == "draft" else "published")
    if state == "archived":
        set_status(post_id=post.pk, status="archived", actor=make.actor())
    elif state == "deleted":
        delete_post(post_id=post.pk, actor=make.actor())
    elif state == "placeholder":
        Post.objects.filter(pk=post.pk).update(is_placeholder=True)
    item = {"id": "1", "label": "", "type": "post", "url": post.path, "postId": str(post.pk)}
    Menu.objects.create(slug="main", locale="en", name="Main", items=[item])

    for address in (
        "/", "/blog", "/blog.md", "/blog/feed.xml", post.path, f"{post.path}/", f"{post.path}.md",
        "/llms.txt", "/index.html.md", "/search?q=title",
    ):  # fmt: skip
        response = client.get(address)
        assert "secret" not in text(response).lower(), address
        is_there = address in ("/", "/llms.txt", "/index.html.md", "/search?q=title")
        assert response.status_code == (200 if is_there else 404), address


def test_what_an_agent_made_or_staged_is_nowhere_until_a_person_approves(client):
    post = make.post()
    make.staged(post, {"title": "Staged words", "metaTitle": "Staged words"})
    make.staged(post, {"excerpt": "Staged words"}, layer=Layer.REVIEW)
    proposed = propose_post(
        actor=make.agent_actor(), type="blog", fields={"title": "Staged words"}
    ).post

    for address in (BLOG, "/blog", "/blog/staged-words", proposed.path):
        assert "Staged words" not in text(client.get(address))
        assert "Proposed by an agent" not in text(client.get(address))

    submit(post_id=post.pk, actor=make.actor())
    assert "Staged words" not in text(client.get(BLOG))
    changes = make.layers(post).review.changes
    approve(post_id=post.pk, actor=make.actor(), digest=digest_of(changes))
    assert "<title>Staged words</title>" in text(client.get(BLOG))


def test_an_approval_invalidates_an_etag_at_once(client):
    post = make.post()
    etag = client.get(BLOG)["ETag"]
    headers = {"If-None-Match": etag}
    with CaptureQueriesContext(connection) as queries:
        unchanged = client.get(BLOG, headers=headers)

    assert (unchanged.status_code, unchanged.content, unchanged["ETag"]) == (304, b"", etag)
    assert unchanged["Cache-Control"] == "public, max-age=60, stale-while-revalidate=60"
    assert len(queries) == 1

    make.edited(post, {"metaTitle": "New"})

    changed = client.get(BLOG, headers=headers)
    assert changed.status_code == 200
    assert "<title>New</title>" in text(changed)


def test_answers_can_be_shared_between_visitors(client):
    make.post()
    client.force_login(make.user("admin"))

    varied = "Accept, Accept-Encoding"
    for address, vary in ((BLOG, varied), ("/blog", varied), ("/nothing", None)):
        response = client.get(address)
        assert response.get("Vary") == vary, address
        assert not response.cookies, address
    assert client.get(BLOG)["Cache-Control"] == "public, max-age=60, stale-while-revalidate=60"
    assert client.get("/nothing")["Cache-Control"] == "no-cache"


def test_head_answers_like_get_without_a_body_and_nothing_else_is_taken(client):
    make.post()

    head = client.head(BLOG)

    assert (head.status_code, head.content) == (200, b"")
    assert head["ETag"] == client.get(BLOG)["ETag"]
    for method in ("post", "put", "delete", "patch"):
        assert getattr(client, method)(BLOG).status_code == 405


def full_page(modules: int) -> Post:
    home()
    parent = page("Guides")
    post = make.post("Long", parentId=None)
    post_id = post.pk
    german = make.post("Lang", locale="de", translation_of=post, slug="long")
    image_id = str(make.image().pk)

    def fill(document):
        document = document.with_terms([str(make.term("Coffee").pk), str(make.term("Water").pk)])
        for number in range(modules):
            props = {"title": f"Part {number}", "imageId": image_id}
            document, _ = document_edits.add_module(document, type="hero", props=props)
        return document

    edit_post(post_id=post_id, actor=make.actor(), edit=fill)
    items = [
        {"id": str(n), "label": "", "type": "post", "url": "", "postId": str(other.pk)}
        for n, other in enumerate((parent, post, german))
    ]
    for slug in ("main", "footer"):
        Menu.objects.create(slug=slug, locale="en", name=slug, items=items)
    return post


@pytest.mark.parametrize("modules", [1, 40])
def test_a_page_takes_six_queries_however_many_modules_it_has(client, modules):
    full_page(modules)

    with CaptureQueriesContext(connection) as queries:
        response = client.get("/blog/long")

    assert f"Part {modules - 1}" in text(response)
    assert "Coffee" in text(response)
    assert len(queries) <= 6, [query["sql"] for query in queries]


def test_lists_and_missing_pages_are_as_cheap(client):
    full_page(3)

    for address, most in (("/blog", 6), ("/", 6), ("/nothing", 4)):
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        assert len(queries) <= most, (address, [query["sql"] for query in queries])


def test_the_home_page_names_the_site_in_its_language(client):
    first = home()
    home("de", "Kessel", translation_of=first)
    page("About")

    assert "<title>About · Kettle</title>" in text(client.get("/about"))
    german = text(client.get("/de/"))
    assert '<html lang="de">' in german
    assert "<title>Kessel</title>" in german
    assert "Zum Inhalt springen" in german


def test_a_missing_page_is_a_404_in_the_language_of_its_address(client):
    home()

    english, german = client.get("/nothing"), client.get("/de/nichts/da")

    assert (english.status_code, german.status_code) == (404, 404)
    assert "Page not found" in text(english)
    assert "Seite nicht gefunden" in text(german)
    assert '<meta name="robots" content="noindex">' in text(english)


@pytest.mark.parametrize(
    ("address", "canonical"),
    [
        (f"{BLOG}/", BLOG),
        (f"{BLOG}//", BLOG),
        (f"{BLOG}/?a=1&b=%2F", f"{BLOG}?a=1&b=%2F"),
        ("/blog/", "/blog"),
        ("/de/blog/", "/de/blog"),
        (f"/en{BLOG}", BLOG),
        ("/en", "/"),
        ("/en/", "/"),
        ("/de", "/de/"),
    ],
)
def test_other_forms_of_an_address_lead_to_the_one(client, address, canonical):
    first = home()
    home("de", "Kessel", translation_of=first)
    make.post()
    make.post("Kaffee", locale="de")

    response = client.get(address)

    assert (response.status_code, response["Location"]) == (301, canonical)
    assert client.get(canonical).status_code == 200


@pytest.mark.parametrize(
    "address",
    [
        "/en//evil.example", "/\\evil.example/", "/nothing/", "/home", "/%00",
        "/blog/%00/", "/%ff%fe", "/blog//how-to-brew-filter-coffee", "/" + "a" * 5000, "/de/about",
        "/blog/how-to-brew-filter-coffee.html", "/BLOG", "/static/none.css",
    ],
)  # fmt: skip
def test_odd_addresses_are_missing_pages(client, address):
    home()
    make.post()

    assert client.get(address).status_code == 404


def test_an_address_cannot_lead_to_another_site(client):
    home()

    # The test client would read two slashes as the name of a host.
    response = client.get("/", PATH_INFO="//evil.example/")

    assert response.status_code == 404


def test_the_admin_still_gets_its_slash(client):
    assert client.get("/admin")["Location"] == "/admin/"


def test_health(client):
    response = client.get("/health")

    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def crumbs(response) -> list[tuple[str, str]]:
    found = re.search(r'<nav class="breadcrumb".*?</nav>', text(response), re.S)
    assert found is not None
    return re.findall(r"<(?:a href=\"([^\"]+)\"|span aria-current=\"page\")>([^<]+)<", found[0])


def test_the_breadcrumb_names_published_ancestors_only(client):
    home()
    about = page("About")
    secret = page("Secret plan", parent=about, status="draft")
    page("Team", parent=secret)

    response = client.get("/about/secret-plan/team")

    assert crumbs(response) == [("/", "Kettle"), ("/about", "About"), ("", "Team")]
    assert "Secret" not in text(response)


def test_the_breadcrumb_of_a_post_leads_through_the_list(client):
    home()
    make.post()

    assert crumbs(client.get(BLOG)) == [
        ("/", "Kettle"), ("/blog", "Blog"), ("", "How to brew filter coffee"),
    ]  # fmt: skip


def test_other_languages_are_named_once_they_are_published(client):
    post = make.post()
    german = make.post("Filterkaffee", locale="de", translation_of=post, status="draft")

    assert "hreflang" not in text(client.get(BLOG))
    set_status(post_id=german.pk, status="published", actor=make.actor())

    html = text(client.get(BLOG))
    links = re.findall(r'<link rel="alternate" hreflang="([^"]+)" href="([^"]+)">', html)
    assert links == [
        ("en", f"http://127.0.0.1:8000{BLOG}"),
        ("de", "http://127.0.0.1:8000/de/blog/filterkaffee"),
        ("x-default", f"http://127.0.0.1:8000{BLOG}"),
    ]
    assert '<a href="/de/blog/filterkaffee" lang="de" hreflang="de">Deutsch</a>' in html


@pytest.mark.parametrize(
    ("canonical", "languages"),
    [
        (f"http://127.0.0.1:8000{BLOG}", ["en", "de", "x-default"]),
        ("https://elsewhere.example/original", []),
    ],
    ids=["own", "other"],
)
def test_a_page_that_names_itself_as_the_original_is_offered_in_its_languages(
    client, canonical, languages
):
    post = make.post(canonicalUrl=canonical)
    make.post("Filterkaffee", locale="de", translation_of=post)

    links = re.findall(r'<link rel="alternate" hreflang="([^"]+)"', text(client.get(BLOG)))

    assert links == languages


def test_robots_directives_for_search_engines(client):
    post = make.post(
        excerpt="Short",
        metaDescription='A "sentence" </script>',
        robotsJson={"index": False, "follow": False},
        jsonldOverrides={"keywords": "</script><script>alert(1)</script>"},
    )

    html = text(client.get(BLOG))

    assert f'<link rel="canonical" href="http://127.0.0.1:8000{BLOG}">' in html
    assert '<meta name="robots" content="noindex, nofollow">' in html
    assert '<meta name="description" content="A &quot;sentence&quot; &lt;/script&gt;">' in html
    assert "<script>alert(1)" not in html
    found = re.findall(r'<script type="application/ld\+json">(.*?)</script>', html, re.S)
    thing = json.loads(found[0])
    assert thing["@type"] == "BlogPosting"
    assert thing["headline"] == post.title
    assert thing["keywords"] == "</script><script>alert(1)</script>"


def test_a_custom_canonical_url_is_rendered(client):
    make.post(canonicalUrl="https://elsewhere.example/original")

    html = text(client.get(BLOG))

    assert '<link rel="canonical" href="https://elsewhere.example/original">' in html


def test_overrides_of_a_shared_module_show_on_their_post_only(client):
    shared = make.global_module(title="Letters")
    for title, overrides in (("First", {}), ("Second", {"title": "Other"})):
        post = make.post(title)
        place = partial(
            document_edits.add_module,
            type="callout",
            shared=("newsletter", str(shared.pk)),
            overrides=overrides,
        )
        edit_post(post_id=post.pk, actor=make.actor(), edit=lambda doc, place=place: place(doc)[0])  # type: ignore[misc]

    assert ">Letters</h2>" in text(client.get("/blog/first"))
    assert ">Other</h2>" in text(client.get("/blog/second"))
    assert ">Letters</h2>" not in text(client.get("/blog/second"))
