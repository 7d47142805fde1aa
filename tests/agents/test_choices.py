"""The choice of providers for text and images."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents_app.definitions.schema import AgentDefinition
from agents_app.models import AiSettings
from agents_app.providers.interface import ProviderChoice, ProviderError
from agents_app.providers.selection import choose_media_provider, choose_provider, load_ai_defaults
from tests.agents.asking import KEY
from tests.agents.environment import set_env

pytestmark = pytest.mark.django_db


def agent(**config: str) -> AgentDefinition:
    return AgentDefinition.model_validate(
        {
            "id": "asked",
            "name": "Asked",
            "llmConfig": {"systemPrompt": "You are {{agent}}.", **config},
            "scopes": [{"scope": "global"}],
        }
    )


def text_choice(asked: AgentDefinition) -> ProviderChoice:
    return choose_provider(asked.llm_config, asked.id)


def media_choice(asked: AgentDefinition) -> ProviderChoice:
    return choose_media_provider(asked.llm_config, asked.id)


def chosen(**config: str) -> tuple[str, str]:
    choice = text_choice(agent(**config))
    return choice.provider, choice.model


def chosen_media(**config: str) -> tuple[str, str]:
    choice = media_choice(agent(**config))
    return choice.provider, choice.model


def test_without_any_key_the_demo_answers() -> None:
    assert chosen() == ("demo", "demo")
    assert chosen(providerText="google", modelText="gemini-3.8-flash") == ("demo", "demo")
    assert chosen_media() == ("demo", "demo")
    AiSettings.objects.create(text_provider="openai", media_provider="openai")
    assert chosen() == ("demo", "demo")
    assert chosen_media() == ("demo", "demo")


def test_the_agents_own_pair_comes_first(settings: Any) -> None:
    set_env(settings, ai_provider_openai_api_key=KEY, ai_provider_google_api_key=KEY)
    AiSettings.objects.create(text_provider="google", text_model="gemini-3.5-flash")
    assert chosen(providerText="openai", modelText="gpt-6-luna") == ("openai", "gpt-6-luna")
    assert chosen(providerText="openai") == ("openai", "gpt-6.1-terra")
    assert chosen(providerText="demo") == ("demo", "demo")


def test_then_the_ai_settings_then_the_environment_then_the_fallback(settings: Any) -> None:
    fallback = {"provider": "anthropic", "model": "claude-haiku-5-5"}
    assert chosen(**fallback) == ("demo", "demo")
    assert chosen(**fallback, apiKey="own") == ("anthropic", "claude-haiku-5-5")
    set_env(settings, ai_provider_openai_api_key=KEY, ai_provider_google_api_key=KEY)
    assert chosen(**fallback) == ("openai", "gpt-6.1-terra")
    row = AiSettings.objects.create(text_provider="google")
    assert chosen(**fallback) == ("google", "gemini-3.8-flash")
    row.text_model = "gemini-3.5-flash"
    row.save()
    assert chosen(**fallback) == ("google", "gemini-3.5-flash")
    row.text_provider = "demo"
    row.save()
    assert chosen(**fallback) == ("demo", "demo")


def test_the_fallback_model_serves_its_own_provider_only(settings: Any) -> None:
    set_env(settings, ai_provider_openai_api_key=KEY)
    assert chosen(provider="openai", model="gpt-6-luna") == ("openai", "gpt-6-luna")
    assert chosen(model="gpt-6-luna") == ("openai", "gpt-6-luna")
    assert chosen(provider="google", model="gemini") == ("openai", "gpt-6.1-terra")
    assert chosen(modelText="gpt-6-luna") == ("openai", "gpt-6.1-terra")
    AiSettings.objects.create(text_provider="openai")
    assert chosen(provider="openai", model="gpt-6-luna") == ("openai", "gpt-6-luna")


def test_content_goes_to_no_vendor_that_nobody_chose(settings: Any) -> None:
    set_env(settings, ai_provider_openai_api_key=KEY)
    with pytest.raises(ProviderError, match="The agent asked uses google, which has no key"):
        chosen(providerText="google")
    with pytest.raises(ProviderError, match="AI_PROVIDER_OLLAMA_BASE_URL"):
        chosen(providerText="ollama")
    AiSettings.objects.create(text_provider="anthropic", media_provider="google")
    with pytest.raises(ProviderError, match="AI_PROVIDER_ANTHROPIC_API_KEY"):
        chosen()
    with pytest.raises(ProviderError, match="AI_PROVIDER_GOOGLE_API_KEY"):
        chosen_media()
    with pytest.raises(ProviderError, match="The AI settings name google, which has no key"):
        choose_media_provider()


def test_a_key_in_a_file_goes_to_the_first_provider_that_the_file_names(settings: Any) -> None:
    set_env(settings, ai_provider_openai_api_key=KEY, ai_provider_google_api_key="g")
    own = agent(providerText="openai", provider="google", providerMedia="google", apiKey="own-key")
    assert text_choice(own).key == "own-key"
    assert media_choice(own).key == "g"

    other = agent(provider="anthropic", apiKey="own-key")
    assert (text_choice(other).provider, text_choice(other).key) == ("openai", KEY)
    pictures = agent(providerMedia="google", apiKey="own-key")
    assert (media_choice(pictures).key, text_choice(pictures).key) == ("own-key", KEY)
    assert "own-key" not in repr([own, other, text_choice(own)])
    assert KEY not in repr(text_choice(other))


def test_who_makes_pictures(settings: Any) -> None:
    set_env(settings, ai_provider_google_api_key=KEY)
    assert chosen_media() == ("google", "gemini-3.1-flash-image")
    assert chosen_media(providerMedia="demo") == ("demo", "demo")
    assert chosen_media(provider="google", model="gemini-3-pro-image") == (
        "google",
        "gemini-3-pro-image",
    )
    assert chosen_media(provider="google", model="gemini-3.8-flash") == (
        "google",
        "gemini-3.1-flash-image",
    ), "a model of words makes no pictures"
    row = AiSettings.objects.create(media_provider="google", media_model="gemini-3-pro-image")
    assert chosen_media() == ("google", "gemini-3-pro-image")
    assert choose_media_provider().model == "gemini-3-pro-image"
    own = {"providerMedia": "google", "modelMedia": "gemini-2.5-flash-image"}
    assert chosen_media(**own) == ("google", "gemini-2.5-flash-image")
    row.media_provider = "demo"
    row.save()
    assert chosen_media() == ("demo", "demo")


def test_no_demo_picture_passes_for_one_where_a_provider_of_words_is_set_up(settings: Any) -> None:
    set_env(settings, ai_provider_anthropic_api_key=KEY)
    with pytest.raises(ProviderError) as caught:
        chosen_media()
    assert str(caught.value) == (
        "No provider that makes images has a key. "
        "Set AI_PROVIDER_OPENAI_API_KEY or AI_PROVIDER_GOOGLE_API_KEY."
    )


def test_a_provider_in_the_settings_that_is_none_is_refused(settings: Any) -> None:
    set_env(settings, ai_provider_openai_api_key=KEY)
    AiSettings.objects.create(text_provider="acme", media_provider="anthropic")
    with pytest.raises(ProviderError, match="no text provider 'acme'"):
        chosen()
    with pytest.raises(ProviderError, match="no media provider 'anthropic'"):
        chosen_media()


def test_many_agents_are_resolved_with_one_query(settings: Any) -> None:
    set_env(settings, ai_provider_openai_api_key=KEY)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        defaults = load_ai_defaults()
        for model in ("a", "b", "c"):
            asked = agent(model=model)
            choose_provider(asked.llm_config, asked.id, defaults)
            choose_media_provider(asked.llm_config, asked.id, defaults)
    assert len(queries) == 1
