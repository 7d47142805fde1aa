"""An admin connects an AI client, sees its calls, and revokes its token."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Queue
from threading import Thread
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.sse import sse_client
from playwright.sync_api import expect

from tests import make
from tests.browser.conftest import WATCH, violations
from tests.mcp.inside import HELLO
from tests.mcp.running import Running, running
from tests.migrated import give_database
from tests.served import prepare, served

pytestmark = pytest.mark.browser
SCENE = """
from tests import make
for role in ("admin", "editor"):
    make.user(role)
make.post("How to brew filter coffee")
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Running]]:
    """Yield the site, and the MCP server on the same database at its configured address."""
    folder = tmp_path_factory.mktemp("site")
    give_database(folder)
    prepare(folder, SCENE)
    with pytest.MonkeyPatch.context() as patch, running(folder) as mcp:
        patch.setenv("MCP_PORT", mcp.url.rpartition(":")[2])
        with served(folder) as url:
            yield url, mcp


@contextmanager
def entered(chromium: Any, url: str, *, scripts: bool = True) -> Iterator[Any]:
    """Return a browser logged in as admin; no page may have an error or violate the policy."""
    context = chromium.new_context(base_url=url, java_script_enabled=scripts)
    context.set_default_timeout(30_000)
    if scripts:
        context.add_init_script(WATCH)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto("/admin/login/?next=/admin/mcp/")
    page.fill("#id_username", "admin@example.com")
    page.fill("#id_password", make.PASSWORD)
    page.press("#id_password", "Enter")
    page.wait_for_url("**/admin/mcp/")
    yield page
    assert not scripts or violations(page) == []
    context.close()


def token_made(page: Any, name: str) -> None:
    page.click("text=Create token")
    page.fill("#id_name", name)
    page.select_option("#id_user", label="editor (editor)")
    page.click('button[type="submit"].default')
    page.wait_for_selector(".mcp-client")


def copied(page: Any, client: str, way: str) -> Any:
    """Return the configuration copied by a button, parsed like by the client."""
    page.click(f'.mcp-client > summary:text-is("{client}")')
    page.click(f".mcp-client[open] .mcp-way > summary:has-text('{way}')")
    page.click(f"[data-copies=snippet-claude-{way.lower()}]")
    page.wait_for_function("() => document.querySelector('[data-copy-said]').textContent")
    return json.loads(page.evaluate("() => navigator.clipboard.readText()"))


async def call(entry: Any, told: Queue[Any]) -> None:
    """Call like the official client, then keep a stream open until the server ends it."""
    url, headers = entry["url"], entry["headers"]
    async with Client(sse_client(url, headers=headers)) as client:
        found = await client.call_tool("list_posts", {})
        told.put([item["title"] for item in found.structured_content["items"]])
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        async with http.stream("GET", url) as stream:
            told.put(stream.status_code)
            with suppress(httpx2.RemoteProtocolError):  # it may end in the middle
                async for _ in stream.aiter_bytes():
                    pass
        told.put("ended")
        told.put((await http.get(url)).status_code)


def test_an_admin_connects_a_client_reads_its_calls_and_revokes_its_token(
    chromium: Any, site: tuple[str, Running]
) -> None:
    with entered(chromium, site[0]) as page:
        expect(page.locator(".card:has(#address) .badge").first).to_have_text(
            "responds", use_inner_text=True
        )
        token_made(page, "Laptop")
        entry = copied(page, "Claude Code (.mcp.json)", "SSE")["mcpServers"]["proofroom"]
        assert entry["url"] == f"{site[1].url}/mcp"
        page.click("[data-copies=snippet-secret]")
        page.wait_for_function(
            "navigator.clipboard.readText().then(it => it.startsWith('cmsmcp_'))"
        )
        secret = page.evaluate("navigator.clipboard.readText()")
        assert entry["headers"] == {"Authorization": f"Bearer {secret}"}

        told: Queue[Any] = Queue()
        client = Thread(target=anyio.run, args=(call, entry, told), daemon=True)
        client.start()
        assert told.get(timeout=30) == ["How to brew filter coffee"]
        assert told.get(timeout=30) == 200
        page.goto("/admin/mcp_bridge/mcpcall/")
        row = page.inner_text("#result_list tbody tr:first-child")
        assert [word in row for word in ("list_posts", "ok", "Laptop", "editor")] == [True] * 4
        assert told.empty()

        page.click("#result_list >> text=Laptop")
        page.click('button:text-is("Revoke")')
        page.wait_for_selector(".messagelist .success")
        assert told.get(timeout=30) == "ended"
        assert told.get(timeout=30) == 401
        client.join(30)


def test_without_scripts_the_configuration_is_text(
    chromium: Any, site: tuple[str, Running]
) -> None:
    with entered(chromium, site[0], scripts=False) as page:
        token_made(page, "Phone")

        page.click('.mcp-client > summary:text-is("Cursor")')
        entry = json.loads(page.inner_text("#snippet-cursor-streamable-http"))["mcpServers"][
            "proofroom"
        ]
        assert entry["headers"]["Authorization"].startswith("Bearer cmsmcp_")
        expect(page.locator(".mcp-client[open]")).to_have_count(1)
        expect(page.locator("[data-copies]:visible")).to_have_count(0)


CALL_FROM_PAGE = """async ([address, message]) => {
  const response = await fetch(address, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "Accept": "application/json, text/event-stream",
      "MCP-Protocol-Version": "2025-11-25",
    },
    body: JSON.stringify(message),
  });
  return [response.status, response.headers.get("mcp-session-id") !== null];
}"""


def test_a_page_on_another_local_port_opens_a_session(
    site: tuple[str, Running], chromium: Any
) -> None:
    address, mcp = site
    # The policy of the product's pages forbids such calls; a client's page has no policy.
    context = chromium.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(f"{address}/health")

    found = page.evaluate(CALL_FROM_PAGE, [f"{mcp.url}/mcp", HELLO])

    assert found == [200, True]
    context.close()
