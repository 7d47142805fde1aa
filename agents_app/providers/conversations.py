"""Opens a conversation with the provider that was chosen."""

from __future__ import annotations

from pydantic import BaseModel

from agents_app.definitions.schema import AgentDefinition
from agents_app.providers.interface import (
    DEMO_PROVIDER,
    Conversation,
    ConversationWatcher,
    ProviderChoice,
    Toolbox,
)
from proofroom.core.json import JsonObject


def open_conversation(
    agent: AgentDefinition,
    choice: ProviderChoice,
    *,
    system_prompt: str,
    payload: JsonObject,
    output_type: type[BaseModel],
    toolbox: Toolbox | None = None,
    watcher: ConversationWatcher | None = None,
) -> Conversation:
    """A talk with the chosen provider. Without a toolbox there are no tools, without a watcher nobody is told."""
    if choice.provider == DEMO_PROVIDER:
        from agents_app.providers.demo import DemoConversation  # what nobody asks for is not loaded

        return DemoConversation(
            agent.id,
            payload,
            output_type,
            system_prompt=system_prompt,
            toolbox=toolbox,
            watcher=watcher,
        )
    from agents_app.providers.model_conversation import ModelConversation

    return ModelConversation(
        agent,
        choice,
        system_prompt,
        output_type,
        toolbox=toolbox or Toolbox(),
        watcher=watcher or ConversationWatcher(),
    )
