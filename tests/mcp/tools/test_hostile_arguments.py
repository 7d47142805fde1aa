"""Every tool as every role with invalid arguments: an error with advice, and no change."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

import pytest

from content.models import Layer
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool, result_text
from proofroom.core.tools import get_tool
from proofroom.core.tools.schemas import lean_schema
from tests import make
from tests.contract.test_tool_walk import LOGS, ROLES, TOOLS, arguments_of
from tests.mcp.tools import hostile, tables

pytestmark = pytest.mark.django_db
LONGEST = 4_000
"""Maximum characters of an error message."""


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_what_does_not_fit_is_refused_with_a_lesson_and_changes_nothing(
    name: str, environment: Callable[..., None]
) -> None:
    environment(throttle_mcp="off")
    post = make.post()
    make.global_module()
    make.staged(post, {"excerpt": "From an agent"})
    make.staged(post, {"metaTitle": "From a person"}, layer=Layer.REVIEW)
    fitting, tool = arguments_of(name, post), get_tool(name)
    assert tool is not None
    principals = [
        (role, Principal(id=f"hostile-{role}", user_id=make.user(role).pk, diagnostics=True))
        for role in ROLES
    ]
    before = tables.hashes()
    bad = []

    for (wrong, raw), (role, principal) in zip(
        hostile.calls(lean_schema(tool.arguments), fitting), cycle(principals), strict=False
    ):
        result = call_tool(principal, name, raw)
        code = result.meta["cms/error"]["code"] if result.meta else "accepted"
        is_let_in = role in TOOLS[name][0]
        if (code == "not_allowed") == is_let_in or code in ("accepted", "internal"):
            bad.append((wrong, role, code, result_text(result)[:300]))
        if not 10 < len(result_text(result)) < LONGEST:
            bad.append((wrong, role, len(result_text(result)), result_text(result)[:300]))

    assert not bad, "\n".join(map(str, bad))
    assert tables.changed(before) <= LOGS
