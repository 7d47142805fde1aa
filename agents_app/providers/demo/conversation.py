"""A conversation with the demo, and the choice of the rule that answers.

It is not a `Model` of pydantic-ai: that import takes 1.3 s of CPU, which a site without a key need
not pay, and each tool call would add a model request to the steps of the run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

from pydantic import BaseModel, ValidationError

from agents_app.providers.demo.proposals import (
    answer_question,
    propose_cleanup,
    propose_field_value,
    propose_picture,
    propose_search_texts,
)
from agents_app.providers.demo.texts import LABEL, modules_of, section
from agents_app.providers.demo.translation import propose_translation
from agents_app.providers.interface import (
    DEMO_PROVIDER,
    ConversationUsage,
    ConversationWatcher,
    ModelAnswer,
    ProviderChoice,
    ProviderError,
    StepRecord,
    ToolAnswer,
    Toolbox,
    ToolSpec,
)
from proofroom.core.json import JsonObject
from proofroom.core.validation.json_schema import Schema


class DemoConversation:
    """Answers by rules. A second question fails, because the rules have only one answer."""

    def __init__(
        self,
        agent_id: str,
        payload: JsonObject,
        output_type: type[BaseModel],
        *,
        system_prompt: str = "",
        toolbox: Toolbox | None = None,
        watcher: ConversationWatcher | None = None,
    ) -> None:
        self.choice = ProviderChoice(DEMO_PROVIDER, DEMO_PROVIDER)
        self.usage = ConversationUsage()
        self._agent_id = agent_id
        self._payload = payload
        self._output_type = output_type
        self._system_prompt = system_prompt
        self._watcher = watcher or ConversationWatcher()
        self._toolbox = _ReportedToolbox(toolbox or Toolbox(), self._watcher)
        self._asked = False

    def ask(self, text: str, *, retries: int, seconds: float) -> ModelAnswer:
        if self._asked:
            raise ProviderError(f"{LABEL} has no other answer. {text}")
        self._asked = True
        self._watcher.said("system", "", self._system_prompt)
        self._watcher.said("user", "", text)
        self._watcher.before_request(input_tokens=0, output_tokens=0)
        step = StepRecord("model", LABEL, True, 0, "rules only")
        self.usage.steps.append(step)
        self._watcher.after_request(step, input_tokens=0, output_tokens=0)
        values = answer(self._agent_id, self._payload, self._toolbox)
        types = {
            str(one.get("postModuleId")): str(one.get("type")) for one in modules_of(self._payload)
        }
        values = limit_answer(values, self._output_type.model_json_schema(), types)
        self._watcher.said("assistant", "", json.dumps(values, ensure_ascii=False))
        try:
            return ModelAnswer(self._output_type.model_validate(values))
        except ValidationError:
            raise ProviderError(f"{LABEL} has no rule for this.") from None

    def stop(self) -> None:
        """Do nothing: the demo answers immediately."""


class _ReportedToolbox(Toolbox):
    """A toolbox that reports its calls to the watcher, as for a model."""

    def __init__(self, toolbox: Toolbox, watcher: ConversationWatcher) -> None:
        self._toolbox = toolbox
        self._watcher = watcher

    def specs(self) -> list[ToolSpec]:
        return list(self._toolbox.specs())

    def call(self, name: str, arguments: JsonObject) -> ToolAnswer:
        self._watcher.said("assistant", name, json.dumps(arguments, ensure_ascii=False))
        result = self._toolbox.call(name, arguments)
        self._watcher.said("tool", name, result.text)
        return result


def limit_answer(
    said: JsonObject, schema: Schema, types: Mapping[str, str] = MappingProxyType({})
) -> JsonObject:
    """Remove what the schema does not name: the rules do not know which fields an agent may propose.

    `types`: the types of the post's modules by id.
    """
    parts: Schema = schema["properties"]
    limited = {name: value for name, value in said.items() if name in parts}
    fields = parts.get("post", {}).get("properties")
    if fields is not None and "post" in limited:
        limited["post"] = {
            name: value for name, value in section(limited, "post").items() if name in fields
        }
    edits, items = limited.get("modules"), parts.get("modules", {}).get("items")
    if items is not None and isinstance(edits, list):
        choices: dict[str, Schema] = {
            one["title"]: one["properties"]["props"] for one in items.get("anyOf", (items,))
        }
        found = [
            _limit_edit(edit, choices.get(types.get(str(edit["postModuleId"]), ""), {}))
            for edit in edits
            if isinstance(edit, dict)
        ]
        limited["modules"] = [edit for edit in found if edit is not None]
    return limited


def _limit_edit(edit: JsonObject, schema: Schema) -> JsonObject | None:
    """Return the edit with only the props in the schema of its module; None if none is left."""
    named = schema.get("properties", {})
    part = "overrides" if "overrides" in edit else "props"
    values = {name: one for name, one in section(edit, part).items() if name in named}
    return {**edit, part: values} if values else None


def answer(agent_id: str, payload: JsonObject, tools: Toolbox | None = None) -> JsonObject:
    """Return the demo's answer to a payload. The agent's id and the scope select the rule."""
    tools = tools or Toolbox()
    context = section(payload, "context")
    if payload.get("scope") == "field":
        return propose_field_value(payload, tools)
    post = section(payload, "post")
    if not post:
        return answer_question(context, tools)
    modules = modules_of(payload)
    if agent_id == "seo-specialist":
        return propose_search_texts(post, modules)
    if agent_id == "translator":
        return propose_translation(post, modules, context)
    if agent_id == "illustrator":
        return propose_picture(post, context, tools)
    return propose_cleanup(post, modules, context)
