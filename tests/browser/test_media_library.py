"""The media library in a browser: dropped files, selection by keyboard, and the picker of fields."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from playwright.sync_api import expect

from content.posts.edit import edit_post
from content.store import document_edits
from content.store.post_repository import load
from media.models import Asset
from tests import make
from tests.browser.media_scene import drawn, library
from tests.browser.test_looks import serious_in_any_light
from tests.browser.test_rich_text import save
from tests.media.pictures import encoded, store

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LIST = "/admin/media/asset/"
DROP = """
([files, place]) => {
  const data = new DataTransfer();
  for (const [name, type, content] of files) {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    data.items.add(new File([bytes], name, { type }));
  }
  const options = { bubbles: true, cancelable: true, dataTransfer: data };
  for (const name of ["dragenter", "dragover", "drop"])
    document.querySelector(place).dispatchEvent(new DragEvent(name, options));
}
"""


def drop(page: Any, *files: tuple[str, str, bytes], place: str = "h1") -> None:
    sent = [[name, kind, base64.b64encode(content).decode()] for name, kind, content in files]
    page.evaluate(DROP, [sent, place])


def test_three_files_are_dropped_and_one_is_refused_at_its_row(open_page: Any) -> None:
    page = open_page()
    page.goto(LIST)
    expect(page.locator("#media-results").first).to_contain_text(
        "No files yet", use_inner_text=True
    )
    wall = encoded(drawn(1), "PNG")

    drop(
        page,
        ("wall.png", "image/png", wall),
        ("logo.svg", "image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        ("<i>floor</i>.png", "image/png", encoded(drawn(2), "PNG")),
    )

    page.locator(".upload[data-is=failed]").wait_for()
    page.locator("[data-tile]").nth(1).wait_for()
    expect(page.locator(".upload[data-is=done]")).to_have_count(2)
    expect(page.locator(".upload[data-is=failed]").first).to_contain_text(
        "not a valid JPEG", use_inner_text=True
    )
    expect(page.locator("[data-uploads-summary]").first).to_have_text(
        "2 of 3 uploaded, 1 not", use_inner_text=True
    )
    assert Asset.objects.count() == 2

    drop(page, ("copy.png", "image/png", wall))
    page.locator(".upload[data-is=there]").wait_for()
    expect(page.locator(".uploads").first).to_contain_text(
        "Already in the library: wall.png.", use_inner_text=True
    )
    assert Asset.objects.count() == 2
    page.get_by_role("button", name="Upload anyway").click()
    page.locator(".upload[data-is=done]").nth(2).wait_for()
    assert Asset.objects.filter(filename="copy.png").exists()


def test_several_are_chosen_by_keys_and_deleted_after_a_question(open_page: Any) -> None:
    library()
    page = open_page(width=360)
    page.goto(LIST)
    assert page.evaluate("document.documentElement.scrollWidth") == 360

    for key in ("j", "j", "x", "j", "Shift+x"):
        page.keyboard.press(key)
    expect(page.locator("[data-bulk-count]").first).to_have_text("2 selected", use_inner_text=True)
    page.get_by_role("button", name="Delete 2…").click()
    page.get_by_role("heading", name="Delete 2 files").wait_for()
    page.get_by_role("button", name="Delete", exact=True).click()

    page.wait_for_url(f"**{LIST}")
    assert Asset.objects.count() == 7
    page.keyboard.press("v")
    page.wait_for_url("**?view=table")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert serious_in_any_light(page) == []


def test_the_featured_image_of_a_post_is_picked_by_keys_and_described(open_page: Any) -> None:
    library()
    post = make.post("Harbours")
    page = open_page()
    page.goto(f"/admin/content/post/{post.pk}/change/")
    page.locator("[data-media-field] [data-choose]").first.click()
    search = page.locator(".media-dialog [type=search]")
    search.wait_for()
    assert serious_in_any_light(page) == []

    search.fill("harbour")
    page.locator(".media-dialog [data-pick]").nth(1).wait_for(state="detached")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    page.fill("#picker-alt", "A harbour at dawn")
    page.get_by_role("button", name="Use this file").click()
    page.locator(".media-dialog").wait_for(state="detached")

    harbour = Asset.objects.get(filename="harbour-at-dawn.jpg")
    assert harbour.alt_text == "A harbour at dawn"
    expect(page.locator(f"select option:checked[value='{harbour.pk}']")).to_have_count(1)


def test_without_scripts_the_library_is_narrowed_and_files_are_uploaded(open_page: Any) -> None:
    library()
    page = open_page(scripts=False)
    page.goto(LIST)
    page.locator("summary", has_text="Filters").click()
    page.select_option("[name=words]", "en")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.locator(".chip-link").wait_for()
    expect(page.locator("[data-tile]")).to_have_count(4)

    page.get_by_role("link", name="Upload", exact=True).click()
    page.set_input_files(
        "[name=file]",
        [{"name": "new.png", "mimeType": "image/png", "buffer": encoded(drawn(9), "PNG")}],
    )
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url("**/change/")
    assert Asset.objects.filter(filename="new.png").exists()


def test_alt_text_is_written_for_several_images_at_once(open_page: Any) -> None:
    first, second = make.image("first.png"), make.image("second.png")
    page = open_page("editor")
    page.goto(LIST)
    page.get_by_role("link", name="Missing alt text").click()
    page.get_by_label("Alt text of first.png in English").fill("A red square")
    page.get_by_label("Decorative image (no alt text needed): second.png").check()
    assert serious_in_any_light(page) == []

    page.get_by_role("button", name="Save alt text").click()

    page.get_by_text("Every image has alt text in English.").wait_for()
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.alt_text, second.is_decorative) == ("A red square", True)


def test_a_gallery_takes_several_files_at_once_in_order(open_page: Any) -> None:
    library()
    post = make.post("Harbours", slug="harbours")
    edit_post(
        post_id=post.pk,
        edit=lambda document: document_edits.add_module(document, type="gallery", index=1)[0],
        actor=make.actor("admin"),
    )
    page = open_page()
    page.goto(f"/admin/content/post/{post.pk}/change/")
    gallery = page.locator(f"#m-{make.module_id(post, 'gallery')}")
    items = gallery.locator("[data-item]")
    gallery.get_by_role("button", name="Add several files…").click()
    dialog = page.locator(".media-dialog")
    picks = dialog.locator("[data-pick]")
    picks.nth(0).click()
    picks.nth(2).click(modifiers=["Shift"])
    picks.nth(1).click()
    use = dialog.get_by_role("button", name="Add 2 files")
    use.wait_for()
    assert serious_in_any_light(page) == []
    use.click()
    expect(items).to_have_count(2)
    expect(items.nth(1).locator("[data-thumbnail]")).to_be_visible()

    new = ("new.png", "image/png", encoded(drawn(11), "PNG"))
    known = ("again.png", "image/png", encoded(drawn(12), "PNG"))
    store(known[2], "known.png")
    wrong = ("page.png", "image/png", b"<html></html>")
    number = gallery.get_attribute("id")
    drop(page, known, wrong, new, place=f"#{number} .repeater legend")

    expect(items).to_have_count(4)
    expect(gallery.locator(".upload[data-is=failed]")).to_contain_text("not a valid JPEG")
    # A file that is dropped beside a field is ignored, and the page stays.
    drop(page, new, place=".breadcrumbs, h1")
    save(page)

    module = next(one for one in load(post).modules if one.type == "gallery")
    names = [Asset.objects.get(pk=str(item["imageId"])).filename for item in module.props["items"]]
    assert names == [*names[:2], "known.png", "new.png"]
    assert len({*names}) == 4
    assert not Asset.objects.filter(filename="again.png").exists()
