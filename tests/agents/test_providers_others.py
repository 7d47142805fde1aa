"""A run with a model, over the provider's real protocol, against a server of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import make
from tests.agents.asking import KEY, execute
from tests.agents.environment import set_env
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
