"""Hidden siblings, children and translations of posts are neither revealed nor changed."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from agents_app.definitions.agents import limit_agent
from content.models import Draft, Post, PostTerm
from content.posts.move import Place, move_posts, plan_move
from content.tools.arguments import resolve_author
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.accounts.roles import GRANTS
from proofroom.core.content_scope import WHOLE_SITE, ContentScope
from proofroom.core.errors import Conflict, NotAllowed
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
LIMITABLE = sorted(GRANTS["admin"] - WHOLE_SITE)
AGENT = "seo-specialist"


def tool(role: str, name: str, **arguments: Any) -> Any:
    return call_tool(Principal(id="client", user_id=make.user(role).pk), name, arguments)


def text_of(answer: Any) -> str:
    return str(answer.content[0].text)


def limited(name: str, **scope: frozenset[Any]) -> None:
    make.site_role(name, *LIMITABLE, scope=ContentScope(**scope))


@pytest.mark.parametrize("author", [{}, {"agentId": AGENT}, {"agentId": "made-up"}])
def test_no_name_of_an_agent_takes_off_what_the_caller_is_limited_to(author: Any) -> None:
    make.user("ai_agent", AGENT.replace("-", "_"))
    make.site_role(
        "pages",
        *LIMITABLE,
        scope=ContentScope(types=frozenset({"page"}), locales=frozenset({"en"}), reads_all=True),
    )
    outside, inside = make.post(), make.post("A page", type="page", slug="a-page")
    id_ = str(outside.pk)

    for answer in (
        tool("pages", "create_post_ai_review", type="blog", title="Outside", **author),
        tool("pages", "save_post_ai_review", postId=id_, patch={"excerpt": "x"}, **author),
        tool("pages", "create_translation_ai_review", postId=str(inside.pk), locale="de", **author),
        tool("pages", "submit_ai_review_to_review", postId=id_, **author),
    ):
        assert answer.is_error
        assert "does not cover" in text_of(answer)
    assert Post.objects.count() == 2
    assert not Draft.objects.exists()
    own = tool(
        "pages", "save_post_ai_review", postId=str(inside.pk), patch={"excerpt": "x"}, **author
    )
    assert not own.is_error


def test_what_is_written_in_the_name_of_an_agent_is_within_its_own_limits() -> None:
    make.user("ai_agent", AGENT.replace("-", "_"))
    scope = ContentScope(types=frozenset({"page"}))
    limit_agent(agent_id=AGENT, scope=scope, actor=make.actor("admin"))

    author = resolve_author(make.mcp_actor("editor"), AGENT)

    assert list(author.scopes) == [scope]
    post = make.post()
    answer = tool(
        "editor", "save_post_ai_review", postId=str(post.pk), patch={"excerpt": "x"}, agentId=AGENT
    )
    assert answer.is_error


def test_hidden_translations_are_neither_listed_nor_named() -> None:
    page = make.post("A page", type="page", slug="a-page")
    hidden = make.post("Geheim", type="page", slug="geheim", locale="de", translation_of=page)
    limited("english", locales=frozenset({"en"}))
    api, id_ = ApiClient("english"), str(page.pk)

    said = [
        api.get(f"/api/posts/{id_}").content.decode(),
        api.get(f"/api/posts/{id_}/export").content.decode(),
        str(api.write("PUT", f"/api/posts/{id_}", {"excerpt": "New"})),
        text_of(tool("english", "get_post_context", postId=id_)),
        text_of(tool("english", "export_post_canonical_json", postId=id_)),
        text_of(tool("english", "create_translations_ai_review_bulk", postId=id_, locales=["de"])),
    ]

    assert [str(hidden.pk) in answer for answer in said] == [False] * 6
    refused = [
        said[-1],
        text_of(tool("english", "create_translation_ai_review", postId=id_, locale="de")),
        api.send("POST", f"/api/posts/{id_}/translations", {"locale": "de"}).content.decode(),
    ]
    assert ["does not cover" in answer for answer in refused] == [True] * 3
    assert str(hidden.pk) in ApiClient("editor").get(f"/api/posts/{id_}").content.decode()


def test_a_module_of_a_hidden_post_is_none() -> None:
    post = make.post()
    limited("pages", types=frozenset({"page"}))
    api = ApiClient("pages")

    def answers(module: str) -> list[str]:
        said = [
            text_of(tool("pages", "update_post_module_ai_review", postModuleId=module, props={})),
            text_of(tool("pages", "remove_post_module_ai_review", postModuleId=module)),
            api.send("PUT", f"/api/post-modules/{module}", {"props": {}}).content.decode(),
            api.send("DELETE", f"/api/post-modules/{module}").content.decode(),
        ]
        return [text.replace(module, "<id>") for text in said]

    assert answers(make.module_id(post, "prose")) == answers(str(uuid4()))


def places() -> dict[str, tuple[int, int]]:
    rows = Post.objects.values_list("slug", "order_index", "version")
    return {slug: (order, version) for slug, order, version in rows}


def test_a_move_changes_no_page_outside_and_names_none() -> None:
    first, second, mine = (
        make.post(slug, type="page", slug=slug, orderIndex=order)
        for order, slug in enumerate(("secret-a", "secret-b", "mine"), 1)
    )
    limited("mine", sections=frozenset({mine.pk}))
    make.site_role(
        "reader", *LIMITABLE, scope=ContentScope(sections=frozenset({mine.pk}), reads_all=True)
    )
    before = places()

    def move(role: str, before_id: UUID) -> None:
        move_posts(post_ids=[mine.pk], place=Place(None, before_id), actor=make.actor(role))

    with pytest.raises(Conflict):
        move("mine", second.pk)
    with pytest.raises(NotAllowed, match="would move pages"):
        move("reader", second.pk)
    assert places() == before
    move("reader", first.pk)
    assert places() == before | {"mine": (0, mine.version + 1)}


def test_a_plan_lists_no_hidden_page_below() -> None:
    term = make.term("Alpha")
    up = make.post("Up", type="page", slug="up")
    target = make.post("Target", type="page", slug="target")
    PostTerm.objects.bulk_create(PostTerm(post=post, term=term) for post in (up, target))
    make.post("Secret kid", type="page", slug="secret-kid", parentId=str(up.pk))
    limited("alpha", terms=frozenset({term.pk}))

    def planned(role: str) -> list[str]:
        actor = make.actor(role)
        plan = plan_move(post_ids=[up.pk], parent_id=target.pk, actor=actor)
        assert plan.total == len(plan.changes)
        return [change.before for change in plan.changes]

    assert (planned("alpha"), planned("admin")) == (["/up"], ["/up", "/up/secret-kid"])


def test_no_picture_is_staged_in_a_hidden_post_in_the_name_of_an_agent() -> None:
    hidden = make.post()
    limited("pages", types=frozenset({"page"}))

    answer = tool(
        "pages",
        "generate_image",
        prompt="A cup",
        altText="A cup",
        postId=str(hidden.pk),
        path="post.featuredMediaId",
        agentId="made-up",
    )

    assert answer.is_error
    assert "No post has the ID" in text_of(answer)
    assert not Draft.objects.exists()
