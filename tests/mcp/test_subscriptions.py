"""Recipients of change notifications: readers of the changed object, once per change, within limits per client."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated, ToolsListChanged

from content.models import Post
from content.posts.trash import delete_post
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol import subscriptions
from mcp_bridge.protocol.subscriptions import (
    ChangeFeed,
    SubscribedClient,
    read_changes,
    readable_uris,
    usable_tools,
)
from proofroom.core.actor import Actor
from proofroom.core.realtime.event_tail import Tail
from proofroom.core.tools import load_tools
from tests import make
from tests.mcp.inside import Inside, bearer, inside, newest
from tests.mcp.person import stage_in_review
from tests.mcp.test_access_ends import token_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _tools(settings: Any) -> None:
    settings.MCP_DB_EXECUTOR = "sensitive"
    settings.LIVE_POLL_SECONDS = 0.01
    load_tools()


def begun() -> Tail:
    tail = Tail()
    tail.read()
    return tail


def principal(role: str = "editor", **narrowed: Any) -> Principal:
    return Principal(
        id=f"client:{uuid4()}", user_id=make.user(role, uuid4().hex[:12]).pk, **narrowed
    )


def uri_of(post: Post) -> str:
    return f"cms://posts/{post.pk}"


def test_a_post_change_reaches_its_followers_once() -> None:
    post, other = make.post("One"), make.post("Two")
    follower = SubscribedClient(principal(), uris=[uri_of(post)])
    elsewhere = SubscribedClient(principal(), uris=[uri_of(other)], resource_list=True)
    tail = begun()

    for title in ("A", "B"):
        stage_in_review(str(post.pk), {"title": title})
    found = read_changes(tail, [follower, elsewhere], False)

    assert set(found) == {follower}
    assert set(found[follower]) == {ResourceUpdated(uri_of(post))}
    follower.add(found[follower])
    assert len(follower._waiting) == 1
    assert read_changes(tail, [follower, elsewhere], False) == {}


def test_an_unreachable_client_does_not_block_the_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    post = make.post("One")
    broken = SubscribedClient(principal(), uris=[uri_of(post)])
    other = SubscribedClient(principal(), uris=[uri_of(post)])
    tail = begun()
    actor_for = vars(subscriptions)["actor_for"]

    def failing(who: Principal) -> Actor:
        if who == broken.principal:
            raise ZeroDivisionError
        found: Actor = actor_for(who)
        return found

    monkeypatch.setattr(subscriptions, "actor_for", failing)
    stage_in_review(str(post.pk), {"title": "A"})

    assert set(read_changes(tail, [broken, other], False)) == {other}
    assert "Cannot notify an MCP client of changes" in caplog.text


def test_a_new_post_and_one_in_the_trash_change_the_list() -> None:
    post = make.post("One")
    following = SubscribedClient(principal(), uris=[uri_of(post)], resource_list=True)
    tail = begun()
    delete_post(post_id=post.pk, actor=make.actor("editor"))

    found = read_changes(tail, [following], False)[following]
    assert set(found) == {ResourcesListChanged(), ResourceUpdated(uri_of(post))}


@pytest.mark.parametrize(
    "who",
    [
        lambda: principal(tools=frozenset({"list_post_types"})),
        lambda: principal(scopes=frozenset()),
        lambda: Principal(id="client:gone", user_id=10**9),
    ],
    ids=["narrowed", "without the scope", "without an account"],
)
def test_clients_receive_no_forbidden_changes(who: Any) -> None:
    post, refused = make.post("One"), who()
    subscriber = SubscribedClient(refused, uris=[uri_of(post)], resource_list=True)
    tail = begun()
    stage_in_review(str(post.pk), {"title": "A"})
    delete_post(post_id=post.pk, actor=make.actor("editor"))

    assert read_changes(tail, [subscriber], False) == {}
    assert readable_uris(refused, [uri_of(post)]) == []


def test_a_change_of_the_callers_tools_is_sent() -> None:
    who = principal()
    subscriber = SubscribedClient(who, tools=True)
    subscriber.known_tools = usable_tools(who) - {"list_posts"}
    tail = begun()

    assert read_changes(tail, [subscriber], False) == {}
    assert read_changes(tail, [subscriber], True) == {subscriber: [ToolsListChanged()]}
    assert read_changes(tail, [subscriber], True) == {}


def test_addresses_that_nobody_could_read_are_not_followed() -> None:
    post = make.post("One")
    known = [uri_of(post), "cms://post-types", "cms://modules/hero", "cms://guidelines"]
    unknown = [
        uri_of(post).upper(), f"cms://posts/{uuid4()}", "cms://posts/", "cms://posts/x\0", "", "file:///etc/passwd",
    ]  # fmt: skip
    assert set(readable_uris(principal(), [*known, *unknown])) == set(known)


def test_queries_stay_few_however_many_follow(django_assert_num_queries: Any) -> None:
    posts = [make.post(f"Post {number}") for number in range(3)]
    uris = [uri_of(post) for post in posts]
    who = principal()
    tail = begun()
    with django_assert_num_queries(1):  # nothing happened
        read_changes(tail, [SubscribedClient(who, uris=uris) for _ in range(20)], False)
    for post in posts:
        stage_in_review(str(post.pk), {"title": "A"})
    with django_assert_num_queries(3):  # events, the rule of posts, the account
        read_changes(tail, [SubscribedClient(who, uris=uris) for _ in range(20)], False)


def test_one_credential_leaves_room_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "MAX_SUBSCRIBERS_PER_CREDENTIAL", 2)
    one, other = principal(), principal()

    async def scene(server: Inside) -> None:
        feed: ChangeFeed = server.app.state.feed
        followers = [SubscribedClient(one), SubscribedClient(one)]
        for follower in followers:
            await feed.join(follower)
        with pytest.raises(MCPError) as refused:
            await feed.join(SubscribedClient(one))
        assert refused.value.error.data == {"code": "too_many_subscriptions"}
        await feed.join(SubscribedClient(other))
        feed.leave(followers[0])
        feed.leave(followers[0])
        await feed.join(SubscribedClient(one))

    inside(scene)


def test_a_stream_is_acknowledged_with_its_subjects_and_ends_with_its_client() -> None:
    post = make.post("One")
    _, secret = token_of(make.user("editor"))
    asked = newest(
        "subscriptions/listen",
        notifications={
            "toolsListChanged": True,
            "promptsListChanged": True,
            "resourcesListChanged": True,
            "resourceSubscriptions": [uri_of(post), f"cms://posts/{uuid4()}"],
        },
    )
    asked["headers"] |= bearer(secret)

    async def scene(server: Inside) -> None:
        feed: ChangeFeed = server.app.state.feed
        answer = await server.ask(**asked)
        text = answer.body.decode()
        assert "notifications/subscriptions/acknowledged" in text
        assert "promptsListChanged" not in text
        assert text.count("cms://posts/") == 1
        assert feed.count == 1
        answer.leave()
        with anyio.fail_after(5):
            await answer.over.wait()
        assert feed.count == 0

    inside(scene)


def test_too_many_resources_are_refused() -> None:
    _, secret = token_of(make.user("editor"))
    many = [f"cms://posts/{uuid4()}" for _ in range(subscriptions.MAX_RESOURCES + 1)]
    asked = newest("subscriptions/listen", notifications={"resourceSubscriptions": many})
    asked["headers"] |= bearer(secret)

    async def scene(server: Inside) -> None:
        answer = await server.ask(**asked)
        assert "too_many_subscriptions" in answer.body.decode()

    inside(scene)
