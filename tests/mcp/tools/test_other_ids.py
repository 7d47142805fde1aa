"""Ids of trashed, unknown and other posts' objects: all are answered as not found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from content.posts.trash import delete_post
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool, result_text
from tests import make
from tests.contract.test_tool_walk import LOGS, TOOLS, arguments_of
from tests.mcp.tools import tables

pytestmark = pytest.mark.django_db
OF_A_POST = sorted(
    name for name, (_, given) in TOOLS.items() if {"POST", "PROSE"} & {*map(str, given.values())}
)


def refused(principal: Principal, name: str, arguments: dict[str, Any]) -> tuple[str, str]:
    """Return code and text of the refusal, and check that nothing changed."""
    before = tables.hashes()
    result = call_tool(principal, name, arguments)
    assert result.is_error, (name, result_text(result))
    assert tables.changed(before) <= LOGS, name
    assert result.meta is not None
    return result.meta["cms/error"]["code"], result_text(result)


def test_a_post_in_the_trash_is_as_one_that_never_was(environment: Callable[..., None]) -> None:
    environment(throttle_mcp="off", throttle_mcp_tool="off")
    post = make.post()
    principal = Principal(id="trash", user_id=make.user("admin").pk)
    given = {name: arguments_of(name, post) for name in OF_A_POST}
    delete_post(post_id=post.pk, actor=make.actor("admin"))

    for name, arguments in given.items():
        key = next(name for name in ("postId", "post", "postModuleId") if name in arguments)
        absent = str(uuid4())
        in_trash = refused(principal, name, arguments)
        never = refused(principal, name, {**arguments, key: absent})

        assert in_trash[0] == "not_found", (name, in_trash)
        if key != "postModuleId":
            assert in_trash == (never[0], never[1].replace(absent, str(post.pk))), name


@pytest.mark.parametrize(
    ("name", "key"),
    [("get_post_revision", "revisionId"), ("revoke_post_preview_link", "linkId")],
)
def test_what_belongs_to_another_post_is_not_found_by_this_one(name: str, key: str) -> None:
    post, other = make.post(), make.post("Other", slug="other")
    arguments = {**arguments_of(name, post), key: arguments_of(name, other)[key]}
    principal = Principal(id="other", user_id=make.user("admin").pk)

    code, text = refused(principal, name, arguments)

    assert code == "not_found"
    assert "Other" not in text
