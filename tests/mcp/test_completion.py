"""Completion of arguments, limited to values the caller may list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import mcp.types as wire
import pytest
from mcp.shared.exceptions import MCPError

from content.models import Post
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol import completion
from proofroom.core.content_scope import ContentScope
from tests import make
from tests.mcp.calling import by

Request = Callable[..., Any]
pytestmark = pytest.mark.django_db


def completed(
    prompt: str, name: str, typed: str = "", who: Principal | None = None, **given: str
) -> list[str]:
    params = wire.CompleteRequestParams(
        ref=wire.PromptReference(type="ref/prompt", name=prompt),
        argument=wire.CompletionArgument(name=name, value=typed),
        context=wire.CompletionContext(arguments=given),
    )
    return completion.complete_argument(who or by("ai_agent"), params).completion.values


def of_template(uri: str, name: str, typed: str = "") -> wire.Completion:
    params = wire.CompleteRequestParams(
        ref=wire.ResourceTemplateReference(type="ref/resource", uri=uri),
        argument=wire.CompletionArgument(name=name, value=typed),
    )
    return completion.complete_argument(by("ai_agent"), params).completion


def post(**fields: Any) -> str:
    return str(make.post(**fields).pk)


def test_a_client_completes_over_the_protocol(client: Request) -> None:
    there = post(title="Bread")
    ref = wire.ResourceTemplateReference(type="ref/resource", uri="cms://posts/{id}")

    found = client("complete", ref, {"name": "id", "value": "brea"}).completion

    assert (found.values, found.total, found.has_more) == ([there], 1, False)


def test_posts_are_found_by_title_slug_and_id_the_latest_first() -> None:
    first = post(title="Fresh bread", slug="one")
    second = post(title="Two", slug="more-bread")
    gone = make.post(title="Old bread", slug="three")
    Post.objects.filter(pk=gone.pk).update(deleted_at=gone.created_at)

    assert completed("improve-seo", "postId", "BREAD") == [second, first]
    assert completed("improve-seo", "postId", "more-b") == [second]
    assert completed("improve-seo", "postId", first[:13]) == [first]
    assert completed("improve-seo", "postId", first.upper()) == [first]
    assert completed("improve-seo", "postId") == [second, first]
    assert completed("improve-seo", "postId", "100%") == []


def test_at_most_a_hundred_are_answered_and_the_rest_counted(
    django_assert_num_queries: Any,
) -> None:
    who = by("ai_agent")
    make.copies(
        make.post(),
        120,
        id=lambda number: UUID(int=number + 1),
        slug=lambda number: f"post-{number}",
        translation_group=lambda number: UUID(int=number + 1),
    )

    params = wire.CompleteRequestParams(
        ref=wire.PromptReference(type="ref/prompt", name="improve-seo"),
        argument=wire.CompletionArgument(name="postId", value=""),
    )
    with django_assert_num_queries(3):  # the account, the ids, their number
        found = completion.complete_argument(who, params).completion

    assert (len(found.values), found.total, found.has_more) == (100, 121, True)


def test_a_translation_is_offered_where_the_post_has_none() -> None:
    english = make.post(title="Bread")
    make.post(title="Brot", slug="brot", locale="de", translation_of=english)
    other = post(title="Milk", slug="milk")

    taken = completed("translate-post", "locale", postId=str(english.pk))
    assert not {"en", "de"} & set(taken)
    assert completed("translate-post", "locale", "d") == ["de"]
    assert "de" in completed("write-post", "locale", postId=str(english.pk))
    assert completed("translate-post", "postId", locale="de") == [other]


def test_only_posts_with_something_staged_are_offered_for_review() -> None:
    post(title="Untouched")
    staged = make.post(title="Touched", slug="touched")
    make.staged(staged, {"title": "Touched again"})

    assert completed("review-changes", "postId") == [str(staged.pk)]


@pytest.mark.parametrize(
    ("prompt", "name", "typed", "found"),
    [
        ("write-post", "type", "blo", ["blog"]),
        ("write-post", "agentId", "seo-s", ["seo-specialist"]),
        ("write-post", "brief", "An essay", []),
        ("write-post", "type", "x" * 5000, []),
    ],
)
def test_short_lists_are_narrowed_by_what_was_typed(
    prompt: str, name: str, typed: str, found: list[str]
) -> None:
    assert completed(prompt, name, typed) == found


def test_the_variables_of_addresses_are_completed() -> None:
    there = post(title="Bread")

    assert "hero" in of_template("cms://modules/{type}", "type", "her").values
    assert of_template("cms://posts/{id}", "id", "bread").values == [there]


def test_nothing_is_offered_that_the_caller_may_not_list() -> None:
    post(title="Bread")
    few = Principal(id="client:few", user_id=make.user("editor").pk, tools=frozenset({"get_media"}))

    assert completed("improve-seo", "postId", who=few) == []
    assert completed("write-post", "type", who=few) == []
    assert completed("write-post", "agentId", who=few) == []


@pytest.mark.parametrize(
    ("prompt", "name", "typed", "message"),
    [
        ("nothing", "postId", "", "Unknown prompt: nothing."),
        ("improve-seo", "locale", "", "improve-seo takes no argument 'locale'"),
        ("improve-seo", "postId", "a\x00b", "value "),
    ],
)
def test_an_unknown_completion_is_refused_with_the_reason(
    prompt: str, name: str, typed: str, message: str
) -> None:
    with pytest.raises(MCPError) as caught:
        completed(prompt, name, typed)

    assert caught.value.code == -32602
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize(("uri", "name"), [("cms://x/{id}", "id"), ("cms://posts/{id}", "postId")])
def test_an_unknown_template_or_variable_is_reported(uri: str, name: str) -> None:
    with pytest.raises(MCPError) as caught:
        of_template(uri, name)

    assert caught.value.code == -32602


def test_completions_count_as_calls(environment: Callable[..., None]) -> None:
    environment(throttle_mcp="1/day")
    who = Principal(id="client:hasty", user_id=make.user("editor").pk)

    assert completed("write-post", "type", "blog", who=who) == ["blog"]
    with pytest.raises(MCPError, match="Too many calls"):
        completed("write-post", "type", "blog", who=who)


@pytest.mark.parametrize("reads_all", [False, True])
def test_posts_outside_of_what_one_may_see_are_not_completed(reads_all: bool) -> None:
    scope = ContentScope(types=frozenset({"page"}), reads_all=reads_all)
    make.site_role("desk", "posts.view", scope=scope)
    inside = post(title="Bread inside", type="page", slug="inside")
    outside = post(title="Bread outside", slug="outside")

    found = completed("improve-seo", "postId", "bread", who=by("desk"))

    assert found == ([outside, inside] if reads_all else [inside])
    for typed in ("outside", outside[:13]):
        hidden = completed("improve-seo", "postId", typed, who=by("desk"))
        assert hidden == ([outside] if reads_all else [])
