"""The page of one file in a browser: setting the focal point, and image sizes that appear automatically."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import expect

from media.models import Asset
from media.services.variants import request_variants
from tests import make
from tests.browser.media_scene import drawn
from tests.browser.test_looks import serious_in_any_light
from tests.media.pictures import encoded, store

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def shown(page: Any, name: str) -> None:
    """Save a screenshot if `SCREENSHOTS` names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)


def test_a_click_sets_the_focal_point(open_page: Any) -> None:
    gradient = Image.merge("RGB", [Image.linear_gradient("L").resize((900, 600))] * 3)
    asset = store(encoded(gradient, "JPEG"), "wall-of-the-old-town.jpg", alt_text="A grey wall")
    request_variants(asset_id=asset.pk, theme="dark", actor=make.actor("editor"))
    make.post(title="Walls of the city", featuredMediaId=str(asset.pk))
    page = open_page(width=1280)
    page.goto(f"/admin/media/asset/{asset.pk}/change/")
    picture = page.locator("[data-picture] img")
    box = picture.bounding_box()

    picture.click(position={"x": box["width"] * 0.25, "y": box["height"] * 0.75})

    expect(page.locator("[data-mark]")).to_be_visible()
    assert abs(float(page.locator("[name=focal_x]").input_value()) - 25) < 1
    assert abs(float(page.locator("[name=focal_y]").input_value()) - 75) < 1
    shown(page, "file-light")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/change/")
    kept = Asset.objects.get(pk=asset.pk)
    assert (kept.focal_x, kept.focal_y) != (None, None)
    expect(page.locator("[data-mark]")).to_be_visible()
    for name, dark, width in (("dark", True, 1280), ("narrow", False, 390)):
        other = open_page(dark=dark, width=width)
        other.goto(f"/admin/media/asset/{asset.pk}/change/")
        shown(other, f"file-{name}")
        assert other.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for part in ("delete/", "../check/"):
            other.goto(f"/admin/media/asset/{asset.pk}/{part}")
            shown(other, f"{part.strip('./')}-{name}")
            assert other.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_keys_set_the_focal_point_and_keep_a_part_of_the_picture(open_page: Any) -> None:
    asset = store(encoded(drawn(3), "JPEG"), "wall.jpg")
    page = open_page()
    page.goto(f"/admin/media/asset/{asset.pk}/change/")

    for key in ("f", "Shift+ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    expect(page.locator("[name=focal_x]")).to_have_value("60.0")
    expect(page.locator("[name=focal_y]")).to_have_value("49.0")
    expect(page.locator(".shapes.focal-x2.focal-y2")).to_have_count(1)
    page.fill("[name=alt_text]", "A wall")
    page.fill("[name=alt_de]", "Eine Mauer")
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator(".messagelist").wait_for()
    page.wait_for_load_state()  # its scripts answer keys from here on
    asset.refresh_from_db()
    assert (asset.focal_x, asset.focal_y) == (0.6, 0.49)
    assert (asset.alt_text, asset.alt_texts) == ("A wall", {"de": "Eine Mauer"})

    page.keyboard.press("c")
    page.locator("[data-crop-box]").wait_for()
    page.select_option("[data-crop-ratio]", "1:1")
    page.locator("[data-crop-corner]").press("Shift+ArrowLeft")
    assert serious_in_any_light(page) == []
    page.get_by_role("button", name="Save as new file").click()
    page.wait_for_url(lambda url: str(asset.pk) not in url)
    made = Asset.objects.get(filename="wall-cropped.jpg")
    assert made.width == made.height


def test_without_script_the_two_fields_do(open_page: Any) -> None:
    asset = store(encoded(Image.new("RGB", (90, 60), "teal"), "PNG"))
    page = open_page(scripts=False)
    page.goto(f"/admin/media/asset/{asset.pk}/change/")

    page.fill("[name=focal_x]", "10")
    page.fill("[name=focal_y]", "20.5")
    page.get_by_role("button", name="Save", exact=True).click()

    page.wait_for_load_state()
    asset.refresh_from_db()
    assert (asset.focal_x, asset.focal_y) == (0.1, 0.205)


def test_sizes_appear_when_the_worker_has_made_them(open_page: Any) -> None:
    asset = store(encoded(Image.new("RGB", (90, 60), "teal"), "PNG"))
    Asset.objects.update(status="processing")
    page = open_page()
    page.goto(f"/admin/media/asset/{asset.pk}/change/")
    expect(page.locator("[data-waiting]")).to_be_visible()
    expect(page.locator(".sizes")).to_have_count(0)
    shown(page, "file-waiting")

    Asset.objects.update(status="ready")

    page.locator(".sizes").wait_for()
    expect(page.locator("[data-waiting]")).to_have_count(0)
