"""Login through an OpenID provider in a real browser, despite the restrictive policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from django.core.cache import cache

from proofroom.accounts.models import User
from tests import make
from tests.accounts.oidc_provider.process import provider_for
from tests.accounts.test_provider_sign_in import configure
from tests.browser.test_looks import serious

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
looks = pytest.mark.parametrize(
    ("dark", "width"), [(False, 1280), (True, 1280), (False, 390), (True, 390)]
)


@pytest.fixture(scope="module")
def provider(live_server: Any) -> Iterator[str]:
    """Return the provider's URL, on another host than the site, so that cookies are separate."""
    assert "localhost" in live_server.url
    with provider_for(live_server.url) as url:
        yield url


@pytest.fixture(autouse=True)
def configured(provider: str, settings: Any) -> None:
    cache.clear()
    configure(settings, provider, sso_default_role="editor")


def has_no_faults(page: Any) -> bool:
    """Return True if nothing scrolls sideways. Raises for a serious accessibility finding."""
    assert serious(page) == []
    return not page.evaluate("document.documentElement.scrollWidth > innerWidth")


def leave(page: Any, button: str) -> None:
    """Press the button, check the redirect page, and continue to the provider."""

    def hold(route: Any) -> None:
        """Serve the redirect page without its automatic redirect."""
        answer = route.fetch(max_redirects=0)
        body = answer.text().replace('http-equiv="refresh"', 'name="held"')
        route.fulfill(response=answer, body=body)

    page.route(
        "**/admin/**",
        lambda route: hold(route) if route.request.method == "POST" else route.continue_(),
    )
    page.get_by_role("button", name=button, exact=True).click()
    page.get_by_role("heading", name="Going to Example ID").wait_for()
    assert has_no_faults(page)
    page.unroute_all()
    page.get_by_role("link", name="Continue").click()


def sign_in_there(page: Any, provider: str) -> None:
    page.wait_for_url(f"{provider}/log-in?**")
    page.get_by_label("Name").fill("jane")
    page.get_by_label("Email").fill("jane@example.com")
    page.get_by_role("button", name="Sign in").click()


@looks
def test_a_new_user_logs_in_with_the_provider(
    open_page: Any, live_server: Any, provider: str, dark: bool, width: int
) -> None:
    page = open_page(None, dark=dark, width=width)
    page.goto("/admin/login/?next=/admin/inbox/")
    assert has_no_faults(page)

    leave(page, "Log in with Example ID")
    sign_in_there(page, provider)
    page.wait_for_url(f"{live_server.url}/admin/inbox/")

    user = User.objects.get(email="jane@example.com")
    assert (user.username, user.role) == ("jane", "editor")
    assert SocialAccount.objects.get().user == user


@looks
def test_a_person_connects_the_provider_logs_in_with_it_and_disconnects_it(
    open_page: Any, live_server: Any, provider: str, dark: bool, width: int
) -> None:
    page = open_page("translator", dark=dark, width=width)
    page.goto("/admin/account/methods/")
    assert has_no_faults(page)
    card = page.locator("section[aria-labelledby=provider]")

    card.get_by_role("button", name="Connect").click()
    page.get_by_role("heading", name="Confirm it is you").wait_for()
    assert has_no_faults(page)
    page.locator("[name=password]").fill(make.PASSWORD)
    leave(page, "Continue")
    sign_in_there(page, provider)
    card.get_by_text("Connected", exact=True).wait_for()
    assert has_no_faults(page)
    assert SocialAccount.objects.get().user.username == "translator"

    page.context.clear_cookies(domain="localhost")
    page.goto("/admin/login/")
    # The page redirects automatically, and the provider recognizes the user.
    page.get_by_role("button", name="Log in with Example ID").click()
    page.wait_for_url(f"{live_server.url}/admin/")
    page.goto("/admin/account/methods/")
    card.get_by_role("button", name="Disconnect").click()
    page.locator(".toast", has_text="Disconnected Example ID.").wait_for()
    card.get_by_role("button", name="Connect").wait_for()
    assert has_no_faults(page)
    assert not SocialAccount.objects.exists()
