"""The consent question: nothing is sent before the answer, and it is shown only if needed."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests import make
from tests.browser.conftest import OpenPage
from tests.browser.test_looks import serious_in_any_light
from tests.browser.test_previews import _HIDE
from tests.browser.visits import Calls

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
_REFUSED = "Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { get: () => true })"


@pytest.fixture
def calls(open_page: OpenPage) -> Calls:
    return Calls(open_page)


def choose(settings: Any, **values: object) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update=values)


def test_nothing_is_sent_before_consent_or_after_its_withdrawal(
    calls: Calls, settings: Any
) -> None:
    choose(settings, analytics_consent=True)
    page = calls.open(make.post(), width=360, height=740)
    question = page.get_by_role("region", name="May we count your visits?")
    again = page.get_by_role("button", name="Visit counting")

    for _ in range(5):
        page.get_by_text("Grind the beans.").click()
    assert serious_in_any_light(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert (calls.sizes, page.evaluate("localStorage.length")) == ([], 0)
    page.reload()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    calls.rows(1)
    expect(question).to_be_hidden()
    page.reload()
    calls.rows(2)
    expect(question).to_be_hidden()

    page.get_by_text("Grind the beans.").click()  # waits for others, and goes with the consent
    again.click()
    expect(question.get_by_role("button", pressed=True)).to_have_text("Yes, count my visits")
    question.get_by_role("button", name="No").click()
    expect(question).to_be_hidden()
    assert again.evaluate("one => one === document.activeElement")
    page.get_by_text("Grind the beans.").click()
    page.evaluate(_HIDE)
    page.reload()
    page.evaluate(_HIDE)
    assert calls.sizes == [1, 1]

    elsewhere = page.context.new_page()
    elsewhere.goto(page.url)
    elsewhere.get_by_role("button", name="Visit counting").click()
    elsewhere.get_by_role("button", name="Yes, count my visits").click()
    calls.rows(4)
    assert calls.sizes == [1, 1, 1]


def test_a_page_that_a_browser_kept_knows_what_was_answered_meanwhile(
    calls: Calls, settings: Any
) -> None:
    choose(settings, analytics_consent=True)
    page = calls.open(make.post())
    page.get_by_role("button", name="Yes, count my visits").click()
    calls.rows(1)
    back = "() => { dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })) }"

    for answer in ("no", "yes"):
        page.evaluate("answer => localStorage.setItem('cms-consent', answer)", answer)
        page.evaluate(back)
        page.get_by_text("Grind the beans.").click()

    assert [one.event_type for one in calls.rows(2)] == ["view", "view"]
    assert calls.sizes == [1, 1]


def test_uncounted_visitors_are_not_asked(open_page: OpenPage, settings: Any) -> None:
    choose(settings, analytics_consent=True)
    post = make.post()
    asked = []
    for role, script in (("editor", ""), (None, _REFUSED), (None, "")):
        page = open_page(role)
        if script:
            page.add_init_script(script)
        page.goto(post.path)
        names = ("[data-consent-bar]", "[data-consent-again]")
        asked.append([page.locator(name).is_visible() for name in names])

    assert asked == [[False, False], [False, False], [True, True]]
