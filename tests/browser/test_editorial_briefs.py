"""The edit page of an editorial brief: rows by keyboard, and the preview while typing."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from proofroom.briefs.models import Brief
from tests import make
from tests.browser.test_looks import serious_in_any_light

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def a_brief(**values: Any) -> str:
    brief = make.brief("Site", **values)
    return f"/admin/proofroom_briefs/brief/{brief.pk}/change/"


def save(page: Any) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name="Save brief").click()


def test_rows_are_added_and_removed_by_keyboard_and_previewed(open_page: Any) -> None:
    page = open_page()
    page.goto(a_brief(voice="Warm.", protectedNames=["Acme"]))
    names = page.get_by_role("group", name="Protected names")
    text = page.locator(".brief-text")

    names.get_by_label("Name").press("Enter")
    page.keyboard.type("Nova")
    expect(text).to_contain_text("- Acme\n- Nova")
    page.keyboard.press("Enter")
    expect(names.get_by_label("Name")).to_have_count(3)
    page.keyboard.press("Backspace")
    expect(names.get_by_label("Name")).to_have_count(2)
    expect(names.get_by_label("Name").nth(1)).to_be_focused()
    names.get_by_role("button", name="Remove Acme").click()
    expect(text).not_to_contain_text("Acme")
    expect(names.get_by_role("button", name="Undo")).to_be_focused()
    page.keyboard.press("Enter")
    expect(text).to_contain_text("- Acme\n- Nova")

    page.get_by_role("button", name="Add term").press("Enter")
    page.keyboard.type("utilise")
    page.keyboard.press("Tab")
    page.keyboard.type("use")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(text).to_contain_text("Never write “utilise”; write “use”.")
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    assert serious_in_any_light(page) == []
    save(page)

    stored = Brief.objects.get()
    assert stored.protected_names == ["Acme", "Nova"]
    assert stored.terms == [{"term": "utilise", "preferred": "use", "forbidden": True}]
    assert stored.voice == "Warm."


def test_the_preview_follows_the_chosen_language(open_page: Any) -> None:
    make.brief("German", locale="de", address="Sie")
    page = open_page(width=390)
    page.goto(a_brief(voice="Warm."))

    page.get_by_label("Language").nth(1).select_option("de")

    expect(page.locator(".brief-text")).to_contain_text("Form of address")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert serious_in_any_light(page) == []


def test_everything_works_without_scripts(open_page: Any) -> None:
    page = open_page(scripts=False)
    page.goto(a_brief())

    page.get_by_role("button", name="Add sentence").click()
    page.locator("[name=never-text-added-never]").fill("the best")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".brief-text")).to_contain_text("- the best")
    save(page)

    assert Brief.objects.get().never == ["the best"]
