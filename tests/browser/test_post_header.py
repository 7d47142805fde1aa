"""The header of the pages of a post: at the same place on each of them, and above the first change of a review."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from proofroom.definitions import Step
from proofroom_apps.steps.models import StepRound
from tests import make
from tests.browser.scene import coffee
from tests.browser.test_looks import serious_in_any_light
from tests.steps.taking import set_steps

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = ("change", "review/?layer=review", "review/?layer=ai-review", "preview", "checks", "comments", "revisions",
         "steps", "variations", "translations")  # fmt: skip
PLACES = """() => ["h1", ".editor-badge", ".post-tabs", ".post-tabs li:nth-child(3)"].map((name) => {
  const { left, top, height } = document.querySelector(name).getBoundingClientRect();
  return [name, left, top, height];
})"""
CUT = """() => [...document.querySelectorAll(".post-tabs, .tabs, .tabs-more, .rail-tabs, .rail-tab, html")]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth)
  .map((one) => `${one.className} ${one.scrollWidth} > ${one.clientWidth}`)"""
# Once the script has placed the toast above the bar.
UNCOVERED = """() => {
  const toast = document.querySelector(".toasts").getBoundingClientRect();
  return [...document.querySelectorAll(".editor-actions, .editor-actions :is(button, a)")]
    .filter((one) => one.checkVisibility())
    .map((one) => one.getBoundingClientRect())
    .filter((one) => one.left < toast.right && one.right > toast.left)
    .filter((one) => one.top < toast.bottom && one.bottom > toast.top)
    .length === 0;
}"""


def in_german(page: Any) -> None:
    page.context.add_cookies(
        [{"name": "django_language", "value": "de", "url": page.url.split("/admin/")[0]}]
    )


def test_the_header_is_at_the_same_place_on_every_page_and_no_tab_is_cut(
    open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = coffee()
    set_steps(monkeypatch, Step("Legal", role="admin"))
    page = open_page("admin")
    in_german(page)
    first: dict[int, Any] = {}

    for name in PAGES:
        page.goto(f"/admin/content/post/{post.pk}/{name}")
        for width in (1440, 1280, 390):
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate(CUT) == [], (name, width)
            places = page.evaluate(PLACES)
            assert places == first.setdefault(width, places), (name, width)

    page.get_by_role("button", name="Mehr").click()
    page.get_by_role("link", name="Kommentare").click()
    page.wait_for_url("**/comments/")


@pytest.mark.parametrize(("width", "highest"), [(1440, 220), (390, 340)])
def test_a_review_begins_with_its_first_change(open_page: Any, width: int, highest: int) -> None:
    post = coffee()
    page = open_page("admin", width=width, height=844)
    page.goto(f"/admin/content/post/{post.pk}/review/?layer=ai-review")

    assert page.locator("[data-change]").first.bounding_box()["y"] <= highest
    page.locator(".review-details > summary").click()
    expect(page.locator(".review-about")).to_contain_text("General assistant")
    assert serious_in_any_light(page) == []


@pytest.mark.parametrize("width", [1440, 390])
def test_submitting_starts_the_steps_and_the_review_offers_the_next_one(
    open_page: Any, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """And what happened is said by one toast after the other, which covers no button."""
    post = make.post()
    set_steps(monkeypatch, Step("Legal", role="admin"))
    page = open_page("admin", width=width, height=844)
    page.goto(f"/admin/content/post/{post.pk}/change/")
    page.fill("#f-post-title", "A better title")
    page.click(".editor-main .menu-more")
    page.get_by_role("button", name="Submit for review").click()
    page.wait_for_url("**/review/?layer=review")

    toast = page.locator(".toast:visible")
    expect(toast).to_contain_text("Saved to Review")
    expect(toast).to_have_count(1)
    page.wait_for_function(UNCOVERED)
    toast.get_by_role("button", name="Dismiss").click()
    expect(toast).to_contain_text("The step “Legal” is open.")
    expect(page.locator("main > [role=status]")).to_have_text("The step “Legal” is open.")
    page.wait_for_function(UNCOVERED)
    assert StepRound.objects.get(post=post).step == "Legal"

    actions = page.locator(".editor-actions")
    expect(actions.locator(".default")).to_have_text("Agree to “Legal”")
    expect(actions.get_by_role("button", name="Approve")).to_have_count(0)
    actions.locator(".default").click()
    page.goto(f"/admin/content/post/{post.pk}/review/?layer=review")
    expect(actions.locator(".default")).to_contain_text("Approve")
