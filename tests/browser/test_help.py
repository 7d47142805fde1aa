from __future__ import annotations

from typing import Any

import pytest

from proofroom.accounts.models import Preferences, User
from tests import make
from tests.browser.test_looks import COLOURS, barriers, serious

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PAGES = ("admin/inbox/", "admin/review/", "reference/agents/", "search/?q=Review")


def german_reader(open_page: Any, **options: Any) -> Any:
    page = open_page(**options)
    Preferences.objects.create(user=User.objects.get(role="editor"), language="de")
    return page


def test_the_help_has_no_barriers_and_fits_every_window_in_both_languages(open_page: Any) -> None:
    page, problems = german_reader(open_page, width=1440, height=900), []

    for language in ("de", "en"):
        Preferences.objects.update(language=language)
        for name in PAGES:
            page.goto(f"/admin/help/{name}")
            assert page.locator("html").get_attribute("lang") == language
            problems += barriers(page)
            page.emulate_media(color_scheme="dark")
            problems += serious(page, runOnly=[*COLOURS])
            page.emulate_media(color_scheme="light")
            for width in (1440, 1100, 768, 320):
                page.set_viewport_size({"width": width, "height": 740})
                wide = page.evaluate("() => document.documentElement.scrollWidth")
                problems += [f"{name} is {wide} wide at {width}"] if wide > width else []
            page.set_viewport_size({"width": 1440, "height": 900})

    assert problems == []


def test_a_reader_goes_from_the_review_to_its_help_and_on_by_keyboard(open_page: Any) -> None:
    post = make.post()
    make.staged(post, {"title": "New"})
    page = german_reader(open_page, width=1440, height=900)
    page.goto(f"/admin/content/post/{post.pk}/review/?layer=ai-review")

    page.locator(".nav-foot a").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin/help/admin/review/")
    assert page.locator("article h1").inner_text() == "Die Prüfung"
    # The list of headings is open without a click, and leads to a section.
    page.locator(".help-contents a", has_text="Übersetzungen").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**#help-translations")
    top = page.locator("#help-translations").evaluate("(one) => one.getBoundingClientRect().top")
    assert 40 < top < 200
    page.locator("#help-words").fill("Bildfokus")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search/?q=Bildfokus")
    page.locator(".help-results a[href$='#help-one-file']").click()
    page.wait_for_url("**/admin/help/admin/media-library/#help-one-file")


def test_the_lists_of_a_narrow_window_open_by_hand(open_page: Any) -> None:
    page = open_page(width=360, height=740)
    page.goto("/admin/help/admin/inbox/")

    assert not page.locator(".help-pages").is_visible()
    assert not page.locator(".help-contents a").first.is_visible()
    page.locator(".help-side summary").first.click()
    page.locator(".help-pages a", has_text="Lists").click()
    page.wait_for_url("**/admin/help/admin/lists/")
