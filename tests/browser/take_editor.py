"""Takes the screenshots of the editor: `python -m pytest tests/browser/take_editor.py -m browser`."""

from __future__ import annotations

from typing import Any

import pytest

from tests import make
from tests.browser.scene import coffee
from tests.browser.take_pictures import IMAGES, keep

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
_MOST_BYTES = 200_000


def test_the_editor_and_its_picker(open_page: Any) -> None:
    post = coffee()
    make.global_module()
    page = open_page("admin", width=1280, height=1000)
    page.goto(f"/admin/content/post/{post.pk}/change/")
    page.wait_for_selector("[data-edit][data-ready]")
    page.locator("[data-close-all]").click()
    page.fill("#f-post-excerpt", "Ten quiet minutes, one good cup.")
    page.wait_for_selector("[data-save-state][data-state=dirty]")
    page.locator("#modules").evaluate("(title) => scrollTo(0, title.offsetTop - 420)")

    keep(page, IMAGES / "editor.png")
    page.locator("[data-pick-open]").click()
    page.wait_for_selector(".pick")
    keep(page, IMAGES / "module-picker.png")

    for name in ("editor", "module-picker"):
        assert (IMAGES / f"{name}.png").stat().st_size < _MOST_BYTES
