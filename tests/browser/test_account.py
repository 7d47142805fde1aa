"""The admin with personal settings: theme and language from the menu, density and letter keys from the account."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from proofroom.accounts.models import Preferences
from proofroom.accounts.services.preferences import change_preferences
from proofroom.core.actor import Actor
from tests import make
from tests.browser.test_looks import serious

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def style_of(page: Any, name: str) -> str:
    value: str = page.evaluate(
        "(name) => getComputedStyle(document.documentElement).getPropertyValue(name)", name
    )
    return value.strip()


def test_a_theme_of_the_menu_holds_at_once_and_on_every_page(open_page: Any) -> None:
    page = open_page()
    page.goto("/admin/")
    page.get_by_label("Account: editor").click()
    assert serious(page) == []
    with page.expect_response(lambda answer: answer.status == 204):
        page.get_by_role("button", name="Dark", exact=True).click()

    assert style_of(page, "color-scheme") == "dark"
    expect(page.get_by_role("button", name="Dark", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    page.goto("/admin/content/post/")
    assert style_of(page, "color-scheme") == "dark"
    assert Preferences.objects.get().theme == "dark"


def test_density_and_language_come_with_the_account(open_page: Any) -> None:
    page = open_page()
    page.goto("/admin/account/")
    comfortable = page.locator("#id_time_zone").bounding_box()["height"]

    page.get_by_label("Compact").check()
    page.get_by_label("Language").select_option("de")
    page.get_by_role("button", name="Save preferences").click()

    expect(page.locator("html")).to_have_attribute("lang", "de")
    page.get_by_role("heading", name="Ihr Konto").wait_for()
    assert page.locator("#id_time_zone").bounding_box()["height"] < comfortable
    assert serious(page) == []


def test_the_zone_of_the_device_is_offered(open_page: Any) -> None:
    page = open_page()
    page.goto("/admin/account/")
    page.locator("#id_time_zone").select_option("Asia/Kolkata")
    zone = page.evaluate("() => Intl.DateTimeFormat().resolvedOptions().timeZone")

    page.get_by_role("button", name=f"Use this device’s time zone, {zone}").click()

    expect(page.locator("#id_time_zone")).to_have_value(zone)


def test_single_letters_do_nothing_where_they_are_off(open_page: Any) -> None:
    page = open_page()
    page.goto("/admin/")
    page.keyboard.press("?")
    expect(page.locator("[data-keys-sheet]")).to_be_visible()

    change_preferences(actor=Actor(user=make.user("editor"), via="admin"), has_letter_keys=False)
    page.goto("/admin/")
    page.keyboard.press("?")
    expect(page.locator("[data-keys-sheet]")).to_be_hidden()
    page.keyboard.press("Control+k")
    page.locator("[data-palette]").wait_for()
