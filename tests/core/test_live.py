"""Recipients of events on open pages."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from asgiref.sync import sync_to_async

from content.posts.trash import delete_post
from proofroom.core import outbox
from proofroom.core.models import Event
from tests import make
from tests.core.sockets import heard, in_a_loop, opened

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_polls")]


@sync_to_async
def record(name: str, *, by: str = "editor", post_id: UUID | None = None, **payload: Any) -> Event:
    return outbox.record(name, actor=make.actor(by), payload=payload, post_id=post_id)


@sync_to_async
def delete(post_id: UUID) -> None:
    delete_post(post_id=post_id, actor=make.actor("admin"))


@sync_to_async
def change_and_delete(post_id: UUID) -> None:
    actor = make.actor("admin")
    outbox.record("post.updated", actor=actor, payload={}, post_id=post_id)
    delete_post(post_id=post_id, actor=actor)


@in_a_loop
async def test_a_message_names_the_event_and_nothing_that_it_holds() -> None:
    post = await sync_to_async(make.post)("A secret title")
    async with opened("translator") as page:
        event = await record("post.updated", post_id=post.pk, title="A secret title")
        said = await page.hears()

    assert page.hello["version"] == 1
    assert said == {
        "id": str(event.uid),
        "event": "post.updated",
        "label": "Post updated",
        "postId": str(post.pk),
        "at": event.created_at.isoformat().replace("+00:00", "Z"),
        "by": "editor",
        "via": "api",
        "agentId": None,
        "runId": None,
        "mine": False,
    }


@in_a_loop
async def test_ones_own_changes_are_called_ones_own() -> None:
    async with opened("editor") as page, opened("admin") as other:
        await record("media.uploaded", by="editor")

        assert (await page.hears())["mine"] is True
        assert (await other.hears())["mine"] is False


NAMES = (
    "post.review.save",
    "feedback.created",
    "agent.run.finished",
    "form.submitted",
    "user.changed",
    "mcp.called",
    "search.stale",
)
HEARD = {
    "translator": ["post.review.save", "feedback.created"],
    "editor": ["post.review.save", "feedback.created", "agent.run.finished", "form.submitted"],
    "admin": [
        "post.review.save",
        "feedback.created",
        "agent.run.finished",
        "form.submitted",
        "user.changed",
        "mcp.called",
    ],
}


@pytest.mark.parametrize("role", HEARD)
@in_a_loop
async def test_each_role_hears_what_it_may_know(role: str) -> None:
    post = await sync_to_async(make.post)()
    async with opened(role) as page:
        for name in NAMES:
            await record(name, by="admin", post_id=post.pk)
        await record("media.uploaded")

        assert await heard(page) == HEARD[role]


@in_a_loop
async def test_an_undeclared_event_has_no_subscribers() -> None:
    async with opened("admin") as page:
        await sync_to_async(Event.objects.create)(name="gone.thing", via="api")
        await record("media.uploaded")

        assert await heard(page) == []


@pytest.mark.parametrize(("role", "told"), [("translator", []), ("editor", ["post.deleted"])])
@in_a_loop
async def test_trash_events_reach_users_who_may_see_the_trash(role: str, told: list[str]) -> None:
    post = await sync_to_async(make.post)()
    async with opened(role) as page:
        await delete(post.pk)
        await record("media.uploaded")

        assert await heard(page) == told


@pytest.mark.parametrize(("role", "told"), [("translator", []), ("editor", ["post.updated"])])
@in_a_loop
async def test_a_post_that_is_gone_is_treated_like_the_trash(role: str, told: list[str]) -> None:
    async with opened(role) as page:
        await record("post.updated", post_id=uuid4())
        await record("media.uploaded")

        assert await heard(page) == told


@in_a_loop
async def test_permissions_are_checked_at_delivery_not_at_the_event() -> None:
    """A post is saved, then moved to the trash before delivery: users who may not see the trash receive nothing."""
    post = await sync_to_async(make.post)()
    async with opened("translator") as page:
        await change_and_delete(post.pk)
        await record("media.uploaded")

        assert await heard(page) == []


@in_a_loop
async def test_a_post_page_receives_events_of_that_post_only() -> None:
    one, other = await sync_to_async(lambda: (make.post("One"), make.post("Other")))()
    async with opened("editor", f"post={one.pk}") as page:
        await record("post.review.save", post_id=other.pk)
        await record("media.uploaded")
        await record("post.review.reject", post_id=one.pk)

        assert (await page.hears())["event"] == "post.review.reject"
