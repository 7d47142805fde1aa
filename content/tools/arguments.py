"""Arguments that several tools share."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BeforeValidator, Field

from proofroom.core.tools import Arguments

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
