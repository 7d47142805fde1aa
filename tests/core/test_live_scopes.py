"""Open pages of users with a content scope receive nothing outside of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from asgiref.sync import sync_to_async

from agents_app.models import AgentBatch, AgentRun
from agents_app.models.run import RunPost
from content.models import Post
from content.posts.autosave import save_copy
from content.posts.presence import mark_editing
from content.posts.trash import delete_post
from mcp_bridge.protocol.subscriptions import SubscribedClient, read_changes, readable_uris
from proofroom.accounts.roles import GRANTS, PERMISSIONS
from proofroom.accounts.services.roles import change_role
from proofroom.core import outbox
from proofroom.core.content_scope import WHOLE_SITE, ContentScope
from proofroom.core.errors import NotFound
from proofroom.core.realtime.event_tail import Tail
from proofroom.core.realtime.hub import NOT_FOUND
from proofroom.core.realtime.messages import may_hear_of
from tests import make
from tests.core.sockets import asked, heard, in_a_loop, opened, session_of
from tests.mcp.test_subscriptions import begun, principal, uri_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_polls")]
LIMITABLE = sorted(PERMISSIONS & GRANTS["admin"] - WHOLE_SITE)


@pytest.fixture
def posts() -> tuple[Post, Post]:
    make.site_role("pages", *LIMITABLE, scope=ContentScope(types=frozenset({"page"})))
    make.site_role(
        "reader", *LIMITABLE, scope=ContentScope(types=frozenset({"page"}), reads_all=True)
    )
    return make.post("Inside", type="page"), make.post("Outside")


@sync_to_async
def happened(*post_ids: UUID | None) -> None:
    """Record an event for each of these posts, and then a public one."""
    for post_id in post_ids:
        outbox.record("post.updated", actor=make.actor("editor"), payload={}, post_id=post_id)
    outbox.record("media.uploaded", actor=make.actor("editor"), payload={})


@sync_to_async
def widen() -> None:
    scope = ContentScope(types=frozenset({"page", "blog"}))
    change_role(
        name="pages", label="Pages", permissions=LIMITABLE, scope=scope, actor=make.actor("admin")
    )


@in_a_loop
async def test_of_posts_outside_nothing_is_heard(posts: tuple[Post, Post]) -> None:
    inside, outside = posts
    async with opened("pages") as page, opened("reader") as reader:
        await happened(outside.pk, inside.pk, uuid4(), outside.pk)

        said = await page.hears()
        assert (said["event"], said["postId"]) == ("post.updated", str(inside.pk))
        assert await heard(page) == []
        assert len(await heard(reader)) == 4


@in_a_loop
async def test_what_was_missed_is_as_hidden(posts: tuple[Post, Post]) -> None:
    inside, outside = posts
    async with opened("pages") as page:
        await happened(inside.pk)
        seen = (await page.hears())["id"]
        await happened(outside.pk, inside.pk)
        assert await heard(page) == []
        assert await heard(page) == ["post.updated"]

        async with opened("pages", f"after={seen}") as again:
            assert await heard(again) == []
            assert await heard(again) == ["post.updated"]


@in_a_loop
async def test_the_scope_is_asked_as_it_is_now(posts: tuple[Post, Post]) -> None:
    _inside, outside = posts
    async with opened("pages") as page:
        await happened(outside.pk)
        assert await heard(page) == []

        await widen()
        await happened(outside.pk)
        assert await heard(page) == ["post.updated"]


@in_a_loop
async def test_a_hidden_posts_page_closes_like_a_missing_ones(
    posts: tuple[Post, Post],
) -> None:
    _inside, outside = posts
    key = "0" * 8 + "-0000-0000-0000-" + "0" * 12
    editor = await sync_to_async(make.actor)("editor")
    await sync_to_async(mark_editing)(post_id=outside.pk, key=key, actor=editor)
    session = await sync_to_async(session_of)("pages")

    for post_id in (outside.pk, uuid4()):
        page = asked(f"post={post_id}", session=session)
        assert await page.connect() == 0
        assert await page.is_closed_with() == NOT_FOUND
        await page.leave()
    async with opened("reader", f"post={outside.pk}") as reader:
        assert [one["name"] for one in (await reader.hears())["editing"]] == ["editor"]


def test_nobody_marks_a_post_outside_as_open(posts: tuple[Post, Post]) -> None:
    with pytest.raises(NotFound):
        mark_editing(post_id=posts[1].pk, key=str(uuid4()), actor=make.actor("pages", via="admin"))


def test_nobody_keeps_a_draft_copy_for_a_post_outside(posts: tuple[Post, Post]) -> None:
    actor = make.actor("pages", via="admin")
    save_copy(key=uuid4(), post_id=posts[0].pk, actor=actor, entries=[])
    with pytest.raises(NotFound):
        save_copy(key=uuid4(), post_id=posts[1].pk, actor=actor, entries=[])


def test_of_a_post_in_the_trash_who_may_restore_it_hears_inside_alone(
    posts: tuple[Post, Post],
) -> None:
    tail = begun()
    for post in posts:
        delete_post(post_id=post.pk, actor=make.actor("admin"))
    events, person = tail.read(), make.user("pages")

    may_hear = may_hear_of(events, [person])

    told = {event.post_id for event in events if event.post_id and may_hear(person, event)}
    assert told == {posts[0].pk}


def test_a_scope_costs_one_query_however_many_events_and_people(
    posts: tuple[Post, Post], django_assert_num_queries: Any
) -> None:
    tail = begun()
    for post in posts * 10:
        outbox.record("post.updated", actor=make.actor("editor"), payload={}, post_id=post.pk)
    events = tail.read()
    people = [make.user("pages", f"pages-{number}") for number in range(5)]
    people += [make.user("editor", f"editor-{number}") for number in range(5)]
    for person in people:
        assert person.role  # its role is read before, as the hub does
        list(person.scopes)

    with django_assert_num_queries(2):
        may_hear = may_hear_of(events, people)
    with django_assert_num_queries(0):
        answers = [{may_hear(person, event) for event in events} for person in people]
    with django_assert_num_queries(1):
        may_hear_of(events, people[5:])

    assert answers == [{True, False}] * 5 + [{True}] * 5


def run_of(post: Post | None, role: str = "admin") -> AgentRun:
    by = make.user(role)
    return AgentRun.objects.create(
        agent_id="seo-specialist",
        scope="dropdown",
        by=by,
        content_scopes=[scope.to_json() for scope in by.scopes],
        by_name=role,
        via="api",
        post=post,
        doing="Reads Outside",
    )


def wrote_outside(posts: tuple[Post, Post]) -> AgentRun:
    run = run_of(posts[0])
    RunPost.objects.create(run=run, post=posts[1])
    return run


RUNS: list[Callable[[tuple[Post, Post]], AgentRun]] = [
    lambda posts: run_of(posts[1]),
    lambda posts: run_of(None),
    wrote_outside,
]


@pytest.mark.parametrize("begin", RUNS, ids=["outside", "somebody's of no post", "writes outside"])
@in_a_loop
async def test_runs_and_batches_outside_are_not_followed(
    posts: tuple[Post, Post], begin: Callable[[tuple[Post, Post]], AgentRun]
) -> None:
    run = await sync_to_async(begin)(posts)
    batch = await AgentBatch.objects.acreate(agent_id="seo-specialist", by_name="admin")
    await AgentRun.objects.filter(pk=run.pk).aupdate(batch=batch)
    session = await sync_to_async(session_of)("pages")

    for path in (f"/ws/runs/{run.pk}/", f"/ws/batches/{batch.pk}/"):
        page = asked(path=path, session=session)
        assert await page.connect() == 0
        assert (await page.receive_output(20)) == {"type": "websocket.close", "code": NOT_FOUND}
        await page.leave()
        reader = asked(path=path, session=await sync_to_async(session_of)("reader"))
        assert await reader.connect() == 0
        assert (await reader.hears()) is not None
        await reader.leave()


@pytest.mark.parametrize("is_own", [True, False])
@in_a_loop
async def test_runs_inside_and_ones_own_are_followed(
    posts: tuple[Post, Post], is_own: bool
) -> None:
    run = await sync_to_async(run_of)(None if is_own else posts[0], "pages")
    page = asked(path=f"/ws/runs/{run.pk}/", session=await sync_to_async(session_of)("pages"))

    assert await page.connect() == 0
    assert (await page.hears())["status"] == "queued"
    await page.leave()


def test_ai_clients_receive_events_in_their_scope(posts: tuple[Post, Post]) -> None:
    inside, outside = posts
    who = principal("pages")
    following = SubscribedClient(who, uris=[uri_of(inside), uri_of(outside)], resource_list=True)
    tail: Tail = begun()
    for post in posts:
        outbox.record("post.updated", actor=make.actor("editor"), payload={}, post_id=post.pk)

    found = read_changes(tail, [following], False)

    assert [event.uri for event in found[following] if hasattr(event, "uri")] == [uri_of(inside)]
    assert readable_uris(who, [uri_of(inside), uri_of(outside)]) == [uri_of(inside)]
