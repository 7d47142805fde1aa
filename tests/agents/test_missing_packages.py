"""A provider whose package is not installed says how to install it. Nothing else needs the package."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from django.test import Client

from agents_app.health import missing_packages
from agents_app.images import generate_asset
from agents_app.models import AiSettings
from agents_app.providers.vendors import all_vendors
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from tests import make
from tests.agents.asking import KEY, execute
from tests.agents.environment import set_env

pytestmark = pytest.mark.django_db
SDKS = {"openai": "openai", "anthropic": "anthropic", "google": "google.genai"}


@pytest.fixture
def without(settings: Any, monkeypatch: pytest.MonkeyPatch, request: Any) -> str:
    """Hide the package of a provider that has a key. Returns the provider's sentence."""
    provider = request.param
    # Imports of a module that is None in `sys.modules` fail as if it were not installed.
    monkeypatch.setitem(sys.modules, SDKS[provider], None)
    set_env(settings, **{f"ai_provider_{provider}_api_key": KEY})
    name = all_vendors()[provider].name
    command = f'pip install "proofroom[{provider}]"'
    return f"{name} needs a package that is not installed. Run: {command}"


each_provider = pytest.mark.parametrize("without", SDKS, indirect=True)


@each_provider
def test_a_run_fails_with_the_command(without: str) -> None:
    run = execute(make.post())

    assert (run.status, run.error) == ("failed", without)


@each_provider
def test_the_doctor_and_the_pages_say_the_command(without: str, admin_client: Client) -> None:
    assert [(one.level, one.found) for one in missing_packages()] == [("fail", without)]
    escaped = without.replace('"', "&quot;")
    for page in ("agents_app/aisettings/", "agents_app/agentswitch/seo-specialist/change/"):
        assert escaped in admin_client.get(f"/admin/{page}").content.decode(), page
    answer = admin_client.get("/api/ai-settings").json()
    assert without in [one["missing"] for one in answer["providers"]]


@pytest.mark.parametrize("without", ["openai", "google"], indirect=True)
def test_an_image_is_refused_with_the_command(without: str) -> None:
    with pytest.raises(RuleViolation, match=r"proofroom\["):
        generate_asset(prompt="A cup", alt_text="A cup", actor=Actor(make.user("editor"), "admin"))


def test_the_demo_needs_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pydantic_ai", *SDKS.values()):
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("model_conversation", "model_requests", "model_images", "request_errors"):
        monkeypatch.delitem(sys.modules, f"agents_app.providers.{name}", raising=False)

    assert execute(make.post()).status == "succeeded"
    made = generate_asset(
        prompt="A cup", alt_text="A cup", actor=Actor(make.user("editor"), "admin")
    )
    assert made.asset.file.size
    assert list(missing_packages()) == []


@pytest.mark.parametrize("without", ["anthropic"], indirect=True)
def test_another_provider_is_not_affected(without: str, settings: Any) -> None:
    set_env(settings, ai_provider_openai_api_key=KEY)
    AiSettings.objects.create(text_provider="openai")

    assert [all_vendors()["openai"].missing_package, all_vendors()["ollama"].missing_package] == [
        "",
        "",
    ]
