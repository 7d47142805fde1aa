"""A run with a model, over the provider's real protocol, against a server of this machine."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests import make
from tests.agents.asking import KEY, execute
from tests.agents.environment import set_env
from tests.fake_provider import Reply, serving

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("provider", "path"),
    [
        ("anthropic", "/v1/messages"),
        ("google", "/v1beta/models/gemini-3.8-flash:streamGenerateContent"),
    ],
)
def test_each_vendor_is_spoken_to_in_its_own_protocol(
    settings: Any, agents_dir: Path, provider: str, path: str
) -> None:
    with serving(Reply({"post": {"metaTitle": "From another vendor"}})) as fake:
        set_env(
            settings,
            cms_agents_dir=agents_dir,
            **{
                f"ai_provider_{provider}_api_key": KEY,
                f"ai_provider_{provider}_base_url": fake.address,
            },
        )

        run = execute(make.post())

    assert (run.status, run.provider, run.staged) == (
        "succeeded",
        provider,
        ["post.metaTitle"],
    ), run.error
    assert fake.asked[0].path.partition("?")[0] == path
    assert run.cost is not None


def test_an_ollama_server_needs_no_key_and_costs_nothing(settings: Any) -> None:
    with serving(Reply({"post": {"metaTitle": "From a cellar"}})) as fake:
        set_env(settings, ai_provider_ollama_base_url=fake.openai_url)

        run = execute(make.post())

    assert (run.status, run.provider, run.cost) == ("succeeded", "ollama", Decimal(0)), run.error
