"""Every address of the admin: no serious barrier in either light, nothing wider than the window."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.every_page import everything, pages, paths
from tests.browser.test_looks import serious, serious_in_any_light

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PARTS = 4
_LIKE_OTHERS = re.compile(r"/(history|delete)/$")
WIDTHS = (768, 360)
COVERED = """() => {
  const words = document.createRange(), title = document.querySelector("#content h1");
  if (!title) return false;
  words.selectNodeContents(title);
  const box = words.getBoundingClientRect();
  const ends = [[box.left + 2, box.top + 8], [box.right - 2, box.bottom - 8]];
  return ends.some(([x, y]) => !title.contains(document.elementFromPoint(x, y)));
}"""
"""Whether something lies over the heading of the page."""


@pytest.mark.parametrize("part", range(PARTS))
def test_no_page_has_a_serious_barrier_or_is_wider_than_the_window(
    open_page: Any, part: int
) -> None:
    found = pages(paths(everything())[part::PARTS])
    stranger = open_page(None)
    stranger.goto("/admin/login/")
    page, problems = open_page("admin"), serious(stranger)

    for path in found:
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(path)
        # Pages that are Django's own but for the name of the thing have its colours, which others show.
        problems += serious(page) if _LIKE_OTHERS.search(path) else serious_in_any_light(page)
        problems += [f"{path}: its heading is covered"] if page.evaluate(COVERED) else []
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 740})
            wide = page.evaluate("() => document.documentElement.scrollWidth")
            problems += [f"{path} is {wide} wide"] if wide > width else []

    assert len(found) > 20
    assert problems == []
