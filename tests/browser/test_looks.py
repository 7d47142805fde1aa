from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from proofroom_apps.menus.models import Menu
from tests import make
from tests.browser.scene import coffee

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SERIOUS = ("serious", "critical")
STANDARDS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
OF_ITS_OWN = {"label-content-name-mismatch": {"enabled": True}}
"""A WCAG rule that axe checks only if named."""
COLOURS = ("color-contrast", "link-in-text-block")
"""Rules that depend on theme or width; all others give the same result everywhere."""


def barriers(page: Any, without: Sequence[str] = (), **options: Any) -> list[str]:
    """Return axe's findings on the page, except in elements that match `without`."""
    asked = {"runOnly": [*STANDARDS], "rules": OF_ITS_OWN, **options}
    return [line for _, line in findings(page, without, asked)]


def serious(page: Any, without: Sequence[str] = (), **options: Any) -> list[str]:
    """Return axe's serious findings on the page, except in elements that match `without`."""
    return [line for impact, line in findings(page, without, options) if impact in SERIOUS]


def findings(page: Any, without: Sequence[str], options: dict[str, Any]) -> list[tuple[str, str]]:
    """Return each finding with its impact."""
    from axe_playwright_python.sync_playwright import Axe

    # Passes would describe every node, which takes longer than the rules. Preloading would copy
    # imported stylesheets into the page, which the policy forbids; the used rules do not need them.
    asked = {"resultTypes": ["violations"], "preload": False, **options}
    told = Axe().run(page, context={"exclude": [*without]}, options=asked)
    return [
        (
            item["impact"],
            f"{page.url} {item['id']}: {node['html'][:300]} {node.get('failureSummary', '')[:200]}",
        )
        for item in told.response["violations"]
        for node in item["nodes"]
    ]


def serious_in_any_light(page: Any) -> list[str]:
    """Return serious findings on the page, and of its colors in the dark theme."""
    found = serious(page)
    page.emulate_media(color_scheme="dark")
    found += serious(page, runOnly=[*COLOURS])
    page.emulate_media(color_scheme="light")
    return found


def site_places() -> list[str]:
    """Return one page of every kind, including the post with a topic and a translation."""
    home = make.post("Kettle", type="page", slug="home", markdown="")
    make.post("Kessel", type="page", slug="home", locale="de", markdown="", translation_of=home)
    coffee()
    return ["/", "/blog", "/search?q=coffee", "/search?q=nothing", "/de/nichts", "/blog/topics/coffee",
            "/blog/how-to-brew-filter-coffee"]  # fmt: skip


def test_no_page_of_the_site_has_a_serious_barrier_or_is_too_wide(open_page: Any) -> None:
    addresses, problems = site_places(), []
    page = open_page(None)
    # The browser would report the status as an error of the page.
    page.route("**/nichts", lambda route: route.fulfill(response=route.fetch(), status=200))

    for address in addresses:
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(address)
        problems += serious_in_any_light(page)
        page.set_viewport_size({"width": 390, "height": 800})
        problems += serious(page)
        wide = page.evaluate("() => document.documentElement.scrollWidth")
        problems += [f"{address} is {wide} wide"] if wide > 390 else []

    assert problems == []


def test_the_site_is_searched_and_its_menus_open_by_keyboard_without_scripts(
    open_page: Any,
) -> None:
    site_places()
    below = {
        "id": "2",
        "label": "Kettles",
        "type": "custom",
        "url": "/search?q=kettle",
        "children": [],
    }
    top = {"id": "1", "label": "More", "type": "custom", "url": "", "children": [below]}
    Menu.objects.create(slug="main", locale="en", name="Main", items=[top])
    page = open_page(None, scripts=False)
    page.goto("/")

    page.get_by_label("Search this site").press_sequentially("bloom")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="How to brew filter coffee").click()
    assert page.url.endswith("/blog/how-to-brew-filter-coffee")

    link = page.get_by_role("link", name="Kettles")
    expect(link).to_be_hidden()
    page.locator("summary", has_text="More").press("Enter")
    link.press("Enter")
    page.wait_for_url("**/search?q=kettle")


def test_revisions_on_a_phone_and_lists_on_a_laptop_need_no_scrolling_sideways(
    open_page: Any,
) -> None:
    post = coffee()
    make.agent_actor("general-assistant")
    cut = """() => [...document.querySelectorAll('.results')].some(
        (box) => box.scrollWidth > box.clientWidth)"""

    for width, addresses in (
        (390, [f"/admin/content/post/{post.pk}/revisions/"]),
        (
            1280,
            [
                "/admin/agents_app/agentrun/",
                "/admin/proofroom_accounts/user/",
                "/admin/content/post/",
            ],
        ),
    ):
        page = open_page("admin", width=width)
        for address in addresses:
            page.goto(address)
            assert page.locator(".results").count() == 1, address
            assert not page.evaluate(cut), address


def test_the_stylesheets_of_every_page_stay_small() -> None:
    sizes = {path.name: path.stat().st_size for path in Path("static/cms/design").glob("*.css")}

    assert set(sizes) == {"base.css", "components.css"}
    assert sum(sizes.values()) <= 65_536, sizes
