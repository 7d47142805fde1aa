"""Passkeys in a real browser, with an authenticator that Chromium makes up: browsers take none at an IP address."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.mfa.models import Authenticator

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
    assert page.locator(".recovery-codes li").count() == 10
    assert Authenticator.objects.get(type="webauthn").wrap().name == "Work laptop"

    page.context.clear_cookies()
    page.goto(f"{live_server.url}/admin/login/?next=/admin/inbox/")
    page.click("[data-passkey-start]")
    # By its whole address: that of the login ends in the same words.
    page.wait_for_url(f"{live_server.url}/admin/inbox/")

    page.context.clear_cookies()
    page.goto(f"{live_server.url}/admin/login/")
    page.fill("[name=username]", "editor@example.com")
    page.fill("[name=password]", make.PASSWORD)
    page.click("#login-form button.default")
    page.wait_for_url("**/admin/login/code/")
    page.click("[data-passkey-start]")
    page.wait_for_url(f"{live_server.url}/admin/")
