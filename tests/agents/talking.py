"""Conversations with fake providers, without a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from agents_app.definitions.schema import AgentDefinition
from agents_app.providers.interface import (
    Conversation,
    ConversationWatcher,
    ProviderChoice,
    ProviderError,
    StepRecord,
    ToolAnswer,
    Toolbox,
    ToolSpec,
)
from agents_app.providers.selection import open_conversation
from proofroom.core.json import JsonObject
from tests.agents.asking import KEY
from tests.fake_provider import FakeProvider, Reply, serving

MODELS = {
    "openai": "gpt-6.1-terra",
    "anthropic": "claude-sonnet-5-5",
    "google": "gemini-3.8-flash",
    "ollama": "llama3.2",
}
PROVIDERS = list(MODELS)


class Said(BaseModel):
    """The output type of the models in these tests."""

    model_config = ConfigDict(extra="forbid")
    title: str


@dataclass
class Shelf(Toolbox):
    """A toolbox whose tools answer with their names. `names` may change during a conversation."""

    names: list[str] = field(default_factory=lambda: ["look", "search"])
    calls: list[tuple[str, JsonObject]] = field(default_factory=list)

    def specs(self) -> Sequence[ToolSpec]:
        schema: JsonObject = {"type": "object", "properties": {"word": {"type": "string"}}}
        return [ToolSpec(name, f"Does {name}.", schema) for name in self.names]

    def call(self, name: str, arguments: JsonObject) -> ToolAnswer:
        self.calls.append((name, arguments))
        if name not in self.names:
            return ToolAnswer(f"Unknown tool: {name}.", ok=False)
        return ToolAnswer(f"{name} found it.", ok=True)


@dataclass
class Notes(ConversationWatcher):
    """A watcher that stores everything."""

    before: list[tuple[int, int]] = field(default_factory=list)
    after: list[tuple[bool, int, int]] = field(default_factory=list)
    steps: list[StepRecord] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    words: list[tuple[str, str, str]] = field(default_factory=list)

    def before_request(self, *, input_tokens: int, output_tokens: int) -> None:
        self.before.append((input_tokens, output_tokens))

    def after_request(self, step: StepRecord, *, input_tokens: int, output_tokens: int) -> None:
        self.after.append((step.ok, input_tokens, output_tokens))
        self.steps.append(step)

    def heard(self, characters: int) -> None:
        self.lengths.append(characters)

    def said(self, role: str, name: str, text: str) -> None:
        self.words.append((role, name, text))


def agent(**options: Any) -> AgentDefinition:
    return AgentDefinition.model_validate(
        {
            "id": "asked",
            "name": "Asked",
            "llmConfig": {"systemPrompt": "You are {{agent}}.", "options": options},
            "scopes": [{"scope": "global"}],
        }
    )


def choice_of(provider: str, fake: FakeProvider, model: str | None = None) -> ProviderChoice:
    address = fake.openai_url if provider in ("openai", "ollama") else fake.address
    return ProviderChoice(provider, model or MODELS[provider], KEY, address)


@contextmanager
def talking(
    provider: str,
    *replies: Reply,
    toolbox: Shelf | None = None,
    watcher: Notes | None = None,
    **options: Any,
) -> Iterator[tuple[Conversation, FakeProvider]]:
    """Open a conversation with a fake provider that gives these replies."""
    with serving(*replies) as fake:
        asking = agent(**options)
        talk = open_conversation(
            asking.id,
            asking.llm_config.options,
            choice_of(provider, fake),
            system_prompt="You are Asked.",
            payload={},
            output_type=Said,
            toolbox=toolbox,
            watcher=watcher,
        )
        yield talk, fake


def failure_of(
    provider: str, *replies: Reply, seconds: float = 20
) -> tuple[ProviderError, Notes, int]:
    """Return the error, the watcher's records, and the number of received requests."""
    notes = Notes()
    with (
        talking(provider, *replies, watcher=notes) as (talk, fake),
        pytest.raises(ProviderError) as caught,
    ):
        talk.ask("A question", retries=2, seconds=seconds)
    assert KEY not in str(caught.value)
    assert KEY not in str([step.summary for step in notes.steps])
    assert len(notes.before) == len(notes.after), "each announced request is reported"
    return caught.value, notes, len(fake.asked)
