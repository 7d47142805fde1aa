"""Presence in a post's form: reported by pages, expiring, sent to others."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from django.utils import timezone

from content.models import EditingMark, Post
from content.posts.presence import MAX_OPEN_PAGES, close_editor, list_open_editors, mark_editing
from content.posts.trash import delete_post
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from tests import make
from tests.admin.pages import url
from tests.core.sockets import in_a_loop, opened

pytestmark = pytest.mark.django_db


def mark(post: Post, role: str = "editor", **said: Any) -> str:
    key = str(said.pop("key", uuid4()))
    mark_editing(post_id=post.pk, key=key, actor=make.actor(role, via="admin"), **said)
    return key


def names(post: Post) -> list[str]:
    return [page.name for page in list_open_editors([post.pk]).get(post.pk, [])]


def test_pages_come_go_and_are_forgotten() -> None:
    post = make.post()
    first = mark(post)
    mark(post, "admin", layer="review")
    mark(post, key=first)
    assert names(post) == ["editor", "admin"]

    close_editor(post_id=post.pk, key=first, actor=make.actor("editor", via="admin"))
    assert names(post) == ["admin"]

    EditingMark.objects.update(seen_at=timezone.now() - timedelta(minutes=1))
    assert names(post) == []
    EditingMark.objects.update(seen_at=timezone.now() - timedelta(hours=2))
    mark(make.post("Other"))
    assert EditingMark.objects.count() == 1


def test_another_users_page_is_neither_taken_over_nor_closed() -> None:
    post = make.post()
    key = mark(post)

    mark(post, "admin", key=key)
    close_editor(post_id=post.pk, key=key, actor=make.actor("admin", via="admin"))

    assert names(post) == ["editor"]


def test_a_report_that_its_page_overtook_by_closing_opens_it_not_again() -> None:
    post, key = make.post(), str(uuid4())

    close_editor(post_id=post.pk, key=key, actor=make.actor("editor", via="admin"))
    mark(post, key=key)
    assert names(post) == []

    mark(post)
    assert names(post) == ["editor"]


def test_one_person_fills_no_table() -> None:
    post = make.post()

    for _ in range(MAX_OPEN_PAGES + 3):
        mark(post)
        close_editor(post_id=post.pk, key=str(uuid4()), actor=make.actor("editor", via="admin"))

    assert EditingMark.objects.count() == MAX_OPEN_PAGES
    assert len(names(post)) == MAX_OPEN_PAGES


@pytest.mark.parametrize("key", ["", "x" * 36, "\x00" * 36, "\ud800" * 36, "a" * 1_000_000])
def test_a_page_without_a_proper_name_is_refused(key: str) -> None:
    post = make.post()

    with pytest.raises(RuleViolation):
        mark(post, key=key)
    assert not EditingMark.objects.exists()


def test_neither_agents_nor_strangers_nor_pages_of_the_trash_are_marked() -> None:
    post, gone = make.post(), make.post("Gone")
    key = str(uuid4())
    delete_post(post_id=gone.pk, actor=make.actor("admin"))

    for actor in (make.agent_actor(), make.mcp_actor("editor")):
        with pytest.raises(NotAllowed):
            mark_editing(post_id=post.pk, key=key, actor=actor)
    with pytest.raises(NotFound):
        mark(gone)
    with pytest.raises(RuleViolation):
        mark(post, layer="ai-review")
    assert not EditingMark.objects.exists()


def test_the_form_says_that_it_is_open_and_hears_of_the_others(client: Client) -> None:
    post = make.post()
    other, key = mark(post, "admin"), str(uuid4())
    address = url(post, "change/editing")
    client.force_login(make.user("editor"))

    said: Any = client.post(address, {"key": key, "layer": "source"}).json()["editing"]

    assert [(page["key"], page["name"], page["mine"]) for page in said] == [
        (other, "admin", False),
        (key, "editor", True),
    ]
    assert client.post(address, {"key": "nonsense", "layer": "source"}).status_code == 422
    left: Any = client.post(address, {"key": key, "leave": "1"}).json()["editing"]
    assert [page["name"] for page in left] == ["admin"]
    assert client.get(address).status_code == 405


@in_a_loop
async def test_open_pages_hear_within_a_moment_who_comes_and_goes(settings: Any) -> None:
    settings.LIVE_POLL_SECONDS = 0.01
    post = await sync_to_async(make.post)()
    async with opened("editor", f"post={post.pk}") as page, opened("editor") as elsewhere:
        key = await sync_to_async(mark)(post, "admin")
        (said,) = (await page.hears())["editing"]
        assert (said["key"], said["name"], said["mine"]) == (key, "admin", False)

        admin = await sync_to_async(make.actor)("admin", via="admin")
        await sync_to_async(close_editor)(post_id=post.pk, key=key, actor=admin)
        assert await page.hears() == {"editing": []}
        assert await elsewhere.receive_nothing()
