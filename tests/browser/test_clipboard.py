"""Modules that are copied in one post and pasted in another, and snippets, by keyboard."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from content.models import Post
from proofroom_apps.snippets.models import Snippet
from tests import make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def opened(page: Any, post: Post) -> None:
    page.goto(f"/admin/content/post/{post.pk}/change/")
    page.wait_for_selector("[data-edit][data-ready]")


def test_modules_and_texts_are_used_again_by_keyboard(open_page: Any) -> None:
    source, target = make.post(), make.post("Team", type="page")
    page = open_page()
    opened(page, source)

    for kind in ("prose", "faq"):
        page.locator(f"[data-type={kind}] [data-select-module]").check()
    page.keyboard.press("Control+C")
    expect(page.get_by_role("button", name="Paste 2 modules")).to_be_visible()
    expect(page.locator("[data-selection]")).to_be_hidden()
    page.locator("[data-type=prose] [data-select-module]").check()
    page.get_by_role("button", name="Save as snippet…").click()
    page.keyboard.type("How to brew")
    page.keyboard.press("Enter")
    expect(page.locator("[data-snippet-dialog]")).to_be_hidden()
    opened(page, target)
    page.get_by_role("button", name="Paste 2 modules").click()
    page.wait_for_selector("#m-new-2 > details[open]")
    page.locator("#m-new-2 > details > summary").focus()
    page.keyboard.press("n")
    page.wait_for_selector(".pick:visible")
    page.keyboard.type("how to brew")
    page.keyboard.press("Enter")
    page.locator("[data-module^=new-]").nth(2).wait_for()
    page.keyboard.press("Control+S")
    expect(page.locator("[data-module^=new-]")).to_have_count(0)

    modules = make.layers(target).live.modules
    assert [module.type for module in modules][-3:] == ["prose", "faq", "prose"]
    assert Snippet.objects.get().modules[0]["type"] == "prose"


def test_text_becomes_a_snippet_and_an_address_an_embed(open_page: Any) -> None:
    post = make.post(markdown="Grind the beans.")
    page = open_page()
    opened(page, post)
    text = page.locator("[data-type=prose] .rt-page")

    # The editor of a text loads when it comes into view.
    page.locator("[data-type=prose]").scroll_into_view_if_needed()
    text.click()
    page.keyboard.press("Control+A")
    page.locator("[data-type=prose] [data-do=snippet]").click()
    page.keyboard.type("Grinding")
    page.keyboard.press("Enter")
    expect(page.locator("[data-type=prose] [data-said]")).to_have_text("Snippet “Grinding” saved.")
    opened(page, post)
    page.locator("[data-type=prose]").scroll_into_view_if_needed()
    text.click()
    page.keyboard.press("Control+End")
    page.keyboard.press("Enter")
    page.keyboard.type("/grind")
    page.keyboard.press("Enter")
    expect(text.get_by_text("Grind the beans.")).to_have_count(2)
    page.keyboard.press("Enter")
    page.evaluate(
        """() => {
            const data = new DataTransfer();
            data.setData("text/plain", "https://youtu.be/abcDEF12345");
            const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
            document.activeElement.dispatchEvent(event);
        }"""
    )
    page.get_by_role("button", name="Embed below").click()
    address = page.locator("[data-type=embed] input[name$='.props.url']")
    expect(address).to_have_value("https://youtu.be/abcDEF12345")
    expect(text.get_by_text("youtu.be")).to_have_count(0)
