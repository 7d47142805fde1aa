"""The tool that tells a client what became of its proposals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal, cast

from django.utils import timezone
from pydantic import BeforeValidator

from content import presenters
from content.document.changes import ABSENT
from content.document.document import ModuleDocument
from content.inbox.own_proposals import OwnProposal, ProposalState, list_own_proposals
from content.tools.rich_text import present_value
from proofroom.core.actor import Actor
from proofroom.core.json import Json, JsonObject, format_time
from proofroom.core.tools import Result, tool
from proofroom.core.tools.pagination import Paged, ToolPage, open_cursor, seal_cursor, select_fields

_TOOL: Final = "list_my_proposals"


def _refuse_number(value: object) -> object:
    # Pydantic reads a number as seconds since 1970.
    if isinstance(value, int | float) or (isinstance(value, str) and value.strip().isdigit()):
        raise ValueError("send a time such as 2026-11-30 or 2026-11-30T09:00:00Z")
    return value


class ListMyProposals(Paged):
    state: Literal["open", "accepted", "rejected", "edited"] | None = None
    since: Annotated[datetime | None, BeforeValidator(_refuse_number)] = None


class ListedProposal(Result):
    """`note` is what the person wrote, `accepted` the value that a person made of the proposed one."""

    post_id: str
    path: str
    state: Literal["open", "accepted", "rejected", "edited"]
    at: str
    note: str | None = None
    proposed: Any
    accepted: Any = None


class ProposalList(ToolPage):
    items: list[ListedProposal]


@tool(
    title="What became of your proposals",
    kind="read",
    permission="posts.view",
    group="posts",
    result=ProposalList,
)
def list_my_proposals(actor: Actor, arguments: ListMyProposals) -> JsonObject:
    """Your proposals, newest first: open, accepted, rejected with the person's note, or edited before acceptance,
    with both values."""
    since = arguments.since
    if since is not None and timezone.is_naive(since):
        since = timezone.make_aware(since)
    of = f"{_TOOL} {arguments.state} {since} {arguments.format} {actor.principal}"
    after = None
    if arguments.cursor is not None:
        after = cast("tuple[datetime, int, int]", tuple(open_cursor(arguments.cursor, of=of)))
    page = list_own_proposals(
        actor,
        state=None if arguments.state is None else ProposalState(arguments.state),
        since=since,
        after=after,
        limit=arguments.limit,
    )
    rows = [_present(one, arguments.is_full) for one in page.items]
    answer: JsonObject = {
        "items": [*select_fields(arguments, _TOOL, rows)],
        "total": page.total,
    }
    if page.has_more:
        answer["nextCursor"] = seal_cursor(page.items[-1].key, of=of)
    return answer


def _present(one: OwnProposal, full: bool) -> JsonObject:
    wire: JsonObject = {
        "postId": str(one.post_id),
        "path": one.path,
        "state": one.state.value,
        "at": format_time(one.at),
        "proposed": _value(one.proposed, full),
    }
    if one.note:
        wire["note"] = one.note
    if one.accepted is not ABSENT:
        wire["accepted"] = _value(one.accepted, full)
    return wire


def _value(value: Any, full: bool) -> Json:
    if isinstance(value, ModuleDocument) and not full:
        return {"type": value.type, "props": present_value(dict(value.props), full)}
    return present_value(presenters.value_as_json(value), full)
