"""Configurations for AI clients: valid, without a secret unless one is passed, safe in a shell."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command

from mcp_bridge.client_config import (
    CLIENTS,
    TRANSPORTS,
    ClientCredential,
    Transport,
    client_config,
    quote_word,
    token_credential,
    usual_credential,
)
from mcp_bridge.server_address import server_url
from tests.mcp.running import ROOT

SECRET = "canary-4b7e-secret"
URL = "http://127.0.0.1:8787/mcp"
PROGRAM = [sys.executable, str(ROOT / "manage.py"), "run_mcp", "--transport", "stdio"]
Environment = Callable[..., None]


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Unset all variables of the product except the test's."""
    for name in type(settings.CMS_ENV).model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
        monkeypatch.delenv(f"{name.upper()}_FILE", raising=False)
    return monkeypatch


def config(
    client: str, transport: Transport, credential: ClientCredential | None = None, url: str = URL
) -> Any:
    """Return the configuration as the client reads it: JSON, or the split words of a command."""
    text = client_config(client, url=url, transport=transport, credential=credential)
    return shlex.split(text) if client == "claude-code" else json.loads(text)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(
    "credential",
    [{"mcp_auth_token": SECRET},
     {"mcp_auth_header_name": "X-Cms-Key", "mcp_auth_header_value": SECRET}, {}],
    ids=["token", "header", "none"],
)  # fmt: skip
def test_no_configuration_shows_a_configured_secret(
    environment: Environment, client: str, transport: Transport, credential: dict[str, str]
) -> None:
    environment(**credential)

    text = client_config(client, url=URL, transport=transport, credential=usual_credential(URL))

    assert SECRET not in text
    if transport == "stdio" and client != "n8n":
        assert "manage.py" in text
        assert URL not in text
        assert "MCP_AUTH" not in text
    else:
        assert URL in text
        assert ("MCP_AUTH_TOKEN" in text) == ("mcp_auth_token" in credential)
        assert ("X-Cms-Key" in text) == ("mcp_auth_header_name" in credential)


def test_claude_code_reads_a_file_and_takes_a_command() -> None:
    header = "Bearer ${CMS_MCP_TOKEN}"
    for transport, kind in (("streamable-http", "http"), ("sse", "sse")):
        entry = config("claude", transport, token_credential())["mcpServers"]["proofroom"]
        assert entry == {"type": kind, "url": URL, "headers": {"Authorization": header}}
        words = ["claude", "mcp", "add", "--transport", kind, "proofroom", URL]
        assert config("claude-code", transport) == words
        assert config("claude-code", transport, token_credential()) == [
            *words, "--header", f"Authorization: {header}",
        ]  # fmt: skip
    file = config("claude", "stdio", token_credential())
    assert file == {
        "mcpServers": {"proofroom": {"type": "stdio", "command": PROGRAM[0], "args": PROGRAM[1:]}}
    }
    assert config("claude-code", "stdio") == ["claude", "mcp", "add", "proofroom", "--", *PROGRAM]


def test_a_program_receives_the_site_url(variables: pytest.MonkeyPatch) -> None:
    variables.setenv("CMS_DATA_DIR", "var")
    variables.setenv("LOCALES", "en,fr")
    variables.setenv("DATABASE_URL", f"postgresql://cms:{SECRET}@db/cms")
    variables.setenv("AGENT_SECRET_FILE", "/run/secrets/agent")
    variables.setenv("MCP_PORT", "9")
    variables.setenv("MCP_AUTH_TOKEN", SECRET)
    plain = {
        "CMS_DATA_DIR": str(settings.CMS_ENV.cms_data_dir),
        "LOCALES": "en,fr",
        "AGENT_SECRET_FILE": "/run/secrets/agent",
    }

    placeholders = {
        "claude": "${DATABASE_URL}",
        "cursor": "${env:DATABASE_URL}",
        "claude-desktop": "<value of DATABASE_URL>",
    }
    for client, placeholder in placeholders.items():
        entry = config(client, "stdio")["mcpServers"]["proofroom"]
        assert entry["env"] == {**plain, "DATABASE_URL": placeholder}
    asked = config("vscode", "stdio")
    assert asked["servers"]["proofroom"]["env"]["DATABASE_URL"] == "${input:DATABASE_URL}"
    assert [one["id"] for one in asked["inputs"]] == ["DATABASE_URL"]
    words = config("claude-code", "stdio")
    assert words[-len(PROGRAM) - 4 :] == ["--transport", "stdio", "proofroom", "--", *PROGRAM]
    assert "DATABASE_URL=${DATABASE_URL}" in words
    assert "LOCALES=en,fr" in words
    assert all(SECRET not in client_config(one, url=URL, transport="stdio") for one in CLIENTS)


def test_claude_desktop_starts_programs_only() -> None:
    entry = config("claude-desktop", "streamable-http", token_credential())["mcpServers"][
        "proofroom"
    ]
    assert entry == {
        "command": "npx",
        "args": ["-y", "mcp-remote", URL, "--transport", "http-only",
                 "--header", "Authorization:${CMS_MCP_CREDENTIAL}"],
        "env": {"CMS_MCP_CREDENTIAL": "Bearer <value of CMS_MCP_TOKEN>"},
    }  # fmt: skip
    elsewhere = "http://10.0.0.5:8787/mcp"
    entry = config("claude-desktop", "sse", None, elsewhere)["mcpServers"]["proofroom"]
    assert entry == {
        "command": "npx",
        "args": ["-y", "mcp-remote", elsewhere, "--transport", "sse-only", "--allow-http"],
    }
    entry = config("claude-desktop", "stdio")["mcpServers"]["proofroom"]
    assert entry == {"command": PROGRAM[0], "args": PROGRAM[1:]}


def test_cursor_finds_the_transport_itself() -> None:
    headers = {"Authorization": "Bearer ${env:CMS_MCP_TOKEN}"}
    for transport in ("streamable-http", "sse"):
        found = config("cursor", transport, token_credential())
        assert found == {"mcpServers": {"proofroom": {"url": URL, "headers": headers}}}
    program = {"command": PROGRAM[0], "args": PROGRAM[1:]}
    assert config("cursor", "stdio") == {"mcpServers": {"proofroom": program}}


def test_vscode_asks_for_the_token_unless_it_is_there() -> None:
    found = config("vscode", "sse", token_credential())
    assert found["servers"]["proofroom"] == {
        "type": "sse", "url": URL, "headers": {"Authorization": "Bearer ${input:CMS_MCP_TOKEN}"},
    }  # fmt: skip
    assert found["inputs"] == [
        {"type": "promptString", "id": "CMS_MCP_TOKEN", "description": "CMS_MCP_TOKEN",
         "password": True},
    ]  # fmt: skip
    assert set(config("vscode", "streamable-http", token_credential(SECRET))) == {"servers"}
    assert config("vscode", "stdio", token_credential()) == {
        "servers": {"proofroom": {"type": "stdio", "command": PROGRAM[0], "args": PROGRAM[1:]}}
    }


def test_n8n_gets_a_node_whose_credential_stays_apart() -> None:
    kinds = {"streamable-http": "httpStreamable", "sse": "sse", "stdio": "sse"}
    for transport in TRANSPORTS:
        (node,) = config("n8n", transport, token_credential(SECRET))["nodes"]
        assert node["type"] == "@n8n/n8n-nodes-langchain.mcpClientTool"
        assert node["parameters"] == {
            "endpointUrl": URL, "serverTransport": kinds[transport],
            "authentication": "bearerAuth", "include": "all",
        }  # fmt: skip
        assert SECRET not in json.dumps(node)
    (node,) = config("n8n", "sse", ClientCredential("MCP_AUTH_HEADER_VALUE", "X-Cms-Key", ""))[
        "nodes"
    ]
    assert node["parameters"]["authentication"] == "headerAuth"
    assert (
        node["notes"] == "Credential: Header Auth, name X-Cms-Key, value of MCP_AUTH_HEADER_VALUE"
    )


@pytest.mark.parametrize("client", sorted(set(CLIENTS) - {"n8n"}))
def test_a_passed_secret_appears_once(client: str) -> None:
    for transport in ("streamable-http", "sse"):
        text = client_config(
            client, url=URL, transport=transport, credential=token_credential(SECRET)
        )
        assert text.count(f"Bearer {SECRET}") == text.count(SECRET) == 1
        assert "CMS_MCP_TOKEN" not in text
    assert SECRET not in client_config(
        client, url=URL, transport="stdio", credential=token_credential(SECRET)
    )
    assert SECRET not in repr(token_credential(SECRET))


@pytest.mark.parametrize(
    "text",
    ["plain", "two words", "$(touch x)", "`touch x`", "a;touch x", "a'b", 'a"b', "a\\", "%PATH%",
     "!!", "--flag", "", "~", "*", "a\nb", "${HOME}", "http://h/mcp?a=1&b=2", "wide ü"],
)  # fmt: skip
def test_a_word_of_a_command_means_itself_in_a_shell(text: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"printf %s {quote_word(text)}"], capture_output=True, check=True
    )
    assert done.stdout.decode() == text


def test_a_secret_in_a_command_needs_no_quotes_that_only_some_shells_know() -> None:
    text = client_config(
        "claude-code", url=URL, transport="sse", credential=token_credential("cmsmcp_a-B_9")
    )
    assert text == (
        f'claude mcp add --transport sse proofroom {URL} --header "Authorization: Bearer cmsmcp_a-B_9"'
    )


def test_the_command_prints_for_the_given_address(environment: Environment, capsys: Any) -> None:
    environment(mcp_url=None, mcp_port=8787)

    def printed(**options: Any) -> Any:
        call_command("run_mcp", print_config="claude", **options)
        return json.loads(capsys.readouterr().out)["mcpServers"]["proofroom"]

    assert printed() == {"type": "http", "url": URL}
    # Remote clients need a token.
    assert printed(host="10.0.0.5", port=99) == {
        "type": "http",
        "url": "http://10.0.0.5:99/mcp",
        "headers": {"Authorization": "Bearer ${CMS_MCP_TOKEN}"},
    }
    environment(mcp_auth_token=SECRET, mcp_url="https://ai.example/mcp")
    assert printed(transport="sse") == {
        "type": "sse",
        "url": "https://ai.example/mcp",
        "headers": {"Authorization": "Bearer ${MCP_AUTH_TOKEN}"},
    }
    assert server_url("::1", 99) == "http://[::1]:99/mcp"
