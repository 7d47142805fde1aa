"""The analytics pages in a browser: accessible at all widths and themes, with and without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from analytics.models import Dimension
from tests import make
from tests.analytics.begun import begun
from tests.analytics.counted import ago, arm, count
from tests.browser.test_looks import serious, serious_in_any_light

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PAGE = "/admin/analytics/sitecount/"


def counted_post() -> Any:
    post, (b, c) = begun("B", "C", weight=30, days=3)
    for days in range(0, 60, 2):
        count(ago(days), 900 + 40 * days, 70 + days, 9)
        count(ago(days), 500, 40, post_id=post.pk)
    count(ago(1), 700, dimension=Dimension.REFERRER, value="search.example")
    count(ago(1), 900, 70, dimension=Dimension.DEVICE, value="mobile")
    count(ago(1), 1200, 90, dimension=Dimension.LOCALE, value="en")
    for row, reached in ((post, 400), (b, 500), (c, 250)):
        arm(post.pk, row.pk, 3000, reached)
    return post


def test_no_page_of_figures_has_a_serious_barrier_or_is_too_wide(open_page: Any) -> None:
    post = counted_post()
    page = open_page("admin")
    problems = []

    for address in (f"{PAGE}?span=7", f"/admin/analytics/variations/{post.pk}/"):
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(address)
        page.evaluate(
            "() => document.querySelectorAll('details').forEach((one) => (one.open = true))"
        )
        problems += serious_in_any_light(page)
        page.set_viewport_size({"width": 390, "height": 900})
        problems += serious(page)
        wide = page.evaluate("() => document.documentElement.scrollWidth")
        problems += [f"{address} is {wide} wide"] if wide > 390 else []

    assert problems == []


def test_a_post_is_looked_for_without_scripts(open_page: Any) -> None:
    counted_post()
    make.post("Filter papers", slug="papers")
    page = open_page("admin", scripts=False)
    page.goto(f"{PAGE}?span=7")

    page.get_by_label("Post", exact=True).fill("filter")
    page.get_by_role("button", name="Find").click()
    page.locator(".figures-found").get_by_role("link", name="How to brew filter coffee").click()

    assert "span=7" in page.url
    assert "postId=" in page.url
    expect(page.locator(".figures-totals dd").first).to_have_text("2,000", use_inner_text=True)
    page.get_by_role("link", name="90 days").click()
    expect(page.locator(".figures-totals dd").first).to_have_text("15,000", use_inner_text=True)
