"""The Checks tab in a browser: the accessibility test runs in a frame and its result is stored."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from content.models import AccessibilityReport
from tests import make
from tests.browser.conftest import OpenPage
from tests.browser.test_looks import barriers, serious_in_any_light

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_test_of_a_page_finds_a_link_without_a_name(open_page: OpenPage) -> None:
    picture = make.image("beans.png")
    post = make.post(markdown=f"[![]({picture.file.url})](/blog)")
    page = open_page()
    page.goto(f"/admin/content/post/{post.pk}/checks/")

    page.get_by_role("button", name="Test accessibility").click()

    expect(page.get_by_role("button", name="Test again")).to_be_visible()
    report = AccessibilityReport.objects.get(post=post)
    assert report.engine.startswith("axe 4.")
    [found] = report.violations
    assert (found["rule"], found["count"]) == ("link-name", 1)
    expect(page.locator("[data-check=accessibility]")).to_contain_text(found["help"])
    assert serious_in_any_light(page) == []


def test_the_page_fits_on_a_phone(open_page: OpenPage) -> None:
    post = make.post(metaTitle="x" * 200, markdown="[a](/" + "nowhere" * 20 + ")")
    page = open_page(width=390)
    page.goto(f"/admin/content/post/{post.pk}/checks/")

    width = page.evaluate("document.documentElement.scrollWidth")

    assert width <= 390
    # The bar of the admin is checked on other pages.
    assert barriers(page, without=(".bar", ".nav")) == []
