"""Requests to a model: announced, streamed, reported, retried if that may help, limited in number.

An incomplete answer is never used.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from django.conf import settings
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
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.usage import RequestUsage

from agents_app.providers.connection import ProviderConnection, RequestFailure
from agents_app.providers.interface import (
    ANSWER_TOKENS_LIMIT,
    ConversationUsage,
    ConversationWatcher,
    ProviderChoice,
    ProviderError,
    StepRecord,
)
from agents_app.providers.prices import cost_of, savings_of
from agents_app.providers.request_errors import (
    broken_off,
    cut_off,
    failed,
    refused,
    retry_after_too_long,
)

_ANSWER_MAX: Final = 2_000_000
"""Maximum characters of an answer, well above any useful one."""
_CHARACTERS_PER_TOKEN: Final = 4


@dataclass(slots=True)
class StreamProgress:
    """The part of an answer received so far, and the usage reported by the provider."""

    characters: int = 0
    ended: bool = False
    usage: RequestUsage = field(default_factory=RequestUsage)

    def tokens(self, sent: int, *, worked: bool) -> tuple[int, int]:
        """Return tokens in and out; estimated if the provider worked but reported none."""
        if not worked and not self.characters:
            return 0, 0
        reckoned = self.characters // _CHARACTERS_PER_TOKEN
        got = max(self.usage.output_tokens, reckoned if not self.ended else 0)
        return min(self.usage.input_tokens or sent, ANSWER_TOKENS_LIMIT), min(
            got, ANSWER_TOKENS_LIMIT
        )


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """The contents of one request."""

    history: Sequence[ModelMessage]
    parameters: ModelRequestParameters
    settings: ModelSettings

    @property
    def max_tokens(self) -> int:
        return self.settings["max_tokens"]

    def tokens(self) -> int:
        """Return the estimated number of input tokens."""
        tools = [*self.parameters.function_tools, *self.parameters.output_tools]
        written = 0
        for message in self.history:
            for part in message.parts:
                if isinstance(part, ToolCallPart):
                    written += len(part.args_as_json_str())
                elif isinstance(message, ModelRequest) or isinstance(part, TextPart | ThinkingPart):
                    written += len(str(getattr(part, "content", "") or ""))
        for tool in tools:
            written += len(tool.name) + len(tool.description or "")
            written += len(json.dumps(tool.parameters_json_schema))
        return written // _CHARACTERS_PER_TOKEN + 1


def send_model_request(
    line: ProviderConnection,
    model: Model,
    choice: ProviderChoice,
    question: ModelQuestion,
    heard: StreamProgress,
    tick: Callable[[], None],
) -> ModelResponse:
    """Return the complete answer. Raises `RequestFailure`, or the exceptions of `tick` and the connection."""
    response = line.wait(_listen(model, choice, question, heard), tick)
    if response.finish_reason == "content_filter":
        raise refused(choice)
    if response.finish_reason == "length":
        raise cut_off(choice)
    # A stream that was cut can look complete; only the provider's own finish reason proves its end.
    if not (response.provider_details or {}).get("finish_reason"):
        raise broken_off(choice)
    return response


async def _listen(
    model: Model, choice: ProviderChoice, question: ModelQuestion, heard: StreamProgress
) -> ModelResponse:
    try:
        async with model_request_stream(
            model,
            question.history,
            model_settings=question.settings,
            model_request_parameters=question.parameters,
        ) as stream:
            try:
                async for event in stream:
                    heard.characters += _length_of_event(event)
                    if heard.characters > _ANSWER_MAX:
                        raise RequestFailure(ProviderError("The answer is too long."), worked=True)
            finally:
                # Also after an error: the provider may charge for what was streamed.
                heard.usage = stream.usage
    except RequestFailure:
        raise
    except Exception as error:
        # The vendors' packages raise undocumented exceptions for some answers.
        raise failed(error, choice) from None
    heard.ended = bool(stream.usage.output_tokens)
    return stream.get()


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


RETRY_PAUSES: Final = [0.5, 2.0]
"""Seconds before the second and the third try, if the provider names none."""


@dataclass(slots=True)
class RequestTries:
    """The requests of a conversation so far, and their usage. `steps` includes tool calls."""

    choice: ProviderChoice
    watcher: ConversationWatcher
    usage: ConversationUsage = field(default_factory=ConversationUsage)
    steps: int = 0

    def count_step(self) -> None:
        """Count a request or tool call. Raises `ProviderError` beyond the limit."""
        cap = settings.CMS_ENV.agent_step_cap
        if self.steps >= cap:
            raise ProviderError(f"The run needed more than {cap} steps (AGENT_STEP_CAP).")
        self.steps += 1

    def answer(
        self, line: ProviderConnection, model: Model, question: ModelQuestion
    ) -> ModelResponse:
        """Return the model's answer. Raises `ProviderError`."""
        for pause in RETRY_PAUSES:
            try:
                return self._try(line, model, question)
            except RequestFailure as error:
                wait_for_next_try(error, pause, line, self.choice)
        try:
            return self._try(line, model, question)
        except RequestFailure as error:
            raise error.error from None

    def _try(
        self, line: ProviderConnection, model: Model, question: ModelQuestion
    ) -> ModelResponse:
        self.count_step()
        sent, told = question.tokens(), 0
        self.watcher.before_request(input_tokens=sent, output_tokens=question.max_tokens)
        heard, started = StreamProgress(), time.monotonic()

        def tick() -> None:
            nonlocal told
            if heard.characters > told:
                told = heard.characters
                self.watcher.heard(told)

        try:
            response = send_model_request(line, model, self.choice, question, heard, tick)
        except RequestFailure as error:
            self._settle(heard.tokens(sent, worked=error.worked), heard, started, str(error.error))
            raise
        # Also a stopped run: the provider may charge for the interrupted request.
        except BaseException as error:
            why = str(error) if isinstance(error, ProviderError) else type(error).__name__
            self._settle(heard.tokens(sent, worked=True), heard, started, why)
            raise
        self._settle(heard.tokens(sent, worked=True), heard, started, "")
        return response

    def _settle(
        self, tokens: tuple[int, int], heard: StreamProgress, started: float, error: str
    ) -> None:
        """Store the usage of a request and report it to the watcher."""
        sent, got = tokens
        cost = cost_of(
            self.choice,
            sent,
            got,
            cached_tokens=heard.usage.cache_read_tokens,
            written_tokens=heard.usage.cache_write_tokens,
        )
        self.usage.input_tokens += sent
        self.usage.output_tokens += got
        cached = min(max(heard.usage.cache_read_tokens, 0), sent)
        self.usage.cached_tokens += cached
        if cost is not None:
            self.usage.cost = (self.usage.cost or 0) + cost
        took = int((time.monotonic() - started) * 1000)
        of_cache = f" ({cached} from the cache)" if cached else ""
        summary = error or f"{sent} tokens in{of_cache}, {got} out"
        saved = savings_of(self.choice, sent, cached)
        step = StepRecord("model", self.choice.model, not error, took, summary, cost, cached, saved)
        self.usage.steps.append(step)
        self.watcher.after_request(step, input_tokens=sent, output_tokens=got)


def wait_for_next_try(
    error: RequestFailure, pause: float, line: ProviderConnection, choice: ProviderChoice
) -> None:
    """Wait as long as the provider asks, otherwise about `pause` seconds. Raises the error if a retry
    is pointless.
    """
    if not error.again:
        raise error.error from None
    if error.after is None:
        # Random, so that the runs of a batch do not retry at the same moment.
        line.pause(pause * random.uniform(0.75, 1.25))  # noqa: S311
    elif error.after < line.seconds_left():
        line.pause(error.after)
    else:
        raise retry_after_too_long(error.after, choice) from None
