"""Reordering a menu: by keyboard, by pointer, without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.services import create_menu
from tests import make
from tests.browser.test_looks import serious_in_any_light

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def a_menu(*labels: str) -> str:
    items: Any = [{"label": label, "url": f"/{label.lower()}"} for label in labels]
    menu = create_menu(actor=make.actor(), name="Main", slug="main", locale="en", items=items)
    return f"/admin/proofroom_menus/menu/{menu.pk}/change/"


def shape(items: Any) -> list[Any]:
    """Return labels, each with its children."""
    return [
        [item["label"], *shape(item["children"])] if item["children"] else item["label"]
        for item in items
    ]


def kept() -> list[Any]:
    return shape(Menu.objects.get().items)


def save(page: Any) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name="Save", exact=True).click()


def test_a_menu_is_put_in_order_with_the_keyboard_and_added_to(open_page: Any) -> None:
    make.post(title="Green tea", slug="green")
    page = open_page()
    page.goto(a_menu("Home", "Coffee", "Tea"))
    tea = page.get_by_role("button", name="Move Tea", exact=True)
    says = page.locator("#rows-say")

    tea.press("ArrowUp")
    expect(says).to_have_text("Tea moved to 2 of 3 at the top level.", use_inner_text=True)
    tea.press("ArrowRight")
    expect(says).to_have_text("Tea moved to 1 of 1 below Home.", use_inner_text=True)
    tea.press("Escape")
    expect(says).to_have_text("Tea moved back.", use_inner_text=True)
    page.get_by_role("button", name="Move Coffee", exact=True).press("ArrowRight")
    page.locator(".menu-preview ul", has_text="Coffee").wait_for()
    page.get_by_label("Find a page").press_sequentially("green")
    page.get_by_role("button", name="Green tea").click()
    page.get_by_role("button", name="Move Green tea", exact=True).press("ArrowLeft")
    page.get_by_role("button", name="Remove Tea", exact=True).click()
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Move Tea", exact=True).wait_for()
    assert serious_in_any_light(page) == []
    save(page)

    assert kept() == [["Home", "Coffee"], "Tea", ""]
    assert Menu.objects.get().items[2]["url"] == "/blog/green"


def test_an_item_is_dragged_below_another(open_page: Any) -> None:
    page = open_page()
    page.goto(a_menu("Home", "Coffee", "Tea"))

    def middle(part: Any) -> tuple[float, float]:
        box = part.bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    across, down = middle(page.get_by_role("button", name="Move Tea", exact=True))
    page.mouse.move(across, down)
    page.mouse.down()
    page.mouse.move(across, down - 10, steps=3)
    page.locator("body.tree-moving").wait_for()
    _middle, below_home = middle(page.locator("[data-label=Home] > [data-children]"))
    page.mouse.move(across + 40, below_home, steps=8)
    page.mouse.up()
    page.get_by_text("Not saved yet").wait_for()
    save(page)

    assert kept() == [["Home", "Tea"], "Coffee"]


def test_a_menu_is_put_in_order_without_scripts(open_page: Any) -> None:
    page = open_page(scripts=False, width=360)
    page.goto(a_menu("Home", "Coffee"))

    page.get_by_role("button", name="Nest Coffee below the previous item").click()
    page.get_by_label("Label", exact=True).last.fill("Tea")
    page.get_by_label("Address", exact=True).last.fill("javascript:1")
    page.get_by_role("button", name="Add", exact=True).click()
    with page.expect_navigation():
        page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".tree .field-errors")).to_contain_text(
        "“Address” must be a path", use_inner_text=True
    )
    assert kept() == ["Home", "Coffee"]
    page.locator(".tree-edit[open] [name^=url]").fill("/tea")
    page.get_by_role("button", name="Move Tea up", exact=True).click()
    save(page)

    assert kept() == ["Tea", ["Home", "Coffee"]]
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
