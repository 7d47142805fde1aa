"""Passkeys in a real browser, with Chromium's virtual authenticator. Browsers reject passkeys at IP addresses."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import expect

from tests import make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_passkey_is_added_and_then_logs_in_alone_and_after_the_password(
    open_page: Any, live_server: Any
) -> None:
    assert "localhost" in live_server.url
    page = open_page("editor")
    devices = page.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    device = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": device})

    page.goto(f"{live_server.url}/admin/account/methods/passkeys/add/")
    page.fill("[name=password]", make.PASSWORD)
    page.click("main button.default")
    page.fill("[name=name]", "Work laptop")
    page.click("[data-passkey-start]")
    page.wait_for_url("**/recovery-codes/")
    expect(page.locator(".recovery-codes li")).to_have_count(10)
    assert Authenticator.objects.get(type="webauthn").wrap().name == "Work laptop"

    page.context.clear_cookies()
    page.goto(f"{live_server.url}/admin/login/?next=/admin/inbox/")
    page.click("[data-passkey-start]")
    # The complete URL, because the login's URL ends with the same text.
    page.wait_for_url(f"{live_server.url}/admin/inbox/")

    page.context.clear_cookies()
    page.goto(f"{live_server.url}/admin/login/")
    page.fill("[name=username]", "editor@example.com")
    page.fill("[name=password]", make.PASSWORD)
    page.click("#login-form button.default")
    page.wait_for_url("**/admin/login/code/")
    page.click("[data-passkey-start]")
    page.wait_for_url(f"{live_server.url}/admin/")


def test_at_an_address_that_is_a_number_the_pages_say_why_and_lead_to_localhost(
    open_page: Any, live_server: Any
) -> None:
    number = live_server.url.replace("localhost", "127.0.0.1")
    page = open_page(None)

    page.goto(f"{number}/admin/login/?next=/admin/inbox/")
    page.click("[data-passkey-start]")
    login = page.locator("[data-passkey-error]")
    make.user("editor")
    page.fill("[name=username]", "editor@example.com")
    page.fill("[name=password]", make.PASSWORD)
    reason, link = login.text_content(), login.locator("a").get_attribute("href")
    page.click("#login-form button.default")
    page.wait_for_url("**/admin/inbox/")
    page.goto(f"{number}/admin/account/methods/passkeys/add/")
    page.fill("[name=password]", make.PASSWORD)
    page.click("main button.default")
    adding = page.locator("[data-passkey-error]")
    adding.wait_for()

    assert reason == (
        "Browsers allow passkeys only at https:// addresses with a host name, and at localhost. "
        f"Open this page at {live_server.url}"
    )
    assert link == f"{live_server.url}/admin/login/?next=/admin/inbox/"
    expect(adding).to_have_text(reason)
    expect(adding.locator("a")).to_have_attribute(
        "href", f"{live_server.url}/admin/account/methods/passkeys/add/"
    )
    expect(page.locator("[data-passkey-start]")).to_be_disabled()
