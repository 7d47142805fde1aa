"""The interface to providers: a conversation, and its errors.

`model_conversation.py` implements it for models, `demo` without a key. Importing this module is
cheap; the AI library is loaded only in the worker, when a conversation with a model begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal, Protocol

from pydantic import BaseModel

from proofroom.core.json import JsonObject

DEMO_PROVIDER: Final = "demo"
ANSWER_TOKENS_LIMIT: Final = 10_000_000
"""Maximum tokens counted for one request. No model uses as many, and sums of it fit into the columns."""
DEFAULT_ANSWER_TOKENS: Final = 8000
"""Maximum tokens of an answer without `maxTokens` in the agent's options."""


@dataclass(frozen=True, slots=True)
class ProviderChoice:
    """The provider and model that answer. `key` is used in requests only."""

    provider: str
    model: str
    key: str | None = field(default=None, repr=False)
    base_url: str | None = None

    def as_reference(self) -> JsonObject:
        return {"provider": self.provider, "model": self.model}


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One request to the model or one tool call. `summary` contains neither content nor secrets.

    `cost`: US dollars of a request, with cache discounts; None if the price is unknown.
    `cached_tokens`: part of the input read from the provider's cache; `saved`: what it would have
    cost more without.
    """

    kind: Literal["model", "tool"]
    name: str
    ok: bool
    milliseconds: int
    summary: str = ""
    cost: Decimal | None = None
    cached_tokens: int = 0
    saved: Decimal = Decimal(0)


@dataclass(slots=True)
class ConversationUsage:
    """The usage of a conversation so far. `cost`: US dollars; None if the price is unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: Decimal | None = None
    steps: list[StepRecord] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A valid answer, and the number of retries because of its form."""

    output: BaseModel
    retried: int = 0


class ProviderError(Exception):
    """The request failed. The message is for users and contains no secret.

    `worked`: the provider may have done the work and charge for it. `is_outage`: the provider could
    not be reached, failed, or had no capacity, so another one may answer.
    """

    worked = False
    is_outage = False


class ProviderTimeout(ProviderError):
    """The deadline passed."""

    worked = True


class ProviderStopped(ProviderError):
    """`stop` was called."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as described to a model. `schema`: the JSON Schema of its arguments."""

    name: str
    description: str
    schema: JsonObject


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """A tool's answer to the model: JSON, or a sentence about the refusal and how to correct the call."""

    text: str
    ok: bool


class Toolbox:
    """The tools that a run may use; none in this base class. Calls are sequential, in the caller's thread."""

    def specs(self) -> Sequence[ToolSpec]:
        """Return the available tools. The list can become shorter during the run."""
        return ()

    def call(self, name: str, arguments: JsonObject) -> ToolAnswer:
        """Call a tool. A refusal is returned as an answer. Raises `ProviderStopped` if another worker
        has taken the run.
        """
        return ToolAnswer(f"Unknown tool: {name}. There are no tools here.", ok=False)


class ConversationWatcher:
    """Observes a conversation, in the caller's thread. This base class does nothing.

    An exception ends the conversation. Each `before_request` that returns is followed by one
    `after_request`, whatever the result.
    """

    def before_request(self, *, input_tokens: int, output_tokens: int) -> None:
        """Called before a request with its estimated input and maximum output. Raises `ProviderError`."""

    def after_request(self, step: StepRecord, *, input_tokens: int, output_tokens: int) -> None:
        """Called after a request that succeeded or failed (`step.ok` False), with the tokens used.

        If the provider reported none, they are estimated from the text sent and received.
        """

    def switched(self, choice: ProviderChoice) -> None:
        """Called when the fallback `choice` takes over, because of an outage of the previous provider."""

    def heard(self, characters: int) -> None:
        """Called at most a few times a second, with the length of the answer so far."""

    def said(
        self, role: Literal["system", "user", "assistant", "tool"], name: str, text: str
    ) -> None:
        """Called with the full text of every message. `name`: the tool, for calls and their results."""


class Conversation(Protocol):
    """A conversation of a run with a provider. Used from one thread, except `stop`."""

    choice: ProviderChoice
    """The provider that answers now: the fallback after an outage."""

    @property
    def usage(self) -> ConversationUsage:
        """The usage of the conversation so far."""

    def ask(self, text: str, *, retries: int, seconds: float) -> ModelAnswer:
        """Return the answer to the payload, or later to the description of errors in the previous
        answer.

        An answer of the wrong form is sent back up to `retries` times. Raises `ProviderError`.
        """

    def stop(self) -> None:
        """Stop waiting. May be called from another thread."""
