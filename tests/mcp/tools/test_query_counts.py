"""The number of statements of a reading tool: the same for fifty objects as for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.document.document import PostDocument
from content.models import Draft, Layer, ModuleInstance, Post, Revision
from content.posts.edit import edit_post
from content.store import document_edits
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool, result_text
from proofroom.core.tools import get_tool
from proofroom_apps.previews.models import PreviewLink
from tests import make
from tests.contract.test_tool_walk import TOOLS, arguments_of

pytestmark = pytest.mark.django_db
MANY: Final = 50
OWN: Final = 2
"""Statements of every call: the account, and the log's row."""
EXACTLY: Final = {"list_posts": OWN + 2, "get_post_context": OWN + 1, "list_post_types": OWN + 1}
# These look at each thing itself, up to a bound: files on the disk, what another process prints, batches of posts.
APART: Final = frozenset(
    {"audit_posts", "check_media_integrity", "run_ace_command", "test_local_route"}
)


def _reading() -> list[str]:
    found = []
    for name in sorted(TOOLS):
        tool = get_tool(name)
        if tool is not None and tool.kind == "read" and name not in APART:
            found.append(name)
    return found


def _statements(name: str, post: Post, principal: Principal) -> int:
    """Return the number of statements, without the preparation of arguments."""
    arguments = arguments_of(name, post)
    tool = get_tool(name)
    if tool is not None and "limit" in tool.arguments.model_fields:
        arguments["limit"] = 100
    call_tool(principal, name, arguments)  # what is looked up only once is in memory now
    with CaptureQueriesContext(connection) as caught:
        result = call_tool(principal, name, arguments)
    assert not result.is_error, result_text(result)
    return len([row for row in caught if not row["sql"].startswith(("SAVEPOINT", "RELEASE"))])


def _grow(post: Post) -> None:
    def more(document: PostDocument) -> PostDocument:
        for place in range(MANY):
            document, _ = document_edits.add_module(
                document, type="callout", props={"title": f"Callout {place}"}
            )
        return document

    edit_post(post_id=post.pk, actor=make.actor("admin"), edit=more)
    posts = make.copies(
        post,
        MANY,
        slug=lambda place: f"copy-{place}",
        path=lambda place: f"/blog/copy-{place}",
        translation_group=lambda place: uuid4(),
    )
    for draft in Draft.objects.filter(post=post):
        make.copies(draft, MANY, post_id=lambda place: posts[place].pk)
    revision = Revision.objects.filter(post=post).first()
    assert revision is not None
    make.copies(revision, MANY, version=lambda place: 100 + place)
    link = PreviewLink.objects.filter(post=post).first()
    assert link is not None
    make.copies(link, MANY, token_hash=lambda place: f"{place:064}")
    make.copies(make.image(), MANY)
    make.copies(make.term("Coffee"), MANY, slug=lambda place: f"term-{place}")
    make.copies(
        ModuleInstance.objects.get(global_slug="newsletter"),
        MANY,
        global_slug=lambda place: f"shared-{place}",
    )


def test_a_tool_that_reads_takes_as_many_statements_for_fifty_as_for_one(
    environment: Callable[..., None],
) -> None:
    environment(throttle_mcp="off", throttle_mcp_tool="off")
    post = make.post()
    # As one that is proposed only: its title waits, too.
    post.is_placeholder = True
    post.save(update_fields=["is_placeholder"])
    make.global_module()
    make.staged(post, {"title": "Proposed"})
    make.staged(post, {"metaTitle": "From a person"}, layer=Layer.REVIEW)
    principal = Principal(id="counted", user_id=make.user("admin").pk, diagnostics=True)
    names = _reading()
    few: dict[str, Any] = {name: _statements(name, post, principal) for name in names}
    _grow(post)
    cache.clear()

    many: dict[str, Any] = {name: _statements(name, post, principal) for name in names}

    assert {name: (few[name], many[name]) for name in names if many[name] > few[name]} == {}
    assert {name: many[name] for name in EXACTLY} == EXACTLY
