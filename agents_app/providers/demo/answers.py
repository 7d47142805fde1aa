"""Which rule answers: by the agent and the scope."""

from __future__ import annotations

from agents_app.providers.demo import (
    asking,
    fields,
    illustrating,
    search_texts,
    tidying,
    translating,
)
from agents_app.providers.demo.texts import modules_of, section
from agents_app.providers.port import Toolbox
from core.json import JsonObject


def answer(agent_id: str, payload: JsonObject, tools: Toolbox | None = None) -> JsonObject:
    """The answer of the rules to a payload, for the agent of that id."""
    tools = tools or Toolbox()
    context = section(payload, "context")
    if payload.get("scope") == "field":
        return fields.proposed(payload, tools)
    post = section(payload, "post")
    if not post:
        return asking.answered(context, tools)
    modules = modules_of(payload)
    if agent_id == "seo-specialist":
        return search_texts.proposed(post, modules)
    if agent_id == "translator":
        return translating.proposed(post, modules, context)
    if agent_id == "illustrator":
        return illustrating.proposed(post, context, tools)
    return tidying.proposed(post, modules, context)
