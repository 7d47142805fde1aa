"""The environment: parsing, and errors."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agents_app.providers.vendors import all_vendors
from cms_project.database import database_settings
from cms_project.env import Environment, example_of, load, own_variable, secrets_of
from cms_project.folders import BASE_DIR
from cms_project.logs import RedactingFormatter
from cms_project.security import secret_key
from tests.commands import run_command


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Provide an empty environment with only the test's variables."""
    values: dict[str, str] = {}
    monkeypatch.setattr(os, "environ", values)
    monkeypatch.setitem(Environment.model_config, "env_file", None)
    return values


def refusal() -> list[str]:
    with pytest.raises(SystemExit) as refused:
        load()
    return str(refused.value).splitlines()


def test_everything_has_a_default(environ):
    env = load()

    assert (env.port, env.mcp_port) == (8000, 8787)
    assert env.cms_data_dir == BASE_DIR / "var"
    assert env.locales == ("en", "de")
    assert env.default_locale == "en"
    assert env.debug is False
    assert env.throttle_user == "1000/hour"
    assert env.mcp_auth_token is None


def test_values_are_typed(environ):
    environ |= {
        "LOCALES": "fr, pt-BR",
        "MCP_SYSTEM_USER_ID": "7",
        "DEBUG": "1",
        "WEBHOOK_RETRY_SECONDS": "1,2",
        "THROTTLE_ALLOW_IPS": "10.0.0.0/8,::1",
        "SITE_URL": "https://cms.example/",
    }

    env = load()

    assert env.locales == ("fr", "pt-BR")
    assert env.default_locale == "fr"
    assert env.mcp_system_user_id == 7
    assert env.debug is True
    assert env.webhook_retry_seconds == (1, 2)
    assert env.throttle_allow_ips == ("10.0.0.0/8", "::1")
    assert env.site_url == "https://cms.example"


def test_an_empty_value_counts_as_unset(environ):
    environ |= {"PORT": "", "LOCALES": ""}

    assert load().port == 8000


def test_a_language_code_that_no_column_holds_is_refused(environ):
    environ |= {"LOCALES": "en,zh-Hant-CN-x"}
    assert refusal() == [
        "LOCALES is 'en,zh-Hant-CN-x': 'zh-Hant-CN-x' is not a language code such as 'en' or 'pt-br'."
    ]

    environ |= {"LOCALES": "en,zh-Hant-CN-variant"}
    assert refusal() == [
        "LOCALES is 'en,zh-Hant-CN-variant': a language code may have at most 12 characters."
    ]


def test_each_wrong_variable_gets_one_sentence(environ):
    environ |= {"PORT": "abc", "LOCALES": "en,1,2", "THROTTLE_ANON": "many"}

    assert refusal() == [
        "PORT is 'abc': should be a valid integer, unable to parse string as an integer.",
        "LOCALES is 'en,1,2': '1' is not a language code such as 'en' or 'pt-br'.",
        "THROTTLE_ANON is 'many': it must look like 100/hour (per second, minute, hour or day), or be off.",
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "0"),
        ("PORT", "65536"),
        ("TRUSTED_PROXIES", "-1"),
        ("CMS_CACHE_MIB", "0"),
        ("DEBUG", "maybe"),
        ("THROTTLE_USER", "0/hour"),
        ("THROTTLE_ALLOW_IPS", "10.0.0.300"),
        ("SITE_URL", "cms.example"),
        ("CHAT_WEBHOOK_URL", "ftp://chat.example"),
        ("MCP_SYSTEM_USER_ID", "one"),
        ("MEDIA_MAX_BYTES", "20MB"),
        ("SECRET_KEY", "short"),
        ("AI_PROVIDER_OLLAMA_BASE_URL", "localhost"),
        ("SENTRY_DSN", "nonsense"),
        ("SENTRY_DSN", "https://key@sentry.example/project"),
    ],
)
def test_a_wrong_value_names_its_variable(environ, name, value):
    environ[name] = value

    assert [line.split()[0] for line in refusal()] == [name]


def test_a_wrong_secret_is_not_shown(environ):
    environ |= {"SECRET_KEY": "hunter2", "CHAT_WEBHOOK_URL": "canary-address"}

    assert "hunter2" not in "".join(refusal())
    assert "canary-address" not in "".join(refusal())


def test_the_default_locale_is_one_of_the_locales(environ):
    environ |= {"LOCALES": "en,de", "DEFAULT_LOCALE": "fr"}

    assert refusal() == ["DEFAULT_LOCALE is 'fr', which is not in LOCALES (en, de)."]


def test_a_header_pair_needs_both_halves(environ):
    environ["MCP_AUTH_HEADER_NAME"] = "X-Key"

    assert refusal() == ["set both MCP_AUTH_HEADER_NAME and MCP_AUTH_HEADER_VALUE, or neither."]


def test_a_key_of_an_unknown_provider_is_a_typing_error(environ):
    environ["AI_PROVIDER_OPENIA_API_KEY"] = "k"
    env = load()

    # Once the apps are there, which may bring providers of their own.
    with pytest.raises(SystemExit) as refused:
        env.require_known_providers()

    assert str(refused.value) == (
        f"AI_PROVIDER_OPENIA_API_KEY belongs to no provider; the providers are {', '.join(all_vendors())}."
    )
    assert env.api_key("openia") in secrets_of(env)


def test_an_apps_provider_variables_are_read_like_all_others(environ, tmp_path):
    (tmp_path / "key").write_text("key-of-acme\n")
    environ["AI_PROVIDER_ACME_API_KEY_FILE"] = str(tmp_path / "key")
    environ["AI_PROVIDER_ACME_BASE_URL"] = "https://ai.example/v1/"

    env = load()
    assert (env.api_key("acme"), env.base_url("acme")) == ("key-of-acme", "https://ai.example/v1")
    assert env.has_provider("acme")

    environ["AI_PROVIDER_ACME_BASE_URL"] = "ai.example"
    assert "http" in "".join(refusal())


def test_providers_are_asked_by_name(environ):
    environ |= {
        "AI_PROVIDER_ANTHROPIC_API_KEY": "key-a",
        "AI_PROVIDER_OLLAMA_BASE_URL": "http://127.0.0.1:11434/v1",
    }

    env = load()

    assert env.api_key("anthropic") == "key-a"
    assert env.api_key("openai") is None
    assert env.base_url("ollama") == "http://127.0.0.1:11434/v1"


def test_a_secret_may_come_from_a_file(environ, tmp_path: Path):
    (tmp_path / "token").write_text("from-the-file\n")
    environ["MCP_AUTH_TOKEN_FILE"] = str(tmp_path / "token")

    assert load().mcp_auth_token == "from-the-file"


def test_a_file_that_cannot_be_read_is_named(environ, tmp_path: Path):
    environ["AI_PROVIDER_OPENAI_API_KEY_FILE"] = str(tmp_path / "absent")

    (line,) = refusal()

    assert line.startswith("AI_PROVIDER_OPENAI_API_KEY_FILE names ")
    assert line.endswith("which cannot be read: No such file or directory.")


def test_secrets_stay_out_of_repr_and_are_known(environ):
    environ |= {"MCP_AUTH_TOKEN": "canary-token", "AGENT_SECRET": "canary-secret"}

    env = load()

    assert "canary" not in repr(env)
    assert sorted(secrets_of(env)) == ["canary-secret", "canary-token"]


def test_credentials_of_workflows_are_read_by_name_and_are_secrets(environ):
    environ["WORKFLOW_SECRETS"] = '{"n8n": "canary-one", "zapier": "canary-two"}'

    env = load()

    assert env.workflow_secrets == {"n8n": "canary-one", "zapier": "canary-two"}
    assert "canary" not in repr(env)
    assert secrets_of(env) == ["canary-one", "canary-two"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("canary", "it must be a JSON object such as"),
        ('["canary"]', "it must be a JSON object such as"),
        ('{"a b": "canary"}', "its names may only contain letters"),
        ('{"a": "canary\\r\\nX: 1"}', "must be ASCII text without spaces"),
        ('{"a": 1}', "must be ASCII text without spaces"),
    ],
)
def test_wrong_credentials_of_workflows_stop_the_start_and_are_not_shown(environ, value, reason):
    environ["WORKFLOW_SECRETS"] = value

    (line,) = refusal()

    assert line.startswith("WORKFLOW_SECRETS has a wrong value: ")
    assert reason in line
    assert "canary" not in line


def test_the_example_file_is_current():
    assert (BASE_DIR / ".env.example").read_text() == example_of(Environment)


def test_the_example_is_written_into_a_file_that_is_named(tmp_path: Path):
    written = tmp_path / "example"
    subprocess.run(
        [sys.executable, "-m", "cms_project.env", str(written)], cwd=BASE_DIR, check=True
    )

    assert written.read_text() == example_of(Environment)


def test_sqlite_serves_without_an_address(tmp_path: Path):
    database = database_settings(None, tmp_path)

    assert database["NAME"] == tmp_path / "cms.sqlite3"
    assert database["OPTIONS"]["transaction_mode"] == "IMMEDIATE"


def test_an_address_of_postgresql_is_taken_apart(tmp_path: Path):
    url = "postgresql://me:p%40ss@db.example:6543/the_name?sslmode=require"

    database = database_settings(url, tmp_path)

    assert database["ENGINE"] == "proofroom.core.database.postgresql"
    assert [database[key] for key in ("NAME", "USER", "PASSWORD", "HOST", "PORT")] == [
        "the_name",
        "me",
        "p@ss",
        "db.example",
        "6543",
    ]
    assert database["OPTIONS"]["sslmode"] == "require"
    assert database["CONN_MAX_AGE"] == 0


@pytest.mark.parametrize("url", ["mysql://h/n", "postgres://host", "nonsense"])
def test_another_address_is_refused(url, tmp_path: Path):
    with pytest.raises(ValueError, match="postgresql://user:password@host:5432/name"):
        database_settings(url, tmp_path)


def test_a_password_that_was_not_encoded_is_not_shown(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="%40 for @") as refused:
        database_settings("postgresql://me:p@ss:hunter2/more@db/name", tmp_path)

    assert "hunter2" not in str(refused.value)


def test_a_secret_key_is_made_once_and_only_its_owner_reads_it(tmp_path: Path):
    first = secret_key(given=None, data_dir=tmp_path / "data", may_generate=True)
    second = secret_key(given=None, data_dir=tmp_path / "data", may_generate=False)

    assert first == second
    assert len(first) >= 50
    assert (tmp_path / "data/secret_key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["secret_key"]


def test_production_needs_a_secret_key(tmp_path: Path):
    with pytest.raises(SystemExit, match="SECRET_KEY is not set"):
        secret_key(given=None, data_dir=tmp_path, may_generate=False)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "message",
    [
        "key canary-secret leaked",
        "Authorization: Bearer other-value-1",
        '{"password": "other-value-1"}',
        "GET /x?token=other-value-1&page=2",
        "cannot reach postgresql://me:other-value-1@db/name",
    ],
)
def test_logs_hide_secrets(message):
    formatter = RedactingFormatter("%(message)s", secrets=["canary-secret"])
    record = logging.LogRecord("x", logging.INFO, "x.py", 1, message, None, None)

    line = formatter.format(record)

    assert "[hidden]" in line
    assert "canary" not in line
    assert "other-value-1" not in line


def test_logs_hide_secrets_in_traces():
    try:
        raise ValueError("canary-secret")
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, "x.py", 1, "failed", None, sys.exc_info())

    assert "canary" not in RedactingFormatter(secrets=["canary-secret"]).format(record)


@pytest.mark.parametrize("name", ["CMS_DATA_DIR", "CMS_STATIC_DIR"])
def test_a_folder_that_is_none_is_named_in_one_sentence(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run_command(
        [sys.executable, "manage.py", "check"],
        cwd=BASE_DIR,
        env={**os.environ, "CMS_DATA_DIR": str(tmp_path), name: str(tmp_path / "file")},
    )

    assert done.returncode != 0
    assert done.stderr == (
        f"CMS_DATA_DIR or CMS_STATIC_DIR has a wrong value: {tmp_path}/file cannot be created or used as a folder "
        "(File exists).\n"
    )


def test_a_redis_address_without_its_scheme_is_refused() -> None:
    done = run_command(
        [sys.executable, "manage.py", "check"],
        cwd=BASE_DIR,
        env={**os.environ, "REDIS_URL": "localhost"},
    )

    assert done.returncode != 0
    assert done.stderr.startswith("REDIS_URL has a wrong value: it must be a URL")


def test_hosts_of_frames_are_host_names_and_nothing_that_could_widen_a_policy(environ):
    environ["EMBED_HOSTS"] = "player.vimeo.com, www.youtube-nocookie.com"
    assert load().embed_hosts == ("player.vimeo.com", "www.youtube-nocookie.com")

    for wrong in ("*", "https://a.example", "a.example; script-src *", "a.example 'unsafe-inline'"):
        environ["EMBED_HOSTS"] = wrong
        assert "is not a host name such as player.vimeo.com" in refusal()[0], wrong


def test_a_site_s_own_variable_comes_from_the_environment_or_a_file_or_dotenv(
    environ, monkeypatch, tmp_path
):
    (tmp_path / ".env").write_text(
        "SHOP_PHONE='+33 1'\nSHOP_ROOMS=12\nSHOP_KEY=written\nSHOP_EMPTY=\n", encoding="utf-8"
    )
    (tmp_path / "key").write_text("kept\n", encoding="utf-8")
    monkeypatch.setitem(Environment.model_config, "env_file", tmp_path / ".env")
    environ |= {"SHOP_ROOMS": "7", "SHOP_KEY_FILE": str(tmp_path / "key"), "SHOP_OPEN": "0"}

    assert own_variable("SHOP_PHONE", "none") == "+33 1"
    assert own_variable("SHOP_ROOMS", 3) == 7
    assert own_variable("SHOP_KEY", "") == "kept"
    assert own_variable("SHOP_OPEN", True) is False
    assert own_variable("SHOP_EMPTY", "none") == "none"
    assert own_variable("SHOP_TAX", 0.2) == 0.2


def test_a_site_s_own_variable_that_does_not_fit_is_named(environ, tmp_path):
    environ |= {"SHOP_ROOMS": "many", "SHOP_KEY_FILE": str(tmp_path / "gone")}

    with pytest.raises(SystemExit, match=r"^SHOP_ROOMS is 'many': should be a valid integer"):
        own_variable("SHOP_ROOMS", 3)
    with pytest.raises(SystemExit, match=r"^SHOP_KEY_FILE names .* cannot be read"):
        own_variable("SHOP_KEY", "")
