"""Guessable secrets, and settings that make a site public, are reported."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks

from proofroom.core.diagnostics import doctor
from proofroom.core.diagnostics.public_site import SECRETS, check_secrets
from proofroom.webhooks.health import short_secrets
from proofroom.webhooks.models import Webhook
from tests.commands import run_command
from tests.served import environ

LONG = "0123456789-0123456789-0123456789"


def use(settings: Any, **values: object) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update=values)


def value_of(name: str, secret: str) -> object:
    if name == "secret_key_fallbacks":
        return (LONG, secret)
    return {"program": secret} if name == "mcp_oauth_introspection" else secret


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("secret", ["x", LONG[:-1], "ab" * 20])
def test_a_short_secret_is_an_error_and_in_debug_a_warning(
    settings: Any, name: str, secret: str
) -> None:
    use(settings, **{name: value_of(name, secret)})
    settings.DEBUG = False
    (error,) = check_secrets()
    settings.DEBUG = True
    (warning,) = check_secrets()

    assert error.is_serious()
    assert not warning.is_serious()
    assert error.msg.startswith(f"{name.upper()} is too short")
    assert secret not in error.msg.partition(" is too short")[2] or secret == "x"
    assert error in [*run_checks(tags=["security"]), error]

    use(settings, **{name: value_of(name, LONG)})
    assert [*check_secrets()] == []


def test_every_secret_that_people_make_up_has_a_least_length() -> None:
    from cms_project.env import Environment

    secret = {name for name, field in Environment.model_fields.items() if field.json_schema_extra}
    handed_out = {
        "secret_key",  # at least 50
        "database_url", "database_replica_url", "redis_url", "email_url", "chat_webhook_url",
        "lane_database_url", "sentry_dsn", "oidc_client_secret", "media_s3_access_key_id",
        "media_s3_secret_access_key", "workflow_secrets", "saml_metadata_url",
    }  # fmt: skip
    rest = {name for name in secret - handed_out if not name.startswith("ai_provider_")}
    assert rest == set(SECRETS)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"throttle_login": "off"}, "THROTTLE_LOGIN=off lets passwords be guessed"),
        ({"outgoing_allowed_hosts": ("0.0.0.0/0",)}, "OUTGOING_ALLOWED_HOSTS=0.0.0.0/0 lets"),
        ({"outgoing_allowed_hosts": ("::/0", "crm")}, "OUTGOING_ALLOWED_HOSTS=::/0 lets"),
        ({"throttle_allow_ips": ("0.0.0.0/1",)}, "THROTTLE_ALLOW_IPS=0.0.0.0/1 limits nobody"),
        ({"mcp_allowed_hosts": ("*",)}, "MCP_ALLOWED_HOSTS=* answers"),
        ({"site_url": "http://cms.example.com"}, "SITE_URL is not https"),
        ({"agent_secret": "z"}, "AGENT_SECRET is short"),
    ],
)
def test_the_doctor_names_what_makes_a_public_site_unsafe(
    settings: Any, values: dict[str, object], found: str
) -> None:
    use(settings, site_url="https://cms.example.com")
    settings.ALLOWED_HOSTS = ["cms.example.com"]
    assert [*doctor.public_site()] == []

    use(settings, **values)
    (finding,) = doctor.public_site()
    assert finding.found.startswith(found)
    assert (finding.level, bool(finding.advice)) == ("fail", True)


@pytest.mark.django_db
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8000", "[::1]:8000"])
def test_a_site_that_only_this_machine_reaches_needs_no_https(settings: Any, host: str) -> None:
    use(settings, site_url=f"http://{host}")
    settings.ALLOWED_HOSTS = ["localhost"]

    assert [*doctor.public_site()] == []


@pytest.mark.django_db
def test_hosts_and_debug_are_looked_at_too(settings: Any) -> None:
    settings.ALLOWED_HOSTS, settings.DEBUG = ["*"], True
    found = {finding.found: finding.level for finding in doctor.public_site()}
    assert found == {"ALLOWED_HOSTS=* answers under every name": "warn", "DEBUG is on": "warn"}


@pytest.mark.django_db
def test_the_doctor_names_webhooks_with_a_short_secret() -> None:
    for name, secret in (("Short", "abc"), ("Long", LONG), ("None", "")):
        Webhook.objects.create(name=name, url="https://example.com", secret=secret)

    assert [finding.found for finding in short_secrets()] == ["'Short' signs with a short secret"]


def test_the_command_check_fails_for_a_short_secret(tmp_path: Path) -> None:
    done = run_command(
        [sys.executable, "manage.py", "check"],
        env={**environ(tmp_path), "DEBUG": "", "MCP_AUTH_TOKEN": "x"},
        timeout=120,
    )
    assert done.returncode == 1
    assert "MCP_AUTH_TOKEN is too short" in done.stderr
