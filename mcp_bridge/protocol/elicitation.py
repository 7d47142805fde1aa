"""Questions to the person behind a client, if a call needs the person's decision.

There is one: a draft changed after the client read it. Clients that declare elicitation ask the
person whether to stage on top of the current draft; others get the refusal and read the draft
again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import anyio
import mcp.types as wire
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from mcp_bridge.protocol.tool_calls import CallAnswer

Context = ServerRequestContext[Any, Any]
ASK_SECONDS: Final = 300.0
"""Maximum seconds for an answer in revisions where the call waits. No thread is blocked meanwhile."""
STALE: Final = "stale_version"
"""The error code that has a question, also used as the key of the question."""
EXPECTED_VERSION: Final = "expectedVersion"
_FIELD: Final = "stage"
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        _FIELD: {
            "type": "boolean",
            "title": "Stage on top of the draft as it is now",
            "description": "Fields that you change replace what is staged there; all others stay.",
            "default": False,
        }
    },
    "required": [_FIELD],
}


def can_ask(ctx: Context, answer: CallAnswer, raw: Mapping[str, Any]) -> bool:
    """Return True if the answer is a refusal with a question, and the client can ask its person."""
    if answer.code != STALE or EXPECTED_VERSION not in raw:
        return False
    declared = ctx.session.client_capabilities
    elicitation = declared.elicitation if declared is not None else None
    # An empty declaration means forms, for compatibility with revisions that had no other mode.
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def question(refused: CallAnswer) -> wire.ElicitRequestFormParams:
    message = f"{refused.text}\n\nStage the changes on top of the draft as it is now?"
    return wire.ElicitRequestFormParams(message=message, requested_schema=_SCHEMA)


def input_required(refused: CallAnswer) -> dict[str, Any]:
    """Return the newest revision's answer that contains the question: the client asks and repeats the call."""
    form = question(refused).model_dump(by_alias=True, mode="json", exclude_none=True)
    return {
        "resultType": "input_required",
        "inputRequests": {STALE: {"method": "elicitation/create", "params": form}},
    }


def answer_in(params: Mapping[str, Any]) -> bool | None:
    """Return the person's answer in a repeated call; None if there was no question."""
    responses = params.get("inputResponses")
    answer = responses.get(STALE) if isinstance(responses, dict) else None
    return _is_yes(answer) if isinstance(answer, dict) else None


async def ask(ctx: Context, refused: CallAnswer) -> bool:
    """Ask during the call, as in older revisions. Return False without an answer."""
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS or not ctx.session.can_send_request:
        return False
    form = question(refused)
    with anyio.move_on_after(ASK_SECONDS):
        try:
            answer = await ctx.session.elicit_form(
                form.message, form.requested_schema, ctx.request_id
            )
        except (MCPError, NoBackChannelError, ValidationError):
            return False
        return _is_yes({"action": answer.action, "content": answer.content})
    return False


def _is_yes(answer: Mapping[str, Any]) -> bool:
    content = answer.get("content")
    return (
        answer.get("action") == "accept"
        and isinstance(content, dict)
        # Anything but an explicit yes is a no.
        and content.get(_FIELD) is True
    )
