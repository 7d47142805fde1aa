"""The page tree: keyboard navigation, reordering, moving by dragging and by dialog, undo."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from content.models import Layer, Post
from content.posts.trash import delete_post
from content.translations.translate import create_translation
from proofroom_apps.editorial.posts import page_tree
from tests import make
from tests.browser.test_looks import barriers, serious_in_any_light

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
URL = "/admin/content/post/tree/"


def page(title: str, parent: Post | None = None, **words: Any) -> Post:
    above = {"parentId": str(parent.pk)} if parent is not None else {}
    return make.post(
        title, type="page", slug=title.lower().replace(" ", "-"), markdown="", **above, **words
    )


def site() -> dict[str, Post]:
    products = page("Products")
    page("Services")
    overview = page("Overview", products)
    page("Prices", products, status="draft")
    page("Details", overview)
    make.staged(overview, {"title": "All products", "excerpt": "All"})
    return {post.title: post for post in Post.objects.all()}


def opened(open_page: Any, **options: Any) -> Any:
    page = open_page(**options)
    page.goto(URL)
    page.locator("[role=tree]").wait_for()
    return page


def item(page: Any, title: str) -> Any:
    return page.locator(f"li[data-label='{title}']")


def row(page: Any, title: str) -> Any:
    return item(page, title).locator("> .tree-row")


def labels(page: Any) -> list[str]:
    found: list[str] = page.locator("li[data-page]").evaluate_all(
        "rows => rows.filter((row) => row.checkVisibility()).map((row) => row.dataset.label)"
    )
    return found


def focused(page: Any) -> str:
    return str(
        page.evaluate(
            """() => {
                const { activeElement: active } = document;
                return active.closest("li")?.dataset.label ?? active.tagName;
            }"""
        )
    )


def drag(page: Any, title: str, onto: str, part: float) -> None:
    row(page, title).hover()
    grip = row(page, title).locator(".tree-grip").bounding_box()
    target = row(page, onto).bounding_box()
    page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    page.mouse.down()
    page.mouse.move(target["x"] + 200, target["y"] + target["height"] * part, steps=6)
    page.mouse.up()


def test_the_tree_is_walked_with_the_keyboard(open_page: Any) -> None:
    site()
    page = opened(open_page)
    assert barriers(page) == []
    assert serious_in_any_light(page) == []
    row(page, "Products").focus()
    press = page.keyboard.press

    press("ArrowDown")
    assert focused(page) == "Overview"
    press("ArrowLeft")
    expect(row(page, "Overview")).to_have_attribute("aria-expanded", "false")
    press("ArrowDown")
    assert focused(page) == "Prices"
    press("s")
    assert focused(page) == "Services"
    press("Home")
    press("ArrowRight")
    press("ArrowLeft")
    assert focused(page) == "Products"
    press("End")
    assert focused(page) == "Services"
    page.reload()
    page.locator("[role=tree]").wait_for()
    assert "Details" not in labels(page)
    row(page, "Services").focus()
    press("Shift+F10")
    page.get_by_role("menuitem", name="Edit page").wait_for()
    assert barriers(page) == []
    assert serious_in_any_light(page) == []
    press("Escape")
    assert focused(page) == "Services"
    press("Enter")
    page.wait_for_url("**/change/")


def test_a_row_is_named_by_the_words_that_it_shows(open_page: Any) -> None:
    posts = site()
    make.staged(posts["Overview"], {"title": "Everything"}, layer=Layer.REVIEW)
    delete_post(post_id=posts["Products"].pk, actor=make.actor())
    page = opened(open_page)

    tree = page.get_by_role("tree", name="Page tree")
    for name in (
        "Overview /products/overview Parent page is in the trash AI Review 2 Review 1 Published",
        "Details /products/overview/details Published",
        "Prices /products/prices Parent page is in the trash Draft",
    ):
        expect(tree.get_by_role("treeitem", name=name, exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="AI Review 2 Overview", exact=True)).to_be_visible()
    assert barriers(page) == []


def test_the_menu_of_a_row_opens_at_its_row_and_lets_tab_go_on_there(open_page: Any) -> None:
    site()
    page = opened(open_page)
    row(page, "Prices").hover()

    row(page, "Prices").get_by_role("link", name="Actions for Prices").click()

    menu = page.get_by_role("menu").bounding_box()
    opener = row(page, "Prices").locator(".tree-actions").bounding_box()
    assert menu["x"] + menu["width"] == pytest.approx(opener["x"] + opener["width"], abs=1)
    assert 0 <= menu["y"] - opener["y"] - opener["height"] < 10
    page.keyboard.press("Tab")
    expect(page.get_by_role("menu")).to_be_hidden()
    expect(page.get_by_label("Select Prices")).to_be_focused()


def test_neighbours_change_places_and_back(open_page: Any) -> None:
    site()
    page = opened(open_page)
    row(page, "Prices").focus()

    first = item(page, "Products").locator("li[data-page]").first

    page.keyboard.press("Control+Shift+ArrowUp")
    expect(first).to_have_attribute("data-label", "Prices")
    assert labels(page) == ["Products", "Prices", "Overview", "Details", "Services"]
    assert focused(page) == "Prices"
    page.get_by_role("button", name="Undo").click()
    expect(first).to_have_attribute("data-label", "Overview")
    drag(page, "Prices", "Overview", 0.1)
    expect(first).to_have_attribute("data-label", "Prices")

    assert list(
        Post.objects.filter(path__startswith="/products/", parent__path="/products")
        .order_by("order_index", "title")
        .values_list("title", flat=True)
    ) == ["Prices", "Overview"]


def test_a_page_dragged_onto_another_moves_below_it_after_a_question(open_page: Any) -> None:
    posts = site()
    page = opened(open_page)

    drag(page, "Overview", "Services", 0.5)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("/services/overview/details")
    expect(dialog).to_contain_text("2 redirects from the old addresses will be created")
    assert serious_in_any_light(page) == []
    dialog.get_by_role("button", name="Move page").click()
    page.get_by_text("“Overview” moved to /services/overview.").first.wait_for()
    assert labels(page) == ["Products", "Prices", "Services", "Overview", "Details"]
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("“Overview” moved to /products/overview.").first.wait_for()

    assert Post.objects.get(pk=posts["Details"].pk).path == "/products/overview/details"


def test_several_pages_move_by_the_dialog_which_says_what_is_taken(open_page: Any) -> None:
    posts = site()
    page("Prices", posts["Services"])
    window = opened(open_page)
    window.get_by_label("Select Details").check()
    window.get_by_label("Select Prices").first.check()
    window.get_by_role("button", name="Move 2…").click()
    dialog = window.get_by_role("dialog")

    dialog.get_by_label("Move below").press_sequentially("serv")
    dialog.get_by_label("Services").first.check()
    expect(dialog).to_contain_text("already uses the slug")
    expect(dialog.get_by_role("button", name="Move pages")).to_be_disabled()
    dialog.get_by_label("Top level").check()
    expect(dialog).to_contain_text("/prices")
    dialog.get_by_role("button", name="Move pages").click()
    window.get_by_text("2 pages moved.").first.wait_for()

    assert set(Post.objects.filter(parent=None).values_list("path", flat=True)) == {
        "/products",
        "/services",
        "/prices",
        "/details",
    }


def test_a_large_tree_opens_level_by_level(open_page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_tree, "MAX_WHOLE", 2)
    monkeypatch.setattr(page_tree, "_PAGE_SIZE", 2)
    posts = site()
    page("Team", posts["Products"])
    window = opened(open_page)
    assert labels(window) == ["Products", "Services"]
    row(window, "Products").focus()

    window.keyboard.press("ArrowRight")
    row(window, "Overview").wait_for()
    window.get_by_role("button", name="Show more pages").click()
    row(window, "Team").wait_for()
    assert labels(window) == ["Products", "Overview", "Prices", "Team", "Services"]
    below = row(window, "Products").get_attribute("aria-owns")
    expect(window.locator(f"#{below} > li")).to_have_count(3)
    assert barriers(window) == []
    assert serious_in_any_light(window) == []
    window.reload()
    row(window, "Overview").wait_for()


def test_a_page_is_copied_from_its_menu(open_page: Any) -> None:
    site()
    page = opened(open_page)
    row(page, "Products").focus()

    page.keyboard.press("Shift+F10")
    page.get_by_role("menuitem", name="Copy…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Copy the 3 pages below it too").check()
    assert serious_in_any_light(page) == []
    dialog.get_by_role("button", name="Create copy").click()
    row(page, "Copy of Products").wait_for()

    assert labels(page)[:4] == ["Copy of Products", "Overview", "Details", "Prices"]
    assert focused(page) == "Copy of Products"
    assert Post.objects.filter(path="/products-copy/overview/details", status="draft").exists()


def test_moving_works_without_scripts(open_page: Any) -> None:
    posts = site()
    window = open_page(scripts=False)
    window.goto(f"{URL}move/?page={posts['Overview'].pk}")

    window.get_by_label("Services").check()
    window.get_by_role("button", name="Check addresses").click()
    expect(window.locator("#task-plan")).to_contain_text(
        "/services/overview/details", use_inner_text=True
    )
    window.get_by_role("button", name="Move page").click()

    assert window.url.endswith("/tree/?type=page&locale=en")
    assert Post.objects.get(pk=posts["Overview"].pk).path == "/services/overview"


@pytest.mark.skipif("SCREENSHOTS" not in os.environ, reason="only to look at")
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures(open_page: Any, width: int, scheme: str) -> None:
    posts = site()
    gone = page("Old campaign")
    page("Landing", gone)
    delete_post(post_id=gone.pk, actor=make.actor())
    create_translation(post_id=posts["Details"].pk, locale="de", actor=make.actor())
    folder = Path(os.environ["SCREENSHOTS"])
    window = opened(open_page, width=width, dark=scheme == "dark")
    window.screenshot(path=folder / f"tree-{width}-{scheme}.png")
    row(window, "Overview").focus()
    window.keyboard.press("Shift+F10")
    window.screenshot(path=folder / f"tree-menu-{width}-{scheme}.png")
    window.get_by_role("menuitem", name="Move to…").click()
    window.get_by_role("dialog").get_by_label("Services").first.check()
    window.get_by_text("addresses change").wait_for()
    window.screenshot(path=folder / f"tree-move-{width}-{scheme}.png")
    window.get_by_role("dialog").get_by_role("button", name="Move page").click()
    window.locator("[data-undo]:visible").wait_for()
    window.get_by_label("Select Details").check()
    window.screenshot(path=folder / f"tree-said-{width}-{scheme}.png")
    row(window, "Products").focus()
    window.keyboard.press("Shift+F10")
    window.get_by_role("menuitem", name="Copy…").click()
    window.get_by_role("dialog").get_by_label("below it too").wait_for()
    window.screenshot(path=folder / f"tree-copy-{width}-{scheme}.png")
