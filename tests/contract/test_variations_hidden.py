"""A running variation is visible at its original's address and among the variations, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from django.test import Client

from content.models import Post
from content.posts.edit import edit_post
from content.posts.variations import create_variation
from content.store import document_edits
from content.store.traffic import change_variation
from mcp_bridge.protocol.tool_calls import call_tool, result_text
from proofroom_apps.menus.models import Menu
from tests import make
from tests.api_client import ApiClient
from tests.contract.endpoint import areas
from tests.contract.test_admin_walk import ADDRESSES
from tests.mcp.calling import by
from tests.site.test_page_queries import with_modules
from tests.site.test_pages import home, page

pytestmark = pytest.mark.django_db
CANARY: Final = "Zanzibarcanary"
WORD: Final = "palmyraword"
"""Another word of it for searching, because search terms are shown again."""
OF_WHAT_PEOPLE_DID: Final = ("proofroom_core/event/", "/api/activity")
"""The log names every post that was edited."""


@pytest.fixture
def original() -> Post:
    """Create a post whose variation has all visitors, with all features that could show it."""
    home()
    term = make.term("Coffee")
    post = make.post("Filter coffee", slug="coffee", taxonomyTermIds=[str(term.pk)])
    make.post("Filterkaffee", locale="de", slug="kaffee", translation_of=post)
    actor = make.actor("admin")
    made = create_variation(post_id=post.pk, variation="B", actor=actor, weight=100)
    words = {"title": CANARY, "excerpt": f"{CANARY} {WORD}", "metaTitle": f"{CANARY} meta"}
    edit_post(
        post_id=made.pk,
        actor=actor,
        edit=lambda document: document_edits.patch_fields(document, words),
    )
    change_variation(post_id=post.pk, variation_id=made.pk, actor=actor, running=True)
    item = {"id": "1", "label": "", "type": "post", "url": "/x", "postId": str(made.pk)}
    Menu.objects.create(slug="main", locale="en", name="Main", items=[item])
    lists = [("blog-list", {}), ("blog-list", {"postIds": [str(made.pk)]})]
    with_modules(page("News"), lists)
    return post


def holds(response: Any) -> bool:
    body = b"".join(response.streaming_content) if response.streaming else response.content
    return CANARY.lower().encode() in body.lower()


def test_visitors_see_it_at_the_address_of_its_original_and_nowhere_else(original: Post) -> None:
    visitor = Client(headers={"user-agent": "Browser"})
    paths = [
        "/", "/news", "/blog", "/blog?page=1", "/de/blog", "/de/blog/kaffee", "/blog/feed.xml",
        f"/search?q={WORD}", "/search?q=coffee", "/llms.txt", "/sitemap.xml", "/robots.txt",
        "/blog/coffee.md", "/blog/nothing", "/api/public/posts", "/api/public/posts?fields=title",
        f"/api/public/posts?search={WORD}", f"/api/public/posts/{original.pk}",
        "/api/public/resolve?path=/blog/coffee", "/api/menus/main", "/api/menus/main/en",
    ]  # fmt: skip

    assert holds(visitor.get("/blog/coffee"))
    assert not holds(Client(headers={"user-agent": "Googlebot/2.1"}).get("/blog/coffee"))
    assert [path for path in paths if holds(visitor.get(path))] == []
    assert len(visitor.get("/api/public/posts").json()["data"]) == 3  # home, news, coffee
    assert b'href="/blog/coffee"' in visitor.get("/search?q=coffee").content


def api_lists(original: Post) -> Iterator[str]:
    for area in areas():
        for item in area.endpoints:
            if item.method == "GET" and not item.has_gaps:
                yield item.path
                yield f"{item.path}?search={WORD}"
    for part in ("", "/translations", "/changes?layer=review", "/export", "/revisions"):
        yield f"/api/posts/{original.pk}{part}"
    for query in ("allLocales=true", "type=blog", "taxonomy=coffee", "status=draft"):
        yield f"/api/posts?{query}"


def test_editors_find_it_in_no_list_and_no_search(original: Post) -> None:
    admin = ApiClient("admin")
    found = {path for path in api_lists(original) if holds(admin.get(path))}

    assert {path for path in found if not path.startswith(OF_WHAT_PEOPLE_DID)} == set()
    assert holds(admin.get(f"/api/posts/{original.pk}/variations"))
    drafts = admin.read("/api/posts?status=draft")
    assert drafts["meta"]["total"] == 0


def test_no_page_of_the_admin_shows_it_but_that_of_the_variations(original: Post) -> None:
    admin = ApiClient("admin")
    pages = [f"/admin/{address}" for address in ADDRESSES if "<" not in address]
    posts = [f"/admin/content/post/{original.pk}/{name}/" for name in ("change", "translations")]
    searches = [f"/admin/content/post/?q={WORD}", f"/admin/proofroom_taxonomies/term/?q={WORD}"]

    shown = {path for path in [*pages, *posts, *searches] if holds(admin.get(path))}

    assert {path for path in shown if not path.startswith("/admin/proofroom_core/event/")} == set()
    assert holds(admin.get(f"/admin/content/post/{original.pk}/variations/"))


def test_ai_clients_find_it_in_no_list(original: Post) -> None:
    asked: list[tuple[str, dict[str, Any]]] = [
        ("list_posts", {}),
        ("list_posts", {"q": WORD}),
        ("list_posts", {"status": "draft"}),
        ("get_post_context", {"postId": str(original.pk)}),
        ("list_post_translations", {"postId": str(original.pk)}),
    ]
    answers = {}
    for tool, arguments in asked:
        result = call_tool(by("admin"), tool, arguments)
        assert result.is_error is False, result_text(result)
        answers[json.dumps([tool, arguments])] = result_text(result)

    assert [name for name, text in answers.items() if CANARY.lower() in text.lower()] == []
