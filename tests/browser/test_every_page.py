"""All admin URLs: accessible, and nothing wider than the window.

URLs alternate between light and dark; their colors are checked in both.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.every_page import everything, pages, paths
from tests.browser.test_looks import COLOURS, barriers, findings, serious, serious_in_any_light

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PARTS = 4
WIDTHS = (768, 360)
FRAME = (".bar", ".nav")
ON_PHONES = ("target-size", "label-content-name-mismatch")
"""Rules whose result depends on what a phone shows."""
COVERED = """() => {
  const words = document.createRange(), title = document.querySelector("#content h1");
  if (!title) return false;
  words.selectNodeContents(title);
  const box = words.getBoundingClientRect();
  const ends = [[box.left + 2, box.top + 8], [box.right - 2, box.bottom - 8]];
  return ends.some(([x, y]) => !title.contains(document.elementFromPoint(x, y)));
}"""
"""True if an element covers the heading of the page."""


@pytest.mark.parametrize("part", range(PARTS))
def test_no_page_has_a_serious_barrier_or_is_wider_than_the_window(
    open_page: Any, part: int
) -> None:
    found = pages(paths(everything())[part::PARTS])
    stranger = open_page(None)
    stranger.goto("/admin/login/")
    page, problems = open_page("admin"), serious_in_any_light(stranger)

    for number, path in enumerate(found):
        page.set_viewport_size({"width": 1280, "height": 900})
        page.emulate_media(color_scheme="dark" if number % 2 else "light")
        page.goto(path)
        # The frame is the same everywhere, and checking it again takes as long as the rest of a
        # page.
        problems += barriers(page, without=FRAME if number > 1 else ())
        page.emulate_media(color_scheme="light" if number % 2 else "dark")
        problems += serious(page, without=FRAME, runOnly=[*COLOURS])
        problems += [f"{path}: its heading is covered"] if page.evaluate(COVERED) else []
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 740})
            wide = page.evaluate("() => document.documentElement.scrollWidth")
            problems += [f"{path} is {wide} wide"] if wide > width else []
        problems += [line for _, line in findings(page, FRAME, {"runOnly": [*ON_PHONES]})]

    assert len(found) > 20
    assert problems == []
