"""The port to what answers: a conversation with it, and how it can fail.

`model_conversation.py` stands behind it for models, `demo` for a machine without a key. Importing this file is cheap;
the AI library is loaded only in the worker, when a conversation with a model begins.
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
"""Of one request, whatever the provider says: no model takes so many, and sums of them can be stored."""
DEFAULT_ANSWER_TOKENS: Final = 8000
"""The most that an answer has where the agent's options say nothing."""


@dataclass(frozen=True, slots=True)
class ProviderChoice:
    """The provider and model that answer. `key` leaves this value only in requests."""

    provider: str
    model: str
    key: str | None = field(default=None, repr=False)
    base_url: str | None = None


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One question to the model or one call of a tool. `summary` holds neither content nor secrets.

    `cost` is that of the question in US dollars, with what its cache saved; None where no price is known.
    """

    kind: Literal["model", "tool"]
    name: str
    ok: bool
    milliseconds: int
    summary: str = ""
    cost: Decimal | None = None


@dataclass(slots=True)
class ConversationUsage:
    """The use of a conversation so far. `cost` is in US dollars; None where no price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = None
    steps: list[StepRecord] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A well-formed answer, and how many times the model had to be asked again for its form."""

    output: BaseModel
    retried: int = 0


class ProviderError(Exception):
    """No answer. The text is a sentence for a person, without any secret.

    `worked` says that the provider may have worked for us all the same, and will want its money.
    """

    worked = False


class ProviderTimeout(ProviderError):
    """The deadline came first."""

    worked = True


class ProviderStopped(ProviderError):
    """`stop` was called."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is shown it; `schema` is the JSON Schema of its arguments."""

    name: str
    description: str
    schema: JsonObject


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """A tool's answer to the model: JSON, or a sentence that says why not and how to mend the call."""

    text: str
    ok: bool


class Toolbox:
    """The tools that a run may use; none here. Calls come one after the other, in the thread that asks."""

    def specs(self) -> Sequence[ToolSpec]:
        """Return what the model is shown. May grow shorter while the run goes on."""
        return ()

    def call(self, name: str, arguments: JsonObject) -> ToolAnswer:
        """Call a tool; a refusal is an answer, too. Raises `ProviderStopped` where the run is no longer its own."""
        return ToolAnswer(f"Unknown tool: {name}. There are no tools here.", ok=False)


class ConversationWatcher:
    """Told of everything in a conversation, in the thread that asks; lets everything pass here.

    A refusal ends the conversation. Each `before_request` that lets a request pass is followed by one
    `after_request`, whatever becomes of it.
    """

    def before_request(self, *, input_tokens: int, output_tokens: int) -> None:
        """Called with about so many tokens in, and at most so many out. Raises `ProviderError`."""

    def after_request(self, step: StepRecord, *, input_tokens: int, output_tokens: int) -> None:
        """Called when it came back or failed (`step.ok` False), with the tokens that were used.

        Where the provider did not say, they are reckoned from what was sent and heard: it may have worked for us.
        """

    def heard(self, characters: int) -> None:
        """Called a few times a second at most, with the length of the answer to this request so far."""

    def said(
        self, role: Literal["system", "user", "assistant", "tool"], name: str, text: str
    ) -> None:
        """Called with every message, word by word: `name` is the tool's where one was called or answered."""


class Conversation(Protocol):
    """A run's talk with whoever answers. Used from one thread, but for `stop`."""

    choice: ProviderChoice

    @property
    def usage(self) -> ConversationUsage:
        """The use of the conversation so far."""

    def ask(self, text: str, *, retries: int, seconds: float) -> ModelAnswer:
        """The answer to the payload, or, later on, to what was wrong with the answer before.

        An answer of the wrong form is sent back up to `retries` times. Raises `ProviderError`.
        """

    def stop(self) -> None:
        """Give up waiting. May be called from another thread."""
