"""Takes the screenshots of `docs/admin/media-library.md`: `python -m pytest
tests/browser/take_media.py -m browser`.
"""

from __future__ import annotations

from typing import Any

import pytest

from media.services.update import update_asset
from tests import make
from tests.browser.media_scene import drawn, library
from tests.browser.take_pictures import IMAGES, keep
from tests.media.pictures import encoded

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
_MOST_BYTES = 200_000


def kept(page: Any, name: str) -> None:
    keep(page, IMAGES / f"{name}.png")
    assert (IMAGES / f"{name}.png").stat().st_size < _MOST_BYTES


def test_the_library_and_its_picker(open_page: Any) -> None:
    library()
    page = open_page(width=1280, height=900)
    page.goto("/admin/media/asset/")
    for key in ("j", "j", "x"):
        page.keyboard.press(key)
    page.locator(".tile img").last.scroll_into_view_if_needed()
    page.evaluate("scrollTo(0, 0)")
    kept(page, "media-library")

    post = make.post("Harbours")
    page.goto(f"/admin/content/post/{post.pk}/change/")
    page.locator("[data-media-field] [data-choose]").first.click()
    page.locator(".media-dialog [data-pick]").nth(2).click()
    page.set_input_files(
        "[data-upload-input]",
        [{"name": "new.png", "mimeType": "image/png", "buffer": encoded(drawn(9), "PNG")}],
    )
    page.locator(".upload[data-is=done]").wait_for()
    kept(page, "media-picker")


def test_the_page_of_a_file(open_page: Any) -> None:
    asset = library()[0]
    update_asset(
        asset_id=asset.pk,
        actor=make.actor(),
        alt_text="A harbour at dawn",
        focal_point=(0.66, 0.36),
    )
    page = open_page(width=1280, height=900)
    page.goto(f"/admin/media/asset/{asset.pk}/change/")
    page.locator(".shapes img").last.scroll_into_view_if_needed()
    page.evaluate("scrollTo(0, 0)")
    kept(page, "media-file")
