"""Conversations with models: send, call the requested tools, until the model answers in the agreed
form.

Uses the models and messages of pydantic-ai, but not its `Agent` (tried with 2.68): it ends at an
answer next to tool calls, before the model has read their results; a call of an unknown tool never
reaches the toolset and would be no step of the run; `UsageLimits` counts requests and calls
separately, AGENT_STEP_CAP together; toolsets and `WrapperModel` run on its event loop, while tools
and budgets need the thread that holds the transaction. It takes 21 to 39 ms for two requests to a
model that answers immediately.
"""

from __future__ import annotations

import json
import re
from threading import Event
from typing import Final, cast

from pydantic import BaseModel, ValidationError
from pydantic_ai import ModelSettings
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from agents_app.providers.connection import ProviderConnection
from agents_app.providers.interface import (
    DEFAULT_ANSWER_TOKENS,
    ConversationUsage,
    ConversationWatcher,
    ModelAnswer,
    ProviderChoice,
    ProviderError,
    ProviderTimeout,
    ToolAnswer,
    Toolbox,
)
from agents_app.providers.llm_config import Options
from agents_app.providers.model_requests import ModelQuestion, RequestTries
from agents_app.providers.vendor import access_to
from agents_app.providers.vendors import find_vendor
from proofroom.core.json import JsonObject
from proofroom.core.validation.errors import describe_translated, list_errors, reason_of

OUTPUT_TOOL: Final = "suggest"
_FENCED: Final = re.compile(r"```(?:json)?\s*\n(.*)\n```", re.S)
_PROBLEMS_MAX: Final = 20
_FAULTS_MAX: Final = 3
"""Maximum number of faults of the last answer in the error of a run."""
_BROKEN_CALLS_MAX: Final = 5
"""Tool calls with invalid JSON after which a conversation fails: such a model does not recover."""


class ModelConversation:
    """A conversation with a model. Each question opens its own connection."""

    def __init__(
        self,
        options: Options,
        choice: ProviderChoice,
        system_prompt: str,
        output_type: type[BaseModel],
        *,
        toolbox: Toolbox,
        watcher: ConversationWatcher,
        fallback: ProviderChoice | None = None,
    ) -> None:
        self._tries = RequestTries(choice, watcher)
        self._options = options
        self._fallback = fallback
        self._outage: ProviderError | None = None
        """The error of the first provider, once the fallback has taken over."""
        self._choose(choice)
        self._output_type = output_type
        self._toolbox = toolbox
        self._watcher = watcher
        self._stopped = Event()
        self._broken_calls = 0
        self._fault = ""
        """What did not fit of the last answer, in sentences for a person."""
        self._history: list[ModelMessage] = []
        self._unsent: list[ModelRequestPart] = [SystemPromptPart(system_prompt)]
        watcher.said("system", "", system_prompt)

    @property
    def usage(self) -> ConversationUsage:
        return self._tries.usage

    def ask(self, text: str, *, retries: int, seconds: float) -> ModelAnswer:
        if seconds <= 0:
            raise ProviderTimeout("The time of the run is over.")
        self._say(text)
        with ProviderConnection(self.choice.provider, seconds, self._stopped) as line:
            model = self._make_model(line)
            retried = 0
            while retried <= retries:
                self._history.append(ModelRequest(parts=self._unsent))
                self._unsent = []
                try:
                    response = self._tries.answer(line, model, self._question())
                except ProviderError as error:
                    self._switch(error)
                    # The messages of the conversation are the library's own, which every vendor's
                    # model can send.
                    model = self._make_model(line)
                    response = self._answer_of_fallback(line, model)
                answer = self._read(response, line)
                if isinstance(answer, BaseModel):
                    return ModelAnswer(answer, retried=retried)
                # False is an answer of a wrong form; tool calls (True) are no retries.
                retried += not answer
        raise ProviderError(
            f"{self.choice.provider} ({self.choice.model}) did not answer in the agreed form, "
            f"after {retried} tries. Nothing of its answer was staged. {self._fault}".rstrip()
        )

    def stop(self) -> None:
        self._stopped.set()

    def _choose(self, choice: ProviderChoice) -> None:
        self.choice = self._tries.choice = choice
        self._vendor = find_vendor(choice.provider)
        # The vendors' packages must not retry, because retries are counted and paid for in
        # `RequestTries`.
        settings = ModelSettings(
            max_tokens=self._options.max_tokens or DEFAULT_ANSWER_TOKENS, max_retries=0
        )
        if self._options.temperature is not None:
            settings["temperature"] = self._options.temperature
        self._settings = self._vendor.text_settings(settings)

    def _make_model(self, line: ProviderConnection) -> Model:
        access = access_to(self._vendor, self.choice, line.client)
        return self._vendor.make_text_model(self.choice.model, access)

    def _switch(self, error: ProviderError) -> None:
        """Let the fallback take over after an outage. Raises any other error."""
        if self._fallback is None or not error.is_outage:
            raise error
        fallback, self._fallback, self._outage = self._fallback, None, error
        self._choose(fallback)
        self._watcher.switched(fallback)

    def _answer_of_fallback(self, line: ProviderConnection, model: Model) -> ModelResponse:
        try:
            return self._tries.answer(line, model, self._question())
        except ProviderError as error:
            if not error.is_outage:
                raise
            both = ProviderError(f"{self._outage} The fallback did not answer either: {error}")
            both.is_outage, both.worked = True, error.worked
            raise both from None

    def _say(self, text: str) -> None:
        self._unsent.append(UserPromptPart(text))
        self._watcher.said("user", "", text)

    def _question(self) -> ModelQuestion:
        """Return the messages so far, with the current tools: a run that has read untrusted input has fewer."""
        tools = [
            ToolDefinition(
                name=spec.name,
                description=spec.description,
                parameters_json_schema=dict(spec.schema),
            )
            for spec in self._toolbox.specs()
        ]
        output = ToolDefinition(
            name=OUTPUT_TOOL,
            description="Give your answer, once and for all.",
            parameters_json_schema=self._output_type.model_json_schema(),
            kind="output",
        )
        parameters = ModelRequestParameters(
            function_tools=tools,
            output_mode="tool",
            output_tools=[output],
            allow_text_output=False,
        )
        return ModelQuestion(self._history, parameters, self._settings)

    def _read(self, response: ModelResponse, line: ProviderConnection) -> BaseModel | bool:
        """Return the answer; otherwise True after tool calls, False for a wrong form."""
        if response.parts:
            self._history.append(response)
        self._tell(response)
        whole = response.state == "complete" and response.finish_reason != "error"
        calls = response.tool_calls if whole else []
        self._fault = ""
        # An answer next to tool calls was written before reading their results, so it is not taken.
        if any(call.tool_name != OUTPUT_TOOL for call in calls):
            for call in calls:
                line.check()
                self._reply(call, self._call(call))
            return True
        if not calls:
            written = self._written(response) if whole else None
            if written is not None:
                return written
            if not whole:
                self._fault = "Its last answer was cut off."
            elif not self._fault:
                self._fault = "Its last answer was text that is not in the form of an answer."
            self._close(response.tool_calls)
            self._say(f"Give your answer by calling {OUTPUT_TOOL}, in full.")
            return False
        answer = self._parsed(calls[0])
        self._close(calls[1:])
        if isinstance(answer, BaseModel):
            # The API requires a reply to every call, in case the conversation continues.
            self._reply(calls[0], ToolAnswer("Received.", ok=True), quiet=True)
            return answer
        self._reply(calls[0], answer)
        return False

    def _tell(self, response: ModelResponse) -> None:
        for part in response.parts:
            if isinstance(part, TextPart):
                self._watcher.said("assistant", "", part.content)
            elif isinstance(part, ToolCallPart):
                self._watcher.said("assistant", part.tool_name, part.args_as_json_str())

    def _call(self, call: ToolCallPart) -> ToolAnswer:
        """Return a tool's answer, or the error of an invalid call."""
        if call.tool_name == OUTPUT_TOOL:
            text = f"Not taken: read first what the tools said, then call {OUTPUT_TOOL} alone."
            return ToolAnswer(text, ok=False)
        self._tries.count_step()
        arguments = _object_of(call)
        if arguments is not None:
            return self._toolbox.call(call.tool_name, arguments)
        self._broken_calls += 1
        if self._broken_calls >= _BROKEN_CALLS_MAX:
            raise ProviderError(
                f"{self.choice.provider} ({self.choice.model}) called tools with arguments "
                f"that are no JSON, {_BROKEN_CALLS_MAX} times."
            )
        return ToolAnswer("The arguments are not a JSON object. Send one.", ok=False)

    def _written(self, response: ModelResponse) -> BaseModel | None:
        """Return an answer written as text, which small models do instead of calling the tool."""
        text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        fenced = _FENCED.fullmatch(text.strip())
        arguments = _object_of(ToolCallPart(OUTPUT_TOOL, fenced[1] if fenced else text))
        try:
            return self._output_type.model_validate(arguments) if arguments else None
        except ValidationError as error:
            self._fault = _fault_of(error)
            return None

    def _parsed(self, call: ToolCallPart) -> BaseModel | ToolAnswer:
        arguments = _object_of(call)
        if arguments is None:
            self._fault = "Its last answer was not a JSON object."
            return ToolAnswer("The answer is not a JSON object. Send one, in full.", ok=False)
        try:
            return self._output_type.model_validate(arguments)
        except ValidationError as error:
            self._fault = _fault_of(error)
            faults = list_errors(error, reason_of, root="answer")
        lines = [f"{path}: {reason}" for path, reason in faults]
        more = [f"and {len(lines) - _PROBLEMS_MAX} more"] if len(lines) > _PROBLEMS_MAX else []
        text = "\n".join(["Not in the agreed form:", *lines[:_PROBLEMS_MAX], *more])
        return ToolAnswer(text, ok=False)

    def _reply(self, call: ToolCallPart, answer: ToolAnswer, *, quiet: bool = False) -> None:
        self._unsent.append(
            ToolReturnPart(
                tool_name=call.tool_name,
                content=answer.text,
                tool_call_id=call.tool_call_id,
                outcome="success" if answer.ok else "failed",
            )
        )
        if not quiet:
            self._watcher.said("tool", call.tool_name, answer.text)

    def _close(self, calls: list[ToolCallPart]) -> None:
        """Reply to ignored calls, because the API requires a reply to each."""
        for call in calls:
            self._reply(call, ToolAnswer("Not taken.", ok=False), quiet=True)


def _fault_of(error: ValidationError) -> str:
    """Describe the invalid fields of an answer for a user."""
    found = list_errors(error, describe_translated, root="answer", limit=_FAULTS_MAX)
    return " ".join(["What did not fit:", *(f"{path}: {sentence}" for path, sentence in found)])


def _object_of(call: ToolCallPart) -> JsonObject | None:
    """Return the arguments of a call, or None unless they are a JSON object."""
    try:
        arguments = json.loads(call.args or "{}") if isinstance(call.args, str) else call.args or {}
        # Lone surrogates and NaN can be parsed but not stored; encoding finds them.
        json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None
    return cast("JsonObject", arguments) if isinstance(arguments, dict) else None
