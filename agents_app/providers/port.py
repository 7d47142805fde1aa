"""The port to what answers: who it is, a conversation with it, and how it can fail.

`providers.py` stands behind it for models, `demo.py` for a machine without a key. Importing this file is cheap;
the AI library is loaded only in the worker, when a conversation with a model begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal, Protocol

from django.conf import settings
from pydantic import BaseModel

from agents_app.definitions.schema import AgentDefinition
from core.json import JsonObject

DEMO: Final = "demo"
Vendor = Literal["openai", "anthropic", "google", "ollama"]
DEFAULT_MODELS: Final[dict[Vendor, str]] = {
    "openai": "gpt-6.1-terra",
    "anthropic": "claude-sonnet-5-5",
    "google": "gemini-3.8-flash",
    "ollama": "llama3.2",
}
"""The model of each provider where nobody chose one. The order is that of the global default, too."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Who answers. `key` never leaves this value but for the wire."""

    provider: str
    model: str
    key: str | None = field(default=None, repr=False)
    base_url: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One question to the model or one call of a tool. `summary` holds neither content nor secrets."""

    kind: Literal["model", "tool"]
    name: str
    ok: bool
    milliseconds: int
    summary: str = ""


@dataclass(slots=True)
class Usage:
    """What a conversation used so far. `cost` is in US dollars; None where no price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = None
    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Answer:
    """A well-formed answer, and how many times the model had to be asked again for its form."""

    output: BaseModel
    retried: int = 0


class ProviderError(Exception):
    """No answer. The text is a sentence for a person, without any secret."""


class ProviderTimeout(ProviderError):
    """The deadline came first."""


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
    """What a tool told the model: JSON, or the sentence that says why not and how to mend the call."""

    text: str
    ok: bool


class Toolbox(Protocol):
    """The tools that a run may use. Calls come one after the other, from any thread."""

    def specs(self) -> Sequence[ToolSpec]:
        """What the model is shown. May grow shorter while the run goes on."""

    def call(self, name: str, arguments: JsonObject) -> ToolAnswer:
        """Call a tool; a refusal is an answer, too. Raises `ProviderStopped` where the run is no longer its own."""


class NoTools:
    """For agents that use none."""

    def specs(self) -> Sequence[ToolSpec]:
        return ()

    def call(self, name: str, arguments: JsonObject) -> ToolAnswer:
        return ToolAnswer(f"Unknown tool: {name}. There are no tools here.", ok=False)


class Watcher(Protocol):
    """Told of everything in a conversation, as it happens, from any thread. Its refusals end the conversation."""

    def before_request(self, *, input_tokens: int, output_tokens: int) -> None:
        """A request is about to go out: about so many tokens in, at most so many out. Raises `ProviderError`."""

    def after_request(self, step: Step, *, input_tokens: int, output_tokens: int) -> None:
        """It came back, or failed (`step.ok` False). Tokens are those that were used."""

    def heard(self, characters: int) -> None:
        """So much of an answer has come so far."""

    def said(
        self, role: Literal["system", "user", "assistant", "tool"], name: str, text: str
    ) -> None:
        """Something was said, word by word: `name` is the tool's where one was called or answered."""


class Unwatched:
    """A watcher that lets everything pass."""

    def before_request(self, *, input_tokens: int, output_tokens: int) -> None:
        pass

    def after_request(self, step: Step, *, input_tokens: int, output_tokens: int) -> None:
        pass

    def heard(self, characters: int) -> None:
        pass

    def said(
        self, role: Literal["system", "user", "assistant", "tool"], name: str, text: str
    ) -> None:
        pass


class Conversation(Protocol):
    """A run's talk with whoever answers. Used from one thread, but for `stop`."""

    choice: Choice
    usage: Usage

    def ask(self, text: str, *, retries: int, seconds: float) -> Answer:
        """The answer to the payload, or, later on, to what was wrong with the answer before.

        An answer of the wrong form is sent back up to `retries` times. Raises `ProviderError`.
        """

    def stop(self) -> None:
        """Give up waiting. May be called from another thread."""


def resolve(agent: AgentDefinition) -> Choice:
    """Who answers for an agent: its text pair, then the global default, then its fallback pair.

    Without any key or address in the environment the built-in demo answers. Raises `ProviderError` where the
    agent names a provider that has none although another one has: content never goes to a vendor that nobody chose.
    """
    config, env, default = agent.llm_config, settings.CMS_ENV, default_provider()
    provider = config.provider_text or default or config.provider
    if provider is None or provider == DEMO:
        return Choice(DEMO, DEMO)
    # A key in the file belongs to the provider that the file names, and is sent to no other.
    own = config.api_key if provider in (config.provider_text, config.provider) else None
    key = own.get_secret_value() if own else env.api_key(provider)
    base_url = env.base_url(provider)
    if not key and not base_url:
        if default is None:
            return Choice(DEMO, DEMO)
        raise ProviderError(
            f"The agent {agent.id} uses {provider}, which has no key. "
            f"Set AI_PROVIDER_{provider.upper()}_API_KEY, or choose another provider for it."
        )
    model = config.model_text if provider == config.provider_text else None
    if model is None and config.provider in (None, provider):
        model = config.model
    return Choice(provider, model or DEFAULT_MODELS[provider], key, base_url)


def default_provider() -> Vendor | None:
    """The first provider that the environment has a key or an address for."""
    env = settings.CMS_ENV
    return next((name for name in DEFAULT_MODELS if env.api_key(name) or env.base_url(name)), None)


def open_conversation(
    agent: AgentDefinition,
    choice: Choice,
    *,
    system_prompt: str,
    payload: JsonObject,
    output_type: type[BaseModel],
    toolbox: Toolbox | None = None,
    watcher: Watcher | None = None,
) -> Conversation:
    """A talk with the chosen provider. Without a toolbox there are no tools, without a watcher nobody is told."""
    if choice.provider == DEMO:
        from agents_app.providers.demo import DemoConversation

        return DemoConversation(agent.id, payload, output_type)
    from agents_app.providers.conversations import ModelConversation

    return ModelConversation(agent, choice, system_prompt, output_type)
