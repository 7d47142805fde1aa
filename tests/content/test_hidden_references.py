"""Posts and files hidden from a user cannot be newly referenced; they answer like missing ones."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID, uuid4

import pytest

from agents_app.admin.agents.definition_labels import begin_of_month
from agents_app.definitions.agents import limit_agent
from agents_app.runs.creation import create_run
from agents_app.runs.queries import acceptance_rates
from content.layers import approve, stage
from content.layers.submit import submit
from content.models import Draft, Layer, Post, PostTerm
from content.posts.edit import edit_post
from content.posts.move import Place, move_posts, plan_move
from content.store import document_edits
from content.store.digest import digest_of
from content.tools.arguments import resolve_author
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from media.models import Asset
from proofroom.accounts.roles import GRANTS, PERMISSIONS
from proofroom.accounts.services.roles import change_role
from proofroom.core.actor import Actor
from proofroom.core.content_scope import WHOLE_SITE, ContentScope
from proofroom.core.errors import Conflict, NotAllowed, RuleViolation
from proofroom_apps.menus.services import change_menu, create_menu
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

LIMITABLE = sorted(PERMISSIONS & GRANTS["admin"] - WHOLE_SITE)

PAGES = ContentScope(types=frozenset({"page"}))


@pytest.fixture
def desk() -> Actor:
    make.site_role("desk", *LIMITABLE, scope=PAGES)
    return make.actor("desk", via="admin")


@pytest.fixture
def inside() -> Post:
    return make.post("Inside", type="page", slug="inside")


@pytest.fixture
def hidden() -> Post:
    """Create a blog post with its own picture."""
    picture = make.image("hidden.png")
    return make.post("Hidden", slug="hidden", featuredMediaId=str(picture.pk))


def write(post: Post, actor: Actor, **fields: str) -> None:
    edit_post(post_id=post.pk, actor=actor, edit=lambda document: document.with_fields(fields))


def refusal(call: Any) -> str:
    with pytest.raises(RuleViolation) as refused:
        call()
    return refused.value.message


def test_a_hidden_file_is_named_no_more_than_one_that_is_not_there(
    desk: Actor, inside: Post, hidden: Post
) -> None:
    picture, nowhere = str(hidden.featured_media_id), str(uuid4())

    def place(id_: str) -> None:
        write(inside, desk, featuredMediaId=id_)

    assert refusal(lambda: place(picture)).replace(picture, nowhere) == refusal(
        lambda: place(nowhere)
    )
    shared = make.image("shared.png")
    place(str(shared.pk))


def test_nor_is_a_hidden_post_or_the_address_of_a_hidden_file(
    desk: Actor, inside: Post, hidden: Post
) -> None:
    address = Asset.objects.get(pk=str(hidden.featured_media_id)).file.url

    def stage_prose(markdown: str) -> None:
        prose = make.module_id(inside, "prose")
        stage(
            post_id=inside.pk,
            layer=Layer.REVIEW,
            actor=desk,
            edit=lambda document: document_edits.update_module(
                document, prose, content_markdown=markdown
            ),
        )

    assert "media file" in refusal(lambda: stage_prose(f"![Alt]({address})"))
    write(inside, make.actor("admin"), featuredMediaId=str(hidden.featured_media_id))
    # Now a post inside uses it, too.
    stage_prose(f"![Alt]({address})")


def test_references_set_by_others_survive_edits_and_approvals(
    desk: Actor, inside: Post, hidden: Post
) -> None:
    picture = str(hidden.featured_media_id)
    make.staged(inside, {"featuredMediaId": picture})
    submit(post_id=inside.pk, actor=desk)
    digest = digest_of(make.layers(inside).review.changes)

    approve(post_id=inside.pk, actor=desk, digest=digest)

    inside.refresh_from_db()
    assert str(inside.featured_media_id) == picture
    write(inside, desk, excerpt="Still there")


def test_a_menu_names_no_hidden_post(desk: Actor, inside: Post, hidden: Post) -> None:
    def item(post: Post) -> dict[str, str]:
        return {"type": "post", "postId": str(post.pk), "label": post.title}

    menu = create_menu(
        actor=make.actor("admin"), name="Top", slug="top", locale="en", items=[item(hidden)]
    )

    with pytest.raises(RuleViolation):
        create_menu(actor=desk, name="Foot", slug="foot", locale="en", items=[item(hidden)])
    # Existing references stay.
    change_menu(menu_id=menu.pk, actor=desk, items=[item(hidden), item(inside)])
    change_menu(menu_id=menu.pk, actor=desk, items=[item(inside)])
    with pytest.raises(RuleViolation):
        change_menu(menu_id=menu.pk, actor=desk, items=[item(inside), item(hidden)])


def test_the_editor_finds_no_hidden_post_by_its_path(
    desk: Actor, inside: Post, hidden: Post
) -> None:
    def typed(path: str) -> str:
        body = {"parentId~other": path, "was": "{}"}
        client = ApiClient("desk")
        answer = client.post(
            f"/admin/content/post/{inside.pk}/live-preview/", {**body, **client._headers()}
        )
        return answer.content.decode().replace(path, "")

    assert str(hidden.pk) not in typed(hidden.path)


def test_terms_and_agents_count_what_is_seen() -> None:
    term = make.term("Coffee")
    posts = [
        make.post(slug, locale=locale, slug=slug, taxonomyTermIds=[str(term.pk)])
        for slug, locale in (("one", "en"), ("two", "de"), ("three", "de"))
    ]
    make.site_role("english", *LIMITABLE, scope=ContentScope(locales=frozenset({"en"})))
    agent = "seo-specialist"
    for post in posts:
        create_run(agent_id=agent, scope="dropdown", actor=make.actor("editor"), post_id=post.pk)

    def uses(role: str) -> str:
        page = ApiClient(role).get("/admin/proofroom_taxonomies/term/?q=Coffee")
        found = re.search(r'class="field-uses">(\d+)<', page.content.decode())
        return found[1] if found else page.content.decode()

    assert (uses("admin"), uses("english")) == ("3", "1")
    rates = [acceptance_rates(begin_of_month(), make.actor(role)) for role in ("admin", "english")]
    assert [rate[agent].runs for rate in rates] == [3, 1]


def test_a_role_keeps_a_limit_to_what_is_gone_when_the_rest_changes(inside: Post) -> None:
    scope = ContentScope(sections=frozenset({inside.pk}))
    make.site_role("hall", "posts.view", scope=scope)
    Post.objects.filter(pk=inside.pk).delete()

    changed = ApiClient("admin").write("PATCH", "/api/roles/hall", {"description": "Theirs"})

    assert changed["scope"]["sections"] == [str(inside.pk)]
    with pytest.raises(RuleViolation):
        change_role(
            name="hall",
            label="Hall",
            permissions=["posts.view"],
            scope=scope,
            actor=make.actor("admin"),
        )


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
