"""A run with a model, over the provider's real protocol, against a server of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents_app.definitions import files as definitions
from agents_app.providers.choices import resolve
from agents_app.providers.port import ProviderError
from tests import make
from tests.agents.asking import KEY, execute
from tests.agents.environment import set_env, write_agent
from tests.fake_provider import Reply, serving

pytestmark = pytest.mark.django_db


def test_anthropic_speaks_its_own_protocol(settings: Any, agents_dir: Path) -> None:
    with serving(Reply({"post": {"metaTitle": "From another vendor"}})) as fake:
        set_env(
            settings,
            cms_agents_dir=agents_dir,
            ai_provider_anthropic_api_key=KEY,
            ai_provider_anthropic_base_url=fake.address,
        )

        run = execute(make.post())

    assert (run.status, run.provider, run.staged) == (
        "succeeded",
        "anthropic",
        ["post.metaTitle"],
    ), run.error
    assert fake.asked[0].path == "/v1/messages"
    assert run.cost is not None


def test_an_ollama_server_needs_no_key_and_costs_nothing(settings: Any) -> None:
    with serving(Reply({"post": {"metaTitle": "From a cellar"}})) as fake:
        set_env(settings, ai_provider_ollama_base_url=fake.openai_url)

        run = execute(make.post())

    assert (run.status, run.provider, run.cost) == ("succeeded", "ollama", 0), run.error


def test_who_answers(settings: Any, agents_dir: Path) -> None:
    def chosen(config: str) -> tuple[str, str]:
        write_agent(agents_dir, "asked", "dropdown", extra=f"llmConfig: {{{config}}}")
        definitions.reload()
        agent = definitions.get_agent("asked")
        assert agent is not None
        choice = resolve(agent)
        return choice.provider, choice.model

    assert chosen("") == ("demo", "demo")
    assert chosen("providerText: google, modelText: gemini-3.8-flash") == ("demo", "demo")
    assert chosen("provider: ollama, model: m, apiKey: own") == ("ollama", "m")

    set_env(settings, ai_provider_openai_api_key=KEY)
    assert chosen("") == ("openai", "gpt-6.1-terra")
    assert chosen("providerText: openai, modelText: gpt-6-luna") == ("openai", "gpt-6-luna")
    assert chosen("provider: anthropic, model: claude-haiku-5-5") == ("openai", "gpt-6.1-terra")
    assert chosen("providerText: google, modelText: g, apiKey: own") == ("google", "g")
    assert chosen("providerText: demo") == ("demo", "demo")
    with pytest.raises(ProviderError, match="AI_PROVIDER_GOOGLE_API_KEY"):
        chosen("providerText: google, modelText: gemini-3.8-flash")


def test_a_key_in_a_file_goes_to_its_own_provider_only(settings: Any, agents_dir: Path) -> None:
    set_env(settings, ai_provider_openai_api_key=KEY)
    write_agent(
        agents_dir, "asked", "dropdown", extra="llmConfig: {provider: anthropic, apiKey: own-key}"
    )
    definitions.reload()
    agent = definitions.get_agent("asked")
    assert agent is not None

    choice = resolve(agent)

    assert (choice.provider, choice.key) == ("openai", KEY)
    assert "own-key" not in repr(choice)
    assert KEY not in repr(choice)
