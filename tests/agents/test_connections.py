"""Connection tests of providers: requested on the page of AI settings, run by a worker, reported in plain words."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents_app.admin.budgets.ai_settings_admin import connections
from agents_app.ai_settings import ai_settings, providers, run_connection_test
from agents_app.models import ProviderCheck
from proofroom.core.models import Event
from tests.agents.asking import KEY
from tests.agents.environment import set_env
from tests.conftest import RunOnCommit
from tests.fake_provider import Reply, serving

pytestmark = pytest.mark.django_db
PAGE = "/admin/agents_app/aisettings/"
OPENAI = json.dumps({"object": "list", "data": [{"id": "gpt-6.1-terra"}, {"id": "gpt-old"}]})
ANTHROPIC = json.dumps({"data": [{"id": "claude-sonnet-5-5-20260929"}], "has_more": False})
GOOGLE = json.dumps({"models": [{"name": "models/gemini-3.8-flash"}], "nextPageToken": "more"})


def said() -> str:
    """Return the page's text about the only test."""
    (found,) = [one.tested.said for one in connections(providers(ai_settings())) if one.tested]
    return found


def ask(client: Client, provider: str) -> None:
    ProviderCheck.objects.update(asked_at=timezone.now() - timedelta(minutes=1))
    response = client.post(f"{PAGE}test/{provider}/")
    assert (response.status_code, response["location"]) == (302, f"{PAGE}#providers")


@pytest.mark.parametrize(
    ("provider", "path", "header", "body", "sentence"),
    [
        (
            "openai",
            "/v1/models",
            ("authorization", f"Bearer {KEY}"),
            OPENAI,
            "2 models are available. Not",
        ),
        (
            *("anthropic", "/v1/models?limit=1000", ("x-api-key", KEY), ANTHROPIC),
            "Connection works. 1 model is available.",
        ),
        (
            *("google", "/v1beta/models?pageSize=1000", ("x-goog-api-key", KEY), GOOGLE),
            "Connection works. 1 model is available.",
        ),
    ],
)
def test_each_vendor_is_asked_for_its_models_with_the_key(
    settings: Any,
    signed_in: Any,
    run_on_commit: RunOnCommit,
    provider: str,
    path: str,
    header: tuple[str, str],
    body: str,
    sentence: str,
) -> None:
    admin = signed_in("admin")
    with serving(Reply(raw=body)) as fake:
        address = fake.openai_url if provider == "openai" else fake.address
        own = {"api_key": KEY, "base_url": address}
        set_env(settings, **{f"ai_provider_{provider}_{name}": own[name] for name in own})
        with run_on_commit():
            ask(admin, provider)

    (asked,) = fake.asked
    assert (asked.path, asked.headers[header[0]]) == (path, header[1])
    assert sentence in said()
    assert ("gpt-image-2" in said()) is (provider == "openai")
    event = Event.objects.get(name="ai.provider.tested")
    assert event.payload["name"] == provider


def test_what_went_wrong_is_said_in_words_that_hold_nothing_of_the_answer(
    settings: Any, signed_in: Any
) -> None:
    admin = signed_in("admin")
    google_key = json.dumps({"error": {"details": [{"reason": "API_KEY_INVALID"}]}})
    told = [
        (
            "openai",
            Reply(status=401, message=f"Incorrect key: {KEY}"),
            "The provider rejected the API key (401).",
        ),
        ("openai", Reply(status=429), "you may be out of credit or over a rate limit"),
        ("openai", Reply(status=404), "has no list of models at this address (404)"),
        ("openai", Reply(status=503), "The provider returned an error (503)."),
        (
            "openai",
            Reply(raw="[" * 100_000),
            "The response is not a list of models. Check the address",
        ),
        ("openai", Reply(raw='{"data": [{"id": 7}, "<b>"]}'), "0 models are available"),
        (
            "openai",
            Reply(raw=OPENAI, packing="gzip"),
            "The response is not a list of models. Check the address",
        ),
        ("openai", Reply(dropped=True), "Could not reach the address"),
        ("google", Reply(status=400, raw=google_key), "The provider rejected the API key (400)."),
    ]
    with serving(*[reply for _, reply, _ in told]) as fake:
        for provider, _, sentence in told:
            own = {"api_key": KEY, "base_url": fake.address}
            set_env(settings, **{f"ai_provider_{provider}_{name}": own[name] for name in own})
            ProviderCheck.objects.all().delete()
            ask(admin, provider)
            assert said() == "Testing…"
            run_connection_test(provider)
            run_connection_test(provider)
            assert sentence in said()
    assert len(fake.asked) == len(told)
    html = admin.get(PAGE).content.decode()
    assert "<span data-say>The provider rejected the API key (400). Set a valid key in " in html
    assert KEY not in html

    no_port = "http://127.0.0.1:99999999"
    for unusable in ({"api_key": "key\u2028"}, {"api_key": KEY, "base_url": no_port}):
        set_env(settings, **{f"ai_provider_google_{name}": unusable[name] for name in unusable})
        ask(admin, "google")
        run_connection_test("google")
        assert "The API key or address contains invalid characters. Check" in said()


def test_a_test_is_for_admins_not_twice_at_once_and_never_for_ever(
    settings: Any, signed_in: Any
) -> None:
    admin, editor = signed_in("admin"), signed_in()
    set_env(settings, ai_provider_openai_api_key=KEY)

    assert editor.post(f"{PAGE}test/openai/").status_code == 403
    for nobody in ("demo", "nonsense"):
        html = admin.post(f"{PAGE}test/{nobody}/", follow=True).content.decode()
        assert f"There is no provider &#x27;{nobody}&#x27;." in html
    html = admin.post(f"{PAGE}test/google/", follow=True).content.decode()
    assert "Set AI_PROVIDER_GOOGLE_API_KEY before you test" in html
    assert not ProviderCheck.objects.exists()

    ask(admin, "openai")
    before = ProviderCheck.objects.values().get()
    html = admin.post(f"{PAGE}test/openai/", follow=True).content.decode()
    assert "was tested just now" in html
    assert 'http-equiv="refresh"' in html
    assert ProviderCheck.objects.values().get() == before
    set_env(settings, ai_provider_ollama_base_url="http://127.0.0.1:1/v1")
    ask(admin, "ollama")
    html = admin.post(f"{PAGE}test/ollama/", follow=True, headers={"accept-language": "de"})
    assert "Ollama or any OpenAI-compatible server" not in html.content.decode()
    ProviderCheck.objects.filter(pk="ollama").delete()

    ProviderCheck.objects.update(asked_at=timezone.now() - timedelta(minutes=1))
    html = admin.get(PAGE).content.decode()
    assert "The test did not finish" in html
    assert "Test again" in html
    assert 'http-equiv="refresh"' not in html
