"""Arguments that several tools share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import BeforeValidator, Field

from proofroom.core.errors import RuleViolation
from proofroom.core.tools import Arguments

_FINDERS: Final[Mapping[str, str]] = {
    "unknown_media": "search_media finds a file",
    "unknown_post": "list_posts finds a post",
    "unknown_term": "list_taxonomy_terms names the terms",
    "unknown_form": "list_registry_items names the forms",
}


def with_finder(error: RuleViolation) -> RuleViolation:
    """The refusal of a reference with the tool that finds what can be named; any other as it is."""
    finder = _FINDERS.get(error.code)
    path = next(iter(error.details), None)
    if finder is None or path is None:
        return error
    message = f"{error.message} {finder}; leave {path} out to keep what is there."
    return RuleViolation(message, code=error.code, details={**error.details, path: [message]})


PostId = UUID
ModuleId = UUID
Markdown = Annotated[str, Field(max_length=200_000)]
Format = Literal["concise", "full"]


def _ids(value: object) -> object:
    return [str(item).lower() for item in value] if isinstance(value, list) else value


Ids = Annotated[list[str], BeforeValidator(_ids), Field(max_length=200)]
Props = dict[str, Any]


class OnPost(Arguments):
    post_id: PostId


class Staging(OnPost):
    """Arguments of a tool that stages: `agentId` names the author."""

    agent_id: str | None = Field(None, max_length=80)
