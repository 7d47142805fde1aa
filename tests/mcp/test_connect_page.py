"""The page that connects an AI client: content by role, and the server's status."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import pytest
from django.test import Client

from mcp_bridge.access.tokens import create_token
from mcp_bridge.models import McpToken
from mcp_bridge.server_address import check_server
from tests import make
from tests.api_client import ApiClient
from tests.mcp.answering import answering
from tests.mcp.running import Running
from tests.ports import free_port

pytestmark = pytest.mark.django_db
PATH = "/admin/mcp/"
SECRET = "canary-4b7e-secret"
Environment = Callable[..., None]


def page(role: str = "admin") -> str:
    answer = ApiClient(role).get(PATH)
    assert answer.status_code == 200
    return answer.content.decode()


def snippets(text: str) -> dict[str, str]:
    """Return the copyable texts of the page, by id."""
    found = re.findall(r'<code id="snippet-([^"]+)">(.*?)</code>', text, re.DOTALL)
    return {id_: html.unescape(words) for id_, words in found}


@pytest.fixture(autouse=True)
def nobody_there(environment: Environment) -> None:
    environment(mcp_url=None, mcp_port=free_port(), mcp_allowed_hosts=())


def test_the_page_has_every_client_on_every_transport_that_it_can_do(
    environment: Environment,
) -> None:
    environment(mcp_url="https://ai.example/mcp", mcp_port=1)

    found = snippets(page())

    assert found["server-url"] == "https://ai.example/mcp"
    both, program = ("streamable-http", "sse"), ("stdio",)
    wanted = {
        *(f"{client}-{way}" for client in ("claude-code", "claude", "claude-desktop", "vscode")
          for way in both + program),
        "cursor-streamable-http", "cursor-stdio", "n8n-streamable-http", "n8n-sse",
    }  # fmt: skip
    assert {id_ for id_ in found if "-" in id_} - {"server-url"} == wanted
    assert all(
        ("https://ai.example/mcp" in text) != ("--transport stdio" in text or '"stdio"' in text)
        for id_, text in found.items()
        if id_ in wanted
    )
    assert found["claude-code-sse"] == (
        "claude mcp add --transport sse proofroom https://ai.example/mcp "
        "--header 'Authorization: Bearer ${CMS_MCP_TOKEN}'"
    )


def test_an_admin_sees_which_credentials_there_are_and_never_what_they_are(
    environment: Environment,
) -> None:
    environment(
        mcp_auth_token=SECRET, mcp_auth_header_name="X-Cms-Key", mcp_auth_header_value=SECRET
    )
    user = make.user("editor")
    for name in ("Laptop", "Phone"):
        _, secret = create_token(name=name, user_id=user.pk, actor=make.actor("admin"))
    McpToken.objects.filter(name="Phone").update(expires_at="2020-01-01T00:00Z")

    text = page()

    assert '<span class="badge badge-succeeded">1</span>' in text
    assert text.count('<span class="badge badge-succeeded">set</span>') == 2
    assert "X-Cms-Key" in text
    assert SECRET not in text
    assert secret not in text
    assert "/admin/mcp_bridge/mcptoken/add/" in text


def test_an_editor_sees_address_and_lane_alone(environment: Environment) -> None:
    environment(mcp_auth_token=SECRET, mcp_auth_header_name="X-Cms-Key")

    text = page("editor")

    assert "mcp-lane" in text
    assert snippets(text)["server-url"].startswith("http://127.0.0.1:")
    for word in ("X-Cms-Key", "MCP_AUTH", "mcptoken", "mcpcall", "manage.py", "stdio"):
        assert word not in text
    assert 'href="/admin/mcp/"' in ApiClient("editor").get("/admin/").content.decode()
    assert ApiClient("translator").get(PATH).status_code == 403
    assert 'href="/admin/mcp/"' not in ApiClient("translator").get("/admin/").content.decode()


def test_the_page_says_that_the_server_answers(
    environment: Environment, open_server: Running, locked_server: Running
) -> None:
    assert check_server().state == "silent"
    assert "No response." in page("editor")

    for server in (open_server, locked_server):
        environment(mcp_port=int(server.url.rpartition(":")[2]))
        assert check_server().state == "answers"
    assert "The server responds." in page("editor")


@pytest.mark.parametrize(
    ("status", "state"),
    [(401, "answers"), (405, "answers"), (421, "wrong_host"), (404, "elsewhere"), (502, "elsewhere")],
)  # fmt: skip
def test_the_servers_state_follows_from_its_status(
    environment: Environment, status: int, state: str
) -> None:
    with answering(status) as port:
        environment(mcp_port=port)
        assert check_server().state == state


def test_a_public_address_is_called_under_the_rules_of_all_calls(environment: Environment) -> None:
    with answering(405) as port:
        environment(mcp_url=f"http://127.0.0.1:{port}/mcp")
        reached = check_server()
        assert reached.state == "not_asked"
        assert "127.0.0.1" in reached.note
        assert "the server’s status is unknown" in page()

        environment(outgoing_allowed_hosts=("127.0.0.1",))
        assert check_server().state == "answers"


def test_a_new_token_is_shown_in_every_configuration_once() -> None:
    admin, user = Client(), make.user("editor")
    admin.force_login(make.user("admin"))

    answer = admin.post("/admin/mcp_bridge/mcptoken/add/", {"name": "Laptop", "user": user.pk})

    found, token = snippets(answer.content.decode()), McpToken.objects.get()
    secrets = {
        name: re.findall(r"cmsmcp_[\w-]+", text)
        for name, text in found.items()
        if not name.startswith("n8n")
    }
    (secret,) = {secret for texts in secrets.values() for secret in texts}
    assert secret.endswith(token.hint)
    assert all(texts == [secret] for texts in secrets.values())
    assert not any(name.endswith("stdio") for name in found)
    assert secret not in found["n8n-sse"]

    again = admin.get(f"/admin/mcp_bridge/mcptoken/{token.pk}/change/").content.decode()
    assert snippets(again) == {}
    assert secret not in again
    assert f"/admin/mcp_bridge/mcpcall/?caller=client:{token.pk}" in again
