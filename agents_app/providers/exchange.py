"""One request to a model: sent, heard as it comes, and what it used. An answer without its end is never used."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic_ai import ModelSettings
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from agents_app.providers.failures import Failed, broken_off, cut_off, failed, refused
from agents_app.providers.line import Line
from agents_app.providers.port import MOST_TOKENS, Choice, ProviderError

_ANSWER_MAX: Final = 2_000_000
"""Characters after which nobody listens on: no answer that anybody needs is so long."""
_CHARACTERS_PER_TOKEN: Final = 4


@dataclass(slots=True)
class Heard:
    """What came so far, and what the provider said that it used."""

    characters: int = 0
    ended: bool = False
    usage: RequestUsage = field(default_factory=RequestUsage)

    def tokens(self, sent: int, *, worked: bool) -> tuple[int, int]:
        """Tokens in and out; reckoned where the provider worked and did not say."""
        if not worked and not self.characters:
            return 0, 0
        reckoned = self.characters // _CHARACTERS_PER_TOKEN
        got = max(self.usage.output_tokens, reckoned if not self.ended else 0)
        return min(self.usage.input_tokens or sent, MOST_TOKENS), min(got, MOST_TOKENS)


@dataclass(frozen=True, slots=True)
class Question:
    """What one request says."""

    history: Sequence[ModelMessage]
    parameters: ModelRequestParameters
    settings: ModelSettings

    @property
    def max_tokens(self) -> int:
        return self.settings["max_tokens"]

    def tokens(self) -> int:
        """About how many tokens it has, before anybody counted them."""
        tools = [*self.parameters.function_tools, *self.parameters.output_tools]
        written = sum(map(_length_of_message, self.history)) + sum(map(_length_of_tool, tools))
        return written // _CHARACTERS_PER_TOKEN + 1


def exchange(
    line: Line,
    model: Model,
    choice: Choice,
    question: Question,
    heard: Heard,
    tick: Callable[[], None],
) -> ModelResponse:
    """The whole answer. Raises `Failed`, or what `tick` and the line raise."""
    response = line.wait(_listen(model, choice, question, heard), tick)
    if response.finish_reason == "content_filter":
        raise refused(choice)
    if response.finish_reason == "length":
        raise cut_off(choice)
    if not (response.provider_details or {}).get("finish_reason"):
        raise broken_off(choice)
    return response


async def _listen(model: Model, choice: Choice, question: Question, heard: Heard) -> ModelResponse:
    try:
        async with model_request_stream(
            model,
            question.history,
            model_settings=question.settings,
            model_request_parameters=question.parameters,
        ) as stream:
            await _hear(stream, heard)
    except Failed:
        raise
    except Exception as error:
        # The packages below stumble over some answers in ways of their own.
        raise failed(error, choice) from None
    heard.ended = bool(stream.usage.output_tokens)
    return stream.get()


async def _hear(stream: StreamedResponse, heard: Heard) -> None:
    try:
        async for event in stream:
            heard.characters += _length_of_event(event)
            if heard.characters > _ANSWER_MAX:
                raise Failed(ProviderError("The answer is too long."), worked=True)
    finally:
        heard.usage = stream.usage


def _length_of_event(event: ModelResponseStreamEvent) -> int:
    if isinstance(event, PartStartEvent):
        part = event.part
        if isinstance(part, TextPart | ThinkingPart):
            return len(part.content)
        return len(part.args_as_json_str()) if isinstance(part, ToolCallPart) and part.args else 0
    if isinstance(event, PartDeltaEvent):
        delta = event.delta
        if isinstance(delta, TextPartDelta | ThinkingPartDelta):
            return len(delta.content_delta or "")
        if isinstance(delta, ToolCallPartDelta) and isinstance(delta.args_delta, str):
            return len(delta.args_delta)
    return 0


def _length_of_message(message: ModelMessage) -> int:
    if isinstance(message, ModelRequest):
        return sum(len(str(getattr(part, "content", ""))) for part in message.parts)
    return sum(
        len(part.args_as_json_str()) if isinstance(part, ToolCallPart) else len(part.content or "")
        for part in message.parts
        if isinstance(part, TextPart | ThinkingPart | ToolCallPart)
    )


def _length_of_tool(tool: ToolDefinition) -> int:
    return (
        len(tool.name) + len(tool.description or "") + len(json.dumps(tool.parameters_json_schema))
    )
