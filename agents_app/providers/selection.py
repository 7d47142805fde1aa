"""Choice of the provider: the agent's own pair, AI settings, environment, the agent's fallback pair, the demo."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from pydantic import BaseModel

from agents_app.models import AiSettings
from agents_app.providers.interface import (
    DEMO_PROVIDER,
    Conversation,
    ConversationWatcher,
    ProviderChoice,
    ProviderError,
    Toolbox,
)
from agents_app.providers.llm_config import LlmConfig, Options
from agents_app.providers.vendors import all_vendors
from proofroom.core.json import JsonObject

logger = logging.getLogger(__name__)
DEFAULT_MODELS: Final = {
    id_: one.text_model for id_, one in all_vendors().items() if one.text_model
}
"""Default model of each provider. Also the order in which the environment's default is searched."""
DEFAULT_MEDIA_MODELS: Final = {
    id_: one.media_model for id_, one in all_vendors().items() if one.media_model
}

MODEL_NAME_MAX: Final = 120
_NOTHING_CHOSEN: Final = LlmConfig.model_validate({"systemPrompt": "None."})


@dataclass(frozen=True, slots=True)
class AiDefaults:
    """The global AI settings; empty values mean no choice."""

    text_provider: str = ""
    text_model: str = ""
    media_provider: str = ""
    media_model: str = ""
    fallback_provider: str = ""
    fallback_model: str = ""


def load_ai_defaults() -> AiDefaults:
    """Return the current AI settings. One query; callers that resolve many agents load it once."""
    names = (
        "text_provider",
        "text_model",
        "media_provider",
        "media_model",
        "fallback_provider",
        "fallback_model",
    )
    row = AiSettings.objects.filter(pk=1).values_list(*names).first()
    return AiDefaults(*row) if row else AiDefaults()


def choose_provider(
    config: LlmConfig, agent_id: str, defaults: AiDefaults | None = None
) -> ProviderChoice:
    """Return the provider and model for an agent. Without any key or address in the environment it is
    the demo.

    Raises `ProviderError` if the selected provider has no key but another one has, or if its package
    is not installed: content never goes to a vendor that was not selected.
    """
    defaults = defaults or load_ai_defaults()
    first = default_provider()
    provider = config.provider_text or defaults.text_provider or first or config.provider
    if provider is None or provider == DEMO_PROVIDER:
        return ProviderChoice(DEMO_PROVIDER, DEMO_PROVIDER)
    models = (
        config.model_text if provider == config.provider_text else None,
        defaults.text_model if provider == defaults.text_provider else None,
        config.model if config.provider in (None, provider) else None,
    )
    if provider not in DEFAULT_MODELS:
        raise ProviderError(f"There is no text provider {provider!r}.")
    model = next(filter(None, models), DEFAULT_MODELS[provider])
    return _reachable(config, provider, model) or _demo_or_say_why(agent_id, provider, first)


def config_with_model(config: LlmConfig, model: str) -> LlmConfig:
    """Return the configuration with another text model, `provider:model`. Raises `ProviderError`."""
    provider, _, name = model.partition(":")
    if provider not in (*DEFAULT_MODELS, DEMO_PROVIDER) or (not name and provider != DEMO_PROVIDER):
        known = ", ".join((*DEFAULT_MODELS, DEMO_PROVIDER))
        raise ProviderError(f"{model[:80]!r} is no provider:model; providers are {known}.")
    if len(name) > MODEL_NAME_MAX:
        raise ProviderError(f"The name of a model has at most {MODEL_NAME_MAX} characters.")
    changes: dict[str, object] = {"provider_text": provider, "model_text": name or None}
    if provider != _key_owner(config):
        # The key in the agent's file must not be sent to another provider.
        changes["api_key"] = None
    return config.model_copy(update=changes)


def choose_fallback(
    config: LlmConfig, agent_id: str, first: ProviderChoice, defaults: AiDefaults | None = None
) -> ProviderChoice | None:
    """Return the provider and model that take over during an outage of `first`, or None.

    An agent whose file names its provider does not use the fallback of the AI settings: its content
    goes only to providers that the file names. A fallback without key or package is none, because it
    must not keep an agent from running.
    """
    if first.provider == DEMO_PROVIDER:
        return None
    provider, model = config.fallback_provider, config.fallback_model
    if provider is None and config.provider_text is None:
        defaults = defaults or load_ai_defaults()
        provider, model = defaults.fallback_provider or None, defaults.fallback_model or None
    if provider not in DEFAULT_MODELS:
        return None
    try:
        found = _reachable(config, provider, model or DEFAULT_MODELS[provider])
    except ProviderError as error:
        logger.warning("The fallback of the agent %s cannot be used: %s", agent_id, error)
        return None
    if found is None or (found.provider, found.model) == (first.provider, first.model):
        return None
    return found


def choose_media_provider(
    config: LlmConfig | None = None, agent_id: str = "", defaults: AiDefaults | None = None
) -> ProviderChoice:
    """Return the provider and model that make images for an agent, or without an agent for a user.

    Raises `ProviderError` if none is selected although a text provider is, or if its package is not
    installed: a demo image could be taken for a real one.
    """
    config = config or _NOTHING_CHOSEN
    defaults = defaults or load_ai_defaults()
    env = settings.CMS_ENV
    first = next((name for name in DEFAULT_MEDIA_MODELS if env.has_provider(name)), None)
    fallback = config.provider if config.provider in DEFAULT_MEDIA_MODELS else None
    provider = config.provider_media or defaults.media_provider or first or fallback
    if provider == DEMO_PROVIDER or (provider is None and default_provider() is None):
        return ProviderChoice(DEMO_PROVIDER, DEMO_PROVIDER)
    if provider is None:
        names = " or ".join(all_vendors()[name].main_variable for name in DEFAULT_MEDIA_MODELS)
        raise ProviderError(f"No provider that makes images has a key. Set {names}.")
    if provider not in DEFAULT_MEDIA_MODELS:
        raise ProviderError(f"There is no media provider {provider!r}.")
    # The fallback model usually is a text model, which makes no images.
    draws = config.provider == provider and "image" in (config.model or "")
    models = (
        config.model_media if provider == config.provider_media else None,
        defaults.media_model if provider == defaults.media_provider else None,
        config.model if draws else None,
    )
    model = next(filter(None, models), DEFAULT_MEDIA_MODELS[provider])
    choice = _reachable(config, provider, model)
    return choice or _demo_or_say_why(agent_id, provider, default_provider())


def default_provider() -> str | None:
    """Return the first provider with a key or an address in the environment."""
    return next((name for name in DEFAULT_MODELS if settings.CMS_ENV.has_provider(name)), None)


def _reachable(config: LlmConfig, provider: str, model: str) -> ProviderChoice | None:
    env, own_key = settings.CMS_ENV, None
    if config.api_key is not None:
        is_owner = provider == _key_owner(config)
        own_key = config.api_key.get_secret_value() if is_owner else None
    key = own_key or env.api_key(provider)
    base_url = env.base_url(provider)
    if not key and not base_url:
        return None
    if missing := all_vendors()[provider].missing_package:
        raise ProviderError(missing)
    return ProviderChoice(provider, model, key, base_url)


def _key_owner(config: LlmConfig) -> str | None:
    """Return the provider that the key in an agent's file belongs to: the first one named there."""
    return config.provider_text or config.provider or config.provider_media


def _demo_or_say_why(agent_id: str, provider: str, first: str | None) -> ProviderChoice:
    if first is None:
        return ProviderChoice(DEMO_PROVIDER, DEMO_PROVIDER)
    who = f"The agent {agent_id} uses" if agent_id else "The AI settings name"
    raise ProviderError(
        f"{who} {provider}, which has no key. "
        f"Set {all_vendors()[provider].main_variable}, or choose another provider for it."
    )


def open_conversation(
    agent_id: str,
    options: Options,
    choice: ProviderChoice,
    *,
    system_prompt: str,
    payload: JsonObject,
    output_type: type[BaseModel],
    toolbox: Toolbox | None = None,
    watcher: ConversationWatcher | None = None,
    fallback: ProviderChoice | None = None,
) -> Conversation:
    """Open a conversation with the selected provider. `fallback` takes over after an outage."""
    if choice.provider == DEMO_PROVIDER:
        # Imported here, because most processes use only one of the two.
        from agents_app.providers.demo.conversation import (
            DemoConversation,
        )

        return DemoConversation(
            agent_id,
            payload,
            output_type,
            system_prompt=system_prompt,
            toolbox=toolbox,
            watcher=watcher,
        )
    from agents_app.providers.model_conversation import ModelConversation

    return ModelConversation(
        options,
        choice,
        system_prompt,
        output_type,
        toolbox=toolbox or Toolbox(),
        watcher=watcher or ConversationWatcher(),
        fallback=fallback,
    )
