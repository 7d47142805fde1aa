"""A conversation with the rules of the demo, and which rule answers.

No `Model` of pydantic-ai: its import takes 1.3 s of CPU, which a site without a key does not pay now, and each call
of a tool would add a request to the steps of a run that asks no model.
"""

from __future__ import annotations

import json

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


class DemoConversation:
    """Answers by rules. Asked again, it has nothing better to say and gives up."""

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
        said = answer(self._agent_id, self._payload, self._toolbox)
        self._watcher.said("assistant", "", json.dumps(said, ensure_ascii=False))
        try:
            return ModelAnswer(self._output_type.model_validate(said))
        except ValidationError:
            raise ProviderError(f"{LABEL} has no rule for this.") from None

    def stop(self) -> None:
        """There is nothing to wait for."""


class _ReportedToolbox(Toolbox):
    """A toolbox whose calls the watcher is told of, as those of a model are."""

    def __init__(self, toolbox: Toolbox, watcher: ConversationWatcher) -> None:
        self._toolbox = toolbox
        self._watcher = watcher

    def specs(self) -> list[ToolSpec]:
        return list(self._toolbox.specs())

    def call(self, name: str, arguments: JsonObject) -> ToolAnswer:
        self._watcher.said("assistant", name, json.dumps(arguments, ensure_ascii=False))
        told = self._toolbox.call(name, arguments)
        self._watcher.said("tool", name, told.text)
        return told


def answer(agent_id: str, payload: JsonObject, tools: Toolbox | None = None) -> JsonObject:
    """The answer of the rules to a payload: which rule, says the agent of that id and the scope."""
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
