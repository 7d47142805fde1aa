"""Every interface × a role with another content scope: objects outside are hidden and unchanged.

The scenes of the other walks contain posts of the type `blog`; the role here has every limitable
permission, for posts of the type `page` only.
"""

from __future__ import annotations

from typing import Any, Final

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.models import Layer, Post
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.accounts.models import User
from proofroom.accounts.roles import PERMISSIONS, assignable_permissions
from proofroom.accounts.services.tokens import create_token
from proofroom.core.caching.answer_cache import answers
from proofroom.core.content_scope import WHOLE_SITE, ContentScope
from tests import make
from tests.accounts.bearer import program
from tests.api.refusals import stored
from tests.api_client import ApiClient
from tests.contract import endpoint as tables
from tests.contract.endpoint import Area, Endpoint, areas
from tests.contract.test_admin_walk import ADDRESSES, filled, who
from tests.contract.test_api_walk import succeed
from tests.contract.test_tool_walk import TOOLS, arguments_of

pytestmark = pytest.mark.django_db

PAGES: Final = ContentScope(types=frozenset({"page"}))
EVERYWHERE: Final = ContentScope(types=frozenset({"blog", "page"}))
"""A scope that is checked for each post, and contains nearly all of the scenes."""
FEW, MORE = 10, 200
LIMITABLE: Final = sorted(assignable_permissions() & PERMISSIONS - WHOLE_SITE)
SHARED: Final = ("/api/menus", "/api/modules/global")
"""Shared by all pages and not limited: menus are public, and global modules change everywhere."""
STAGED: Final = ("From an agent", "From an editor", "From a person", "Waits")


def limited_program() -> ApiClient:
    """Return a program that calls as an administrator, with a token limited like the role."""
    _token, secret = create_token(
        name="Walk", permissions=LIMITABLE, actor=make.actor("admin"), scope=PAGES
    )
    return program(secret)


def limited_user() -> User:
    if not User.objects.filter(username="pages").exists():
        make.site_role("pages", *LIMITABLE, scope=PAGES)
    return make.user("pages")


def secret_words() -> list[str]:
    """Return the live and staged texts and titles of posts outside of the scope."""
    outside = Post.objects.exclude(type="page")
    rows = outside.values_list("title", "slug")
    return [*{word for row in rows for word in row}, "Grind the beans", *STAGED]


def assert_tells_nothing(content: bytes, words: list[str], asked: str) -> None:
    text = content.decode("utf-8", "replace")
    for word in words:
        assert word not in text.replace(asked, ""), (asked, word, text[:3000])


def rows_of_posts() -> tuple[object, ...]:
    return stored()[:4]


@pytest.mark.parametrize("caller", ["role", "token"])
@pytest.mark.parametrize(
    ("area", "endpoint"),
    [
        pytest.param(area, item, id=item.address)
        for area in areas()
        for item in area.endpoints
        if not item.address.partition(" ")[2].startswith("/api/public")
    ],
)
def test_the_api_neither_shows_nor_changes_what_is_outside(
    area: Area, endpoint: Endpoint, caller: str
) -> None:
    names = area.scene()
    limited_user()
    client = ApiClient("pages") if caller == "role" else limited_program()
    words, before = secret_words(), rows_of_posts()

    response = succeed(endpoint, names, client)

    assert response.status_code < 500
    if not endpoint.path.startswith(SHARED):
        assert rows_of_posts() == before
    if not response.streaming and not endpoint.path.startswith(SHARED[:1]):
        assert_tells_nothing(response.content, words, str(endpoint.body))


@pytest.mark.parametrize(
    ("area", "endpoint"),
    [
        pytest.param(area, item, id=item.address)
        for area in areas()
        for item in area.endpoints
        if item.grow is not None
    ],
)
def test_a_list_takes_as_many_statements_however_much_is_inside(
    area: Area, endpoint: Endpoint
) -> None:
    names = area.scene()
    grow = endpoint.grow
    assert grow is not None
    make.site_role("inside", *LIMITABLE, scope=EVERYWHERE)
    if ApiClient("inside").get(tables.filled(endpoint.path, names)).status_code == 403:
        return  # of the whole site
    found = []

    for number in (FEW, MORE):
        grow(number)
        answers.clear()
        client = ApiClient("inside")
        with CaptureQueriesContext(connection) as caught:
            response = client.get(tables.filled(endpoint.path, names) + "?per_page=100")
        assert response.status_code == 200, response.content[:500]
        found.append((len(caught), response.json()["meta"]["total"]))

    assert found[0][0] == found[1][0]
    assert found[1][1] == found[0][1] + MORE


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_admin_shows_nothing_of_what_is_outside(address: str) -> None:
    post = make.post()
    make.user("editor")
    make.staged(post, {"excerpt": "Waits"})
    make.staged(post, {"title": "Waits"}, layer=Layer.REVIEW)
    limited_user()
    path, words, before = filled(address, post), secret_words(), rows_of_posts()
    if who(address) is None:
        return

    response = ApiClient("pages").get(path)

    assert response.status_code < 500
    assert rows_of_posts() == before
    if not response.streaming:
        assert_tells_nothing(response.content, words, path)


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_tools_neither_show_nor_change_what_is_outside(name: str) -> None:
    post = make.post()
    make.term("Coffee")
    make.global_module()
    make.staged(post, {"excerpt": "From an agent"})
    make.staged(post, {"metaTitle": "From a person"}, layer=Layer.REVIEW)
    arguments = arguments_of(name, post)
    words, before = secret_words(), rows_of_posts()
    principal = Principal(id="walk", user_id=limited_user().pk)

    result = call_tool(principal, name, arguments)

    assert rows_of_posts() == before
    asked = " ".join(map(str, arguments.values()))
    assert_tells_nothing(_text(result).encode(), words, asked)


def _text(result: Any) -> str:
    return " ".join([*(part.text for part in result.content), str(result.structured_content)])
