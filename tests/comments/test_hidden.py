"""Comments are for the staff: nothing that others read has them, also not while staff look at the page."""

from __future__ import annotations

from io import BytesIO
from typing import Any, Final
from zipfile import ZipFile

import pytest
from django.test import Client

from content.models import Layer, Post
from proofroom_apps.feedback.services import create_feedback
from proofroom_apps.previews.services import create_preview_link
from tests import make
from tests.api_client import ApiClient
from tests.archive import site
from tests.comments.talk import say
from tests.reviewers.test_reviewer_links import invite
from tests.site.test_pages import home

pytestmark = pytest.mark.django_db
CANARY: Final = "Zanzibarcanary"


@pytest.fixture
def discussed() -> Post:
    """Create a published post with comments of every kind, an assignment and a note, and a proposed change."""
    home()
    picture = make.image("cup.png", alt_text="A cup")
    post = make.post("Filter coffee", slug="coffee", featuredMediaId=str(picture.pk))
    make.staged(post, {"excerpt": "Slowly."}, layer=Layer.REVIEW)
    module = make.module_id(post, "prose")
    first = say(post, f"{CANARY} @translator", assignee="editor", dueAt="2099-01-02T09:00:00Z")
    say(post, f"{CANARY} reply", parentId=first["id"])
    say(post, CANARY, path=f"modules.{module}")
    say(post, CANARY, path=f"modules.{module}.props.content", passage={"quote": "Grind the beans"})
    say(post, CANARY, changePath="post.excerpt")
    say(picture, CANARY)
    create_feedback(post_id=str(post.pk), content=CANARY, actor=make.actor("editor"))
    return post


def holds(response: Any) -> bool:
    body = b"".join(response.streaming_content) if response.streaming else response.content
    # Not even the marks of comments may be there.
    return any(
        word in body.lower() for word in (CANARY.lower().encode(), b"data-note=", b"data-comment")
    )


def test_visitors_the_delivery_api_and_caches_never_have_comments(discussed: Post) -> None:
    paths = [
        "/", "/blog", "/blog/coffee", "/blog/coffee.md", "/blog/feed.xml", f"/search?q={CANARY}",
        "/search?q=coffee", "/llms.txt", "/sitemap.xml", "/api/public/posts?include=media,terms",
        f"/api/public/posts/{discussed.pk}", f"/api/public/posts?search={CANARY}",
        "/api/public/resolve?path=/blog/coffee&include=media", "/api/public/changes", "/api/public/site",
        f"/api/public/media/{discussed.featured_media_id}",
    ]  # fmt: skip

    # Staff first, because what is cached for them would be served to visitors.
    for client in (ApiClient("editor"), Client(headers={"user-agent": "Browser"})):
        answers = {path: client.get(path) for path in paths}
        found = {path for path, answer in answers.items() if holds(answer)}
        # The page of a search repeats what was searched for.
        assert found == {f"/search?q={CANARY}"}
        assert {path for path, answer in answers.items() if answer.status_code != 200} == set()
        assert b"No results" in answers[f"/search?q={CANARY}"].content
    for address in (f"/api/posts/{discussed.pk}/comments", f"/api/feedbacks?postId={discussed.pk}"):
        answer = Client().get(address)
        assert (answer.status_code, holds(answer)) == (401, False)


def test_links_for_people_without_an_account_have_no_comments(discussed: Post) -> None:
    editor = make.actor("editor")
    for layer in ("source", "review", "ai-review"):
        token = create_preview_link(post_id=discussed.pk, layer=layer, actor=editor)[1]
        answer = ApiClient("editor").get(f"/preview/{token}")
        assert (answer.status_code, holds(answer)) == (200, False)
    guest = Client().get(invite(discussed)["url"])
    assert (guest.status_code, holds(guest)) == (200, False)

    # Whereas the preview of the staff has them.
    frame = ApiClient("editor").get(
        f"/admin/content/post/{discussed.pk}/preview/page/?layer=source"
    )
    assert b'data-note="2 comments"' in frame.content
    assert CANARY.encode() not in frame.content


def test_archives_and_exports_have_no_comments(discussed: Post) -> None:
    with ZipFile(BytesIO(site.export())) as archive:
        assert [name for name in archive.namelist() if CANARY.encode() in archive.read(name)] == []
    exported = ApiClient("admin").get(f"/api/posts/{discussed.pk}/export")
    assert (exported.status_code, holds(exported)) == (200, False)
