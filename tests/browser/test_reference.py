"""The API reference page: readable in any theme and width, by keyboard and without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage


@pytest.fixture(autouse=True, scope="module")
def made_once() -> None:
    """Generate the document once, because its duration is not the subject of these tests."""
    from proofroom.core.api.schema_views import page

    page()


pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(("width", "dark"), [(360, True), (1280, False)])
def test_it_is_readable_in_any_light_and_width(open_page: OpenPage, dark: bool, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(None, dark=dark, width=width)
    page.goto("/api/docs/")
    page.locator("details.operation").first.locator("summary").click()

    expect(page.locator("details.operation[open]")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    asked = {"runOnly": ["wcag2a", "wcag2aa"], "resultTypes": ["violations"]}
    assert Axe().run(page, options=asked).response["violations"] == []


def test_an_operation_is_found_by_keyboard_and_leads_to_its_types(open_page: OpenPage) -> None:
    page = open_page(None)
    page.goto("/api/docs/#posts_create")
    operation = page.locator("details", has=page.locator("#posts_create"))

    assert operation.get_attribute("open") is not None  # its address opens it
    expect(operation.locator("summary code")).to_have_text("/api/posts")
    expect(operation).to_contain_text("Needs posts.create.", use_inner_text=True)

    operation.locator("summary").focus()
    page.keyboard.press("Enter")
    assert operation.get_attribute("open") is None
    page.keyboard.press("Enter")
    operation.get_by_role("link", name="NewPost").press("Enter")

    assert page.url.endswith("#type-NewPost")
    expect(page.locator("#type-NewPost")).to_be_visible()
    assert _names(page, "#type-NewPost") >= {"title", "type", "modules", "moduleGroup"}


def test_it_needs_no_script(open_page: OpenPage) -> None:
    page = open_page(None, scripts=False)
    page.goto("/api/docs/")
    operation = page.locator("details.operation").filter(has_text="/api/public/posts").first
    operation.locator("summary").click()

    expect(operation.get_by_text("Credentials: anybody.")).to_be_visible()


def _names(page: Any, where: str) -> set[str]:
    return set(page.locator(f"{where} dt > code").all_text_contents())
