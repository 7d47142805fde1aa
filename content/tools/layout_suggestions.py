"""Modules for a layout."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from content.module_layouts.suggestions import known_roles, suggest
from content.tools.definition_results import LayoutSuggestion
from content.tools.name_suggestions import require_module_type
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject
from proofroom.core.tools import Arguments, tool

Role = Annotated[str, Field(min_length=1, max_length=80)]


class Suggest(Arguments):
    post_type: str = Field(max_length=80)
    roles: list[Role] = Field([], max_length=20, description="Such as opening, body, closing.")
    brief: str | None = Field(None, max_length=5_000)
    exclude: list[str] = Field([], max_length=100)
    max_per_role: int = Field(3, ge=1, le=20, strict=True)


@tool(
    title="Suggest modules",
    kind="read",
    permission="posts.view",
    arguments=Suggest,
    group="layout",
    result=LayoutSuggestion,
)
def suggest_modules_for_layout(actor: Actor, arguments: Suggest) -> JsonObject:
    """Modules for each layout role that is named, or that a brief calls for by its words; all roles without both."""
    for name in arguments.exclude:
        require_module_type(name, "exclude")
    layout = suggest(
        arguments.post_type,
        roles=arguments.roles,
        brief=arguments.brief or "",
        exclude=arguments.exclude,
        most=arguments.max_per_role,
    )
    answer: JsonObject = {
        "roles": [
            {
                "role": role,
                "candidates": [
                    {
                        "type": item.module.name,
                        "why": item.why,
                        "avoidWhen": list(item.module.ai.avoid_when),
                    }
                    for item in candidates
                ],
            }
            for role, candidates in layout.roles.items()
        ],
        "missingRoles": list(layout.missing),
        "recommendedOrder": list(layout.order),
    }
    known = known_roles()
    if any(role not in known for role in layout.missing):
        answer["knownRoles"] = list(known)
    return answer
