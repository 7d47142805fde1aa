"""Conversations with models: the only file that knows the AI library. Import it in the worker only."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Final

import httpx2
from django.conf import settings
from pydantic import BaseModel
from pydantic_ai import Agent, CancellationToken, ModelSettings, ToolOutput, UsageLimits, exceptions
from pydantic_ai.messages import ModelMessage, ModelResponse, RetryFeedbackPart, ToolReturnPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.usage import RunUsage

from agents_app.definitions.schema import AgentDefinition
from agents_app.providers.port import (
    Answer,
    Choice,
    ProviderError,
    ProviderStopped,
    ProviderTimeout,
    Step,
    Usage,
)

MAX_TOKENS: Final = 8000
CONNECT_SECONDS: Final = 10.0
OUTPUT_TOOL: Final = "suggest"


class ModelConversation:
    """A talk with a model. Each question opens its own connections and event loop: the library's model objects
    must not be shared between loops."""

    def __init__(
        self,
        agent: AgentDefinition,
        choice: Choice,
        system_prompt: str,
        output_type: type[BaseModel],
    ) -> None:
        self.choice = choice
        self.usage = Usage()
        self._options = agent.llm_config.options
        self._system_prompt = system_prompt
        self._output_type = output_type
        self._history: list[ModelMessage] = []
        self._spent = RunUsage()
        self._token = CancellationToken()

    def ask(self, text: str, *, retries: int, seconds: float) -> Answer:
        if seconds <= 0:
            raise ProviderTimeout("The time of the run is over.")
        try:
            return asyncio.run(self._ask(text, retries, seconds))
        except exceptions.RunTimedOut:
            raise ProviderTimeout(f"{self.choice.provider} did not answer in time.") from None
        except exceptions.RunCancelled:
            raise ProviderStopped("The run was stopped.") from None
        except (exceptions.AgentRunError, exceptions.UserError) as error:
            # The library's own text may quote the answer of the provider, key included.
            raise ProviderError(explain(error, self.choice, retries)) from None
        finally:
            self.usage.input_tokens = self._spent.input_tokens
            self.usage.output_tokens = self._spent.output_tokens
            self.usage.cost = self._spent.cost

    def stop(self) -> None:
        self._token.cancel()

    async def _ask(self, text: str, retries: int, seconds: float) -> Answer:
        timeout = httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        async with httpx2.AsyncClient(timeout=timeout) as client:
            agent = Agent(
                _Watched(model_of(self.choice, client), self.usage),
                output_type=ToolOutput(self._output_type, name=OUTPUT_TOOL),
                system_prompt=self._system_prompt,
                retries={"output": retries},
            )
            result = await agent.run(
                text,
                message_history=self._history or None,
                model_settings=self._settings(),
                usage_limits=UsageLimits(request_limit=settings.CMS_ENV.agent_step_cap),
                usage=self._spent,
                timeout=seconds,
                cancellation_token=self._token,
            )
        self._history = result.all_messages()
        return Answer(result.output, retried=_retried(result.new_messages()))

    def _settings(self) -> ModelSettings:
        chosen = ModelSettings(max_tokens=self._options.max_tokens or MAX_TOKENS)
        if self._options.temperature is not None:
            chosen["temperature"] = self._options.temperature
        return chosen


class _Watched(WrapperModel):
    """Writes down each request: how long it took and what it used. Its words are not kept."""

    def __init__(self, wrapped: Model, usage: Usage) -> None:
        super().__init__(wrapped)
        self._usage = usage

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        started = time.monotonic()
        try:
            response = await super().request(messages, model_settings, model_request_parameters)
        except BaseException as error:
            self._note(started, False, type(error).__name__)
            raise
        spent = response.usage
        self._note(started, True, f"{spent.input_tokens} tokens in, {spent.output_tokens} out")
        return response

    def _note(self, started: float, ok: bool, summary: str) -> None:
        took = int((time.monotonic() - started) * 1000)
        self._usage.steps.append(Step("model", self.wrapped.model_name, ok, took, summary))


def model_of(choice: Choice, client: httpx2.AsyncClient) -> Model:
    """The library's model for a choice; each provider over its own protocol."""
    key = choice.key or "none"  # servers without keys still need the header to hold something
    common: dict[str, Any] = {"base_url": choice.base_url, "http_client": client}
    if choice.provider == "openai":
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        return OpenAIChatModel(choice.model, provider=OpenAIProvider(api_key=key, **common))
    if choice.provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(choice.model, provider=AnthropicProvider(api_key=key, **common))
    if choice.provider == "google":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleModel(choice.model, provider=GoogleProvider(api_key=key, **common))
    if choice.provider == "ollama":
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.providers.ollama import OllamaProvider

        return OllamaModel(choice.model, provider=OllamaProvider(api_key=key, **common))
    raise ProviderError(f"There is no text provider {choice.provider!r}.")


def _retried(messages: list[ModelMessage]) -> int:
    """How many answers went back to the model because of their form."""
    parts = [part for message in messages for part in message.parts]
    return sum(
        isinstance(part, RetryFeedbackPart)
        or (isinstance(part, ToolReturnPart) and part.outcome == "retried")
        for part in parts
    )


def explain(error: Exception, choice: Choice, retries: int) -> str:
    """Why there is no answer, in a sentence that holds nothing of what went over the wire."""
    name = choice.provider
    if isinstance(error, exceptions.ModelHTTPError):
        return _explain_status(error.status_code, choice)
    if isinstance(error, exceptions.ModelAPIError):
        return f"{name} could not be reached. Check its address and this server's way out."
    if isinstance(error, exceptions.OutputTokenLimitExceeded):
        return f"The answer of {name} was cut off; raise maxTokens in the agent's options."
    if isinstance(error, exceptions.UsageLimitExceeded):
        return f"The run needed more than {settings.CMS_ENV.agent_step_cap} steps (AGENT_STEP_CAP)."
    if isinstance(error, exceptions.ContentFilterError):
        return f"{name} refused to answer because of its content filter."
    if isinstance(error, exceptions.UnexpectedModelBehavior):
        return (
            f"{name} ({choice.model}) did not answer in the agreed form, "
            f"after {retries + 1} tries. Nothing of its answer was staged."
        )
    return f"{name} cannot be used with the model {choice.model}."


def _explain_status(status: int, choice: Choice) -> str:
    name = choice.provider
    if status in (401, 403):
        return f"{name} refused the API key ({status}). Check AI_PROVIDER_{name.upper()}_API_KEY."
    if status == 404:
        return f"{name} knows no model {choice.model!r} at this address (404)."
    if status == 429:
        return f"{name} refused the request: too many requests, or the quota is used up (429)."
    if status >= 500:
        return f"{name} failed ({status}). Try again later."
    return f"{name} refused the request ({status}); model {choice.model}."
