"""A person connects an AI client in a real browser, despite the restrictive policy, and disconnects it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from proofroom.accounts.services.preferences import change_preferences
from proofroom.oauth.models import OAuthConnection
from tests import make
from tests.browser.test_looks import serious
from tests.oauth import flow

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def callback() -> Iterator[str]:
    """Yield the URL of a local program that waits for the answer, and redirects to another page."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/callback"):
                self.send_response(302)
                self.send_header("Location", self.path.replace("/callback", "/done"))
                self.end_headers()
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Done</title><p>Connected")

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/callback"
    server.shutdown()


def test_a_person_logs_in_consents_and_ends_the_client_in_the_account(
    open_page: Any, live_server: Any, settings: Any, callback: str
) -> None:
    settings.SITE_URL = live_server.url
    client_id = flow.register(client_name="Claude Code")["client_id"]
    make.user("editor")
    page = open_page(None, scripts=False)

    page.goto(flow.authorize_url(client_id, redirect_uri=callback))
    page.fill("#id_username", "editor@example.com")
    page.fill("#id_password", make.PASSWORD)
    page.press("#id_password", "Enter")
    page.get_by_role("heading", name="Connect Claude Code?").wait_for()
    expect(page.get_by_text("A program on this computer")).to_be_visible()
    page.get_by_role("button", name="Connect client").click()
    page.wait_for_url("**/done?**")

    told = {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}
    assert told["iss"] == live_server.url
    assert told["state"] == "the-state"
    tokens = flow.redeem(client_id, told["code"], redirect_uri=callback)
    assert tokens.status_code == 200, tokens.content
    page.goto(f"{live_server.url}/admin/account/")
    page.get_by_role("button", name="Disconnect Claude Code").click()
    page.get_by_text("Claude Code was disconnected.").wait_for()
    page.get_by_text("No client is connected.").wait_for()
    assert OAuthConnection.objects.get().ended_at is not None


@pytest.mark.parametrize(("dark", "width"), [(False, 1280), (True, 390)])
@pytest.mark.parametrize("language", ["en", "de"])
def test_the_page_has_no_faults(
    open_page: Any, settings: Any, dark: bool, width: int, language: str
) -> None:
    client_id = flow.register(
        client_name="Claude", redirect_uris=["https://claude.ai/api/mcp/auth_callback"]
    )["client_id"]
    change_preferences(actor=make.actor("admin", via="admin"), language=language)
    page = open_page("admin", dark=dark, width=width)

    page.goto(
        flow.authorize_url(
            client_id,
            redirect_uri="https://claude.ai/api/mcp/auth_callback",
            scope="read propose diagnostics",
        )
    )

    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page.get_by_text("claude.ai", exact=True)).to_be_visible()
    assert serious(page) == []
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert not wide
    flow.consent(
        flow.person("admin"),
        flow.authorize_url(client_id, redirect_uri="https://claude.ai/api/mcp/auth_callback"),
    )
    page.goto("/admin/account/")
    expect(page.locator(".connected-clients li")).to_have_count(1)
    assert serious(page) == []
