"""What a person does on a page before the picture is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from content.models import Post
from tests import make
from tests.browser.conftest import ready_for_agents
from tests.browser.media_scene import drawn
from tests.media.pictures import encoded

if TYPE_CHECKING:
    from playwright.sync_api import Page


def nothing(page: Page) -> None:
    """Take the page as it opens."""


def fix_the_seal(page: Page) -> None:
    """Show the same hash each time: it covers times of the database and of threads."""
    page.locator("dd code[title]").evaluate("(code) => { code.textContent = '5a110ac821d5' }")


def mark_a_change(page: Page) -> None:
    page.keyboard.press("j")
    page.keyboard.press("a")


def decide(page: Page) -> None:
    """Accept the title, leave the excerpt and reject the description, with the page after the changes beside them."""
    page.keyboard.press("]")
    page.frame_locator("[data-pane-frame] iframe").locator(".module").first.wait_for()
    page.locator('[data-path="post.title"]').focus()
    for key in ("a", "l", "x"):
        page.keyboard.press(key)
    page.evaluate("() => scrollTo(0, 0)")


def select_a_file(page: Page) -> None:
    for key in ("j", "j", "x"):
        page.keyboard.press(key)
    page.evaluate("() => scrollTo(0, 0)")


def find_a_word(page: Page) -> None:
    page.fill("[name=find]", "water")
    page.fill("[name=replace]", "soft water")
    page.click(".replace-search button[type=submit]")


def heat(page: Page) -> None:
    page.locator("[data-state=ready]").wait_for()


def choose_an_agent(page: Page) -> None:
    ready_for_agents(page)
    page.get_by_role("tab", name="Agents").click()
    page.locator(".agent-buttons").get_by_role("link", name="SEO specialist").click()
    page.wait_for_selector("dialog [data-choose]")


def _close_modules(page: Page) -> None:
    page.wait_for_selector("[data-edit][data-ready]")
    page.locator("[data-close-all]").click()
    page.locator("#modules").evaluate("(title) => scrollTo(0, title.offsetTop - 420)")


def _wait_for_backup(page: Page) -> None:
    """Wait until the server has the private copy, which the header then says."""
    page.locator("[data-save-state]", has_text="backed up").wait_for()


def change_a_field(page: Page) -> None:
    page.wait_for_selector("[data-edit][data-ready]")
    page.fill("#f-post-excerpt", "Ten quiet minutes, one good cup.")
    _wait_for_backup(page)
    _close_modules(page)


def pick_a_module(page: Page) -> None:
    _close_modules(page)
    page.locator("[data-pick-open]").click()
    page.wait_for_selector(".pick")


def write_beside_the_page(page: Page) -> None:
    """Write into the rich text, with the page beside it."""
    page.get_by_role("tab", name="Preview").click()
    page.locator(".nav").evaluate("(one) => { one.hidden = true }")
    card = page.locator(f"#m-{make.module_id(_post_of(page), 'prose')}")
    card.scroll_into_view_if_needed()
    card.locator(".rt-page").click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("Slowly. ")
    page.frame_locator(".live-preview iframe").get_by_text("Slowly.").wait_for()
    _wait_for_backup(page)
    card.evaluate("(one) => scrollTo(0, one.offsetTop - 260)")


def pick_a_file(page: Page) -> None:
    page.locator("[data-media-field] [data-choose]").first.click()
    page.locator(".media-dialog [data-pick]").nth(2).click()
    page.set_input_files(
        "[data-upload-input]",
        [{"name": "new.png", "mimeType": "image/png", "buffer": encoded(drawn(9), "PNG")}],
    )
    # Its sizes are generated at once, but the page asks for them a second later.
    page.locator(".upload[data-is=done] [data-state]").get_by_text("Done").wait_for()


def upload_a_program(page: Page) -> None:
    file = {"name": "notes.exe", "mimeType": "application/octet-stream", "buffer": b"MZ no picture"}
    page.set_input_files("[data-upload-input]", [file])
    page.locator(".upload[data-is=failed], .upload[data-is=refused]").first.wait_for()


def save_after_another_person(page: Page) -> None:
    make.edited(_post_of(page), {"title": "Filter coffee, by another person"})
    page.fill("#f-post-title", "Filter coffee, by hand")
    page.get_by_role("button", name="Publish changes").click()
    page.locator(".choices").wait_for()


def _post_of(page: Page) -> Post:
    return Post.objects.get(pk=page.url.split("/post/")[1].split("/")[0])
