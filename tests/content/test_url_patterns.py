"""URL patterns: valid patterns, and the resulting addresses of posts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.regex_helper import normalize

from content.models import Post, UrlPattern
from content.models.paths import PATTERN_MAX
from content.paths import url_patterns
from content.paths.url_patterns import change_pattern, create_pattern, delete_pattern
from content.posts.trash import delete_post, restore_post
from content.posts.variations import create_variation
from content.store import post_queries
from content.store.url_pattern_rules import clean_pattern, is_reserved
from proofroom.core.caching.content_version import content_version
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.models import Event
from seo.models import Redirect
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient
from tests.conftest import RunOnCommit
from tests.mcp.calling import done

pytestmark = pytest.mark.django_db


def pattern(text: str, type: str = "blog", locale: str = "en") -> UrlPattern:
    return create_pattern(actor=make.actor(), type=type, locale=locale, pattern=text)


def page(title: str, **fields: Any) -> Post:
    return make.post(title, type="page", **fields)


def path_of(post: Post) -> str:
    return Post.objects.get(pk=post.pk).path


def leads() -> dict[str, str]:
    return {row.from_path: row.to_path for row in Redirect.objects.all()}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/news/{slug}", "/news/tea"),
        ("/{yyyy}/{mm}/{dd}/{slug}", "/2026/03/09/tea"),
        ("/{locale}/news/{slug}", "/news/tea"),
        ("/news-{locale}/{slug}.html", "/news-en/tea.html"),
        ("/news/{path}", "/news/tea"),
        ("/über-uns/{slug}", "/über-uns/tea"),
    ],
)
def test_a_pattern_is_filled(text: str, path: str) -> None:
    post = make.post(slug="tea")
    Post.objects.filter(pk=post.pk).update(published_at="2026-03-09T12:00:00Z")

    pattern(text)

    assert path_of(post) == path
    assert leads() == {"/blog/tea": path}


def test_a_pattern_is_of_one_locale_and_keeps_its_prefix(client: Client) -> None:
    english = make.post(slug="tea")
    german = make.post("Tee", slug="tee", locale="de")

    pattern("/{locale}/neues/{slug}", locale="de")

    assert (path_of(english), path_of(german)) == ("/blog/tea", "/de/neues/tee")
    assert client.get("/de/neues/tee").status_code == 200
    assert client.get("/de/blog/tee")["Location"] == "/de/neues/tee"
    assert make.post("Kuchen", slug="kuchen", locale="de").path == "/de/neues/kuchen"


def test_descendants_follow_and_a_deleted_pattern_is_undone() -> None:
    parent = page("About", slug="about")
    child = page("Team", slug="team", parentId=str(parent.pk))

    row = pattern("/info/{path}", "page")
    assert (path_of(parent), path_of(child)) == ("/info/about", "/info/about/team")
    change_pattern(pattern_id=row.pk, actor=make.actor(), pattern="/i/{slug}")
    assert (path_of(parent), path_of(child)) == ("/i/about", "/i/team")
    delete_pattern(pattern_id=row.pk, actor=make.actor())

    assert (path_of(parent), path_of(child)) == ("/about", "/about/team")
    assert UrlPattern.objects.count() == 0
    assert leads() == {
        "/info/about": "/about",
        "/info/about/team": "/about/team",
        "/i/about": "/about",
        "/i/team": "/about/team",
    }


def test_each_changed_path_is_an_event_and_makes_cached_answers_old() -> None:
    post = make.post(slug="tea")
    before = content_version()

    pattern("/news/{slug}")

    moved = Event.objects.get(name="post.moved")
    assert moved.payload == {
        "id": str(post.pk), "type": "blog", "locale": "en", "from": "/blog/tea", "to": "/news/tea",
        "isLive": True, "cause": "url_pattern",
    }  # fmt: skip
    assert content_version() > before
    assert Event.objects.filter(name="urlPattern.changed").count() == 1


def test_many_posts_follow_in_a_worker(
    monkeypatch: pytest.MonkeyPatch, run_on_commit: RunOnCommit
) -> None:
    posts = [make.post(f"Post {number}", slug=f"p{number}") for number in range(5)]
    monkeypatch.setattr(url_patterns, "BATCH_SIZE", 2)

    with run_on_commit():
        row = pattern("/news/{slug}")
        assert row.is_pending
        assert {path_of(post) for post in posts} == {f"/blog/p{n}" for n in range(5)}

    row.refresh_from_db()
    assert not row.is_pending
    assert {path_of(post) for post in posts} == {f"/news/p{n}" for n in range(5)}
    assert len(leads()) == 5
    assert url_patterns.follow_pending(row.pk) == 0

    with run_on_commit():
        delete_pattern(pattern_id=row.pk, actor=make.actor())
        assert ApiClient("editor").read("/api/url-patterns")["data"] == []

    assert UrlPattern.objects.count() == 0
    assert {path_of(post) for post in posts} == {f"/blog/p{n}" for n in range(5)}


def test_a_pattern_that_changed_again_is_followed_by_its_own_event(
    monkeypatch: pytest.MonkeyPatch, run_on_commit: RunOnCommit
) -> None:
    posts = [make.post(f"Post {number}", slug=f"p{number}") for number in range(3)]
    monkeypatch.setattr(url_patterns, "BATCH_SIZE", 1)

    with run_on_commit():
        row = pattern("/news/{slug}")
        change_pattern(pattern_id=row.pk, actor=make.actor(), pattern="/n/{slug}")

    assert {path_of(post) for post in posts} == {"/n/p0", "/n/p1", "/n/p2"}
    assert not UrlPattern.objects.get().is_pending


def test_the_trash_follows_too() -> None:
    post = make.post(slug="tea")
    delete_post(post_id=post.pk, actor=make.actor("admin"))

    pattern("/news/{slug}")

    restore_post(post_id=post.pk, actor=make.actor("admin"))
    assert path_of(post) == "/news/tea"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "news/{slug}",
        "/news",
        "/news/{}",
        "/news/{slug",
        "/news/{slug}}",
        "/{slug}/{slug}",
        "//{slug}",
        "/news//{slug}",
        "/news/{slug}/",
        "/../{slug}",
        "/./{slug}",
        "/new s/{slug}",
        "/news?x={slug}",
        "/news#{slug}",
        "/news\\{slug}",
        "/news%2F{slug}",
        "/news\n/{slug}",
        "/<b>/{slug}",
        "/x{path}",
        "/admin/{slug}",
        "/api/{slug}",
        "/media/{slug}",
        "/static/{slug}",
        "/de/{slug}",
        "/en/{slug}",
        "/" + "x" * 200 + "/{slug}",
    ],
)
def test_what_is_no_pattern_is_refused(text: str) -> None:
    post = make.post()
    body = {"type": "blog", "locale": "en", "pattern": text}

    refused("POST", "/api/url-patterns", body, 422, "invalid", "pattern")

    assert UrlPattern.objects.count() == 0
    assert path_of(post) == "/blog/how-to-brew-filter-coffee"


def test_a_pattern_may_be_as_long_as_its_column() -> None:
    longest = "/" + "x" * (PATTERN_MAX - len("//{slug}")) + "/{slug}"

    assert len(longest) == PATTERN_MAX
    assert pattern(longest).pattern == longest


@pytest.mark.parametrize(
    ("change", "code", "key"),
    [
        ({"type": "nothing"}, "unknown_post_type", "type"),
        ({"locale": "xx"}, "invalid", "locale"),
        ({"locale": ""}, "invalid", "locale"),
        ({"pattern": 7}, "invalid", "pattern"),
        ({"pattern": None}, "invalid", "pattern"),
        ({"type": None}, "invalid", "type"),
    ],
)
def test_bodies_that_do_not_fit_are_refused(change: dict[str, Any], code: str, key: str) -> None:
    body = {"type": "blog", "locale": "en", "pattern": "/x/{slug}", **change}

    refused("POST", "/api/url-patterns", body, 422, code, key)


def test_there_is_one_pattern_of_a_type_and_locale() -> None:
    row = pattern("/news/{slug}")
    body = {"type": "blog", "locale": "en", "pattern": "/x/{slug}"}

    refused("POST", "/api/url-patterns", body, 422, "pattern_exists", "type")
    body["locale"] = "de"
    refused("PUT", f"/api/url-patterns/{row.pk}", body, 422, "invalid", "locale")


def test_what_was_read_can_be_put_back() -> None:
    row = pattern("/news/{slug}")
    client = ApiClient("editor")
    [read] = client.read("/api/url-patterns")["data"]

    assert client.write("PUT", f"/api/url-patterns/{row.pk}", read) == read
    changed = client.write("PUT", f"/api/url-patterns/{row.pk}", {**read, "pattern": "/n/{slug}"})
    assert (changed["pattern"], changed["version"]) == ("/n/{slug}", 2)


def test_two_posts_never_share_an_address() -> None:
    top = page("News", slug="news")
    below = page("Tea", slug="tea", parentId=str(top.pk))
    post = make.post(slug="tea")

    with pytest.raises(RuleViolation) as refusal:
        pattern("/news/{slug}")

    assert refusal.value.code == "path_taken"
    assert list(refusal.value.details) == ["pattern"]
    assert str(below.pk) in refusal.value.message
    assert (path_of(post), UrlPattern.objects.count()) == ("/blog/tea", 0)


def test_a_slug_or_parent_that_would_take_an_address_is_refused() -> None:
    taken = make.post(slug="tea")
    top = page("Blog", slug="blog")
    child = page("Coffee", slug="coffee", parentId=str(top.pk))
    before = path_of(child)

    for method, path, body in (
        ("PUT", f"/api/posts/{child.pk}", {"slug": "tea"}),
        (
            "POST",
            "/api/posts",
            {"type": "page", "title": "Tea", "slug": "tea", "parentId": str(top.pk)},
        ),
    ):
        answer = refused(method, path, body, 422, "path_taken", "slug")
        assert str(taken.pk) in answer["error"]
    assert path_of(child) == before


@pytest.mark.parametrize("slug", ["admin", "api", "health", "mcp", "oauth", "de", "en"])
def test_no_post_comes_to_an_address_that_would_never_show_it(slug: str) -> None:
    child = page("Kettle", slug="kettle")
    german = page("Kessel", slug="kessel", locale="de")

    body = {"type": "page", "title": "A page", "slug": slug}
    refused("POST", "/api/posts", body, 422, "path_reserved", "slug")
    refused("PUT", f"/api/posts/{child.pk}", {"slug": slug}, 422, "path_reserved", "slug")

    assert path_of(child) == "/kettle"
    # Behind the prefix of another language, and below another page, the address is free.
    ApiClient("editor").write("PUT", f"/api/posts/{german.pk}", {"slug": slug})
    below = page("Below", slug=slug, parentId=str(child.pk))
    assert (path_of(german), path_of(below)) == (f"/de/{slug}", f"/kettle/{slug}")


def test_what_answers_before_pages_is_reserved() -> None:
    answering: set[str] = set()

    def collect(patterns: Iterable[URLPattern | URLResolver]) -> None:
        for one in patterns:
            regex = one.pattern.regex.pattern
            if isinstance(one, URLResolver) and not str(one.pattern):
                collect(one.url_patterns)
            elif not (isinstance(one, URLPattern) and one.name == "page"):
                for address, names in normalize(regex):
                    # A group without a name, called "_0", is where an address may go on.
                    values = {name: "/" if name[0] == "_" else "1" for name in names}
                    answering.add((address % values).split("/")[0])

    collect(get_resolver().url_patterns)

    assert {"admin", "api", "oauth", "sitemap-1.xml", ".well-known"} <= answering
    # The addresses of feeds end in .ics: a page may be called so.
    answering.remove("calendar")
    assert [first for first in sorted(answering) if not is_reserved(first)] == []


@pytest.mark.parametrize("first", ["oauth", ".well-known", "favicon.ico", "sitemap-1.xml"])
def test_no_pattern_begins_where_something_else_answers(first: str) -> None:
    with pytest.raises(RuleViolation) as refusal:
        clean_pattern(f"/{first}/{{slug}}")

    assert refusal.value.details == {"pattern": [f"Addresses below /{first} are reserved."]}


def test_a_pattern_brings_no_post_to_an_address_that_would_never_show_it() -> None:
    post = make.post(slug="admin")

    with pytest.raises(RuleViolation) as refusal:
        pattern("/{slug}")

    assert (refusal.value.code, list(refusal.value.details)) == ("path_reserved", ["pattern"])
    assert (path_of(post), UrlPattern.objects.count()) == ("/blog/admin", 0)


def test_a_post_in_the_trash_comes_back_to_a_free_address_only() -> None:
    gone = make.post(slug="tea")
    delete_post(post_id=gone.pk, actor=make.actor("admin"))
    top = page("Blog", slug="blog")
    page("Tea", slug="tea", parentId=str(top.pk))

    with pytest.raises(RuleViolation) as refusal:
        restore_post(post_id=gone.pk, actor=make.actor("admin"))

    assert refusal.value.code == "path_taken"
    assert Post.objects.get(pk=gone.pk).deleted_at is not None


def test_a_date_in_the_address_is_that_of_the_first_publication(client: Client) -> None:
    pattern("/{yyyy}/{slug}")
    post = make.post(slug="tea", status="draft")
    Post.objects.filter(pk=post.pk).update(created_at="1999-01-01T00:00:00Z", path="/1999/tea")

    ApiClient("editor").write("PUT", f"/api/posts/{post.pk}", {"status": "published"})

    assert re.fullmatch(r"/20\d\d/tea", path_of(post))
    assert leads() == {}


def test_threat_24_a_pattern_of_what_no_longer_exists_is_harmless(client: Client) -> None:
    UrlPattern.objects.create(type="gone", locale="en", pattern="/x/{slug}")
    UrlPattern.objects.create(type="blog", locale="xx", pattern="/x/{slug}")
    post = make.post(slug="tea")
    Post.objects.filter(pk=post.pk).update(type="gone")
    editor = ApiClient("editor")
    rows = {row["type"]: row for row in editor.read("/api/url-patterns")["data"]}

    assert client.get("/blog/tea").status_code == 200
    assert [row.pk for row in post_queries.published_posts()] == [post.pk]
    body = {"pattern": "/y/{slug}"}
    editor.write("PUT", f"/api/url-patterns/{rows['gone']['id']}", body, expect=422)
    editor.write("PUT", f"/api/url-patterns/{rows['blog']['id']}", body, expect=422)
    assert path_of(post) == "/blog/tea"
    for row in rows.values():
        editor.write("DELETE", f"/api/url-patterns/{row['id']}")
    assert path_of(post) == "/gone/tea"


def test_only_people_with_the_right_change_patterns() -> None:
    for actor in (make.mcp_actor("admin"), make.agent_actor(), make.actor("translator")):
        with pytest.raises(NotAllowed):
            create_pattern(actor=actor, type="blog", locale="en", pattern="/x/{slug}")
    assert UrlPattern.objects.count() == 0


def test_threat_26_a_hostile_pattern_is_refused_at_once() -> None:
    for text in ("/" + "{" * 100_000, "/{slug}" * 20_000, "/" + "a-" * 50_000 + "{slug}"):
        body = {"type": "blog", "locale": "en", "pattern": text}
        refused("POST", "/api/url-patterns", body, 422, "invalid", "pattern")


def test_a_variation_has_no_address_of_its_own() -> None:
    post = make.post(slug="tea")
    other = create_variation(post_id=post.pk, variation="B", actor=make.actor())

    pattern("/news/{slug}")

    assert (path_of(post), path_of(other)) == ("/news/tea", "")


def test_ai_clients_read_the_current_patterns() -> None:
    assert done("get_post_type_config", postType="blog")["urlPatterns"] == ["/blog/{slug}"]

    pattern("/neues/{slug}", locale="de")

    assert done("get_post_type_config", postType="blog")["urlPatterns"] == [
        "/blog/{slug}",
        "/neues/{slug}",
    ]
    assert done("get_post_type_config", postType="page")["urlPatterns"] == ["/{path}"]
