"""A post is named by its id, by an address of the site, or by type/locale/slug, wherever a tool takes one."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings

from content.models import Post, Status
from content.posts.trash import delete_post
from mcp_bridge.access.principals import Principal
from proofroom.core.content_scope import ContentScope
from proofroom.core.tools import all_tools
from proofroom.core.tools.schemas import lean_schema
from tests import make
from tests.contract.test_tool_walk import TOOLS, arguments_of
from tests.mcp.calling import by, done, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]


def copy_of(post: Post, **values: object) -> Post:
    """Insert a copy of the post in a translation group of its own."""
    columns = {name: lambda _, value=value: value for name, value in values.items()}
    return make.copies(post, 1, translation_group=lambda _: uuid4(), **columns)[0]


def found(reference: str) -> str:
    answer = done("get_post_context", postId=reference)
    return str(answer["post"]["id"])


@pytest.mark.parametrize(
    "reference",
    [
        "/blog/tea",
        "/blog/tea/",
        "/blog/tea?from=menu#brew",
        "blog/en/tea",
        " /blog/tea ",
        "SITE/blog/tea",
        "/admin/content/post/ID/change/",
    ],
)
def test_each_form_means_the_post(reference: str) -> None:
    post = make.post("Tea", slug="tea")
    make.post("Other", slug="other")

    written = reference.replace("SITE", settings.SITE_URL).replace("ID", str(post.pk))

    assert found(written) == str(post.pk)
    assert found(str(post.pk).upper()) == str(post.pk)


def test_a_translation_is_named_by_its_own_address_and_locale() -> None:
    source = make.post("Tea", slug="tea")
    german = make.post("Tee", slug="tee", locale="de", translation_of=source)

    assert found("/de/blog/tee") == found("blog/de/tee") == str(german.pk)


def test_a_post_that_was_only_proposed_is_named_by_its_proposed_slug() -> None:
    made = done("create_post_ai_review", type="blog", title="Green tea", slug="green-tea")

    assert found("blog/en/green-tea") == made["postId"]


@pytest.mark.parametrize("reference", ["/blog/none", "blog/en/none", "https://x.example/blog/tea"])
def test_an_unknown_address_is_refused(reference: str) -> None:
    make.post("Tea", slug="tea")

    code, text = refused("get_post_context", postId=reference)

    assert code == "unknown_post"
    assert text.endswith("Call list_posts to find the id.")
    is_of_site = not reference.startswith("https")
    assert (f"No post is at {reference}." in text) is is_of_site
    assert ("no address of this site" in text) is not is_of_site


def test_a_post_in_the_trash_has_no_address() -> None:
    post = make.post("Tea", slug="tea")
    delete_post(post_id=post.pk, actor=make.actor("admin"))

    assert refused("get_post_context", postId="/blog/tea")[0] == "unknown_post"


def test_an_ambiguous_slug_is_refused_with_the_ids() -> None:
    first = make.post("Tea", slug="tea")
    second = copy_of(first, parent_id=first.pk, path="/blog/tea/tea")

    code, text = refused("save_post_ai_review", postId="blog/en/tea", patch={"excerpt": "x"})

    assert code == "ambiguous_post"
    assert str(first.pk) in text
    assert f"{second.pk} (/blog/tea/tea)" in text
    # Its address is not ambiguous.
    assert found("/blog/tea/tea") == str(second.pk)


def test_a_published_post_comes_before_a_draft_at_the_same_address() -> None:
    post = make.post("Tea", slug="tea")
    copy_of(post, slug="tea-2", status=Status.DRAFT)

    assert found("/blog/tea") == str(post.pk)


def test_a_post_outside_of_the_scope_is_unknown_at_its_address() -> None:
    make.post("Tea", slug="tea")
    scope = ContentScope(types=frozenset({"page"}))
    make.site_role("pages", "posts.view", scope=scope)

    assert refused("get_post_context", by("pages"), postId="/blog/tea")[0] == "unknown_post"


def _operator() -> Principal:
    return Principal(id="client:references", user_id=make.user("ai_agent").pk, diagnostics=True)


def _names_a_post(name: str) -> bool:
    return "POST" in {*map(str, TOOLS[name][1].values())}


@pytest.mark.parametrize(
    "name", sorted(tool.name for tool in all_tools() if _names_a_post(tool.name))
)
def test_every_tool_that_takes_a_post_takes_its_address(name: str) -> None:
    post = make.post("Tea", slug="tea")
    make.staged(post, {"excerpt": "From an agent"})
    patch = {"metaDescription": "For unstage"}
    done("save_post_ai_review", _operator(), postId=str(post.pk), patch=patch)
    given: dict[str, Any] = arguments_of(name, post)
    given = {key: "/blog/tea" if value == str(post.pk) else value for key, value in given.items()}

    assert str(post.pk) not in given.values()
    assert done(name, _operator(), **given)


def test_no_tool_wants_the_id_of_a_post_alone() -> None:
    for tool in all_tools():
        for name in ("postId", "post"):
            said = lean_schema(tool.arguments)["properties"].get(name, {})
            assert said.get("type", "string") in ("string", "array"), (tool.name, said)
            assert said.get("format") is None
