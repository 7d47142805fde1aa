"""A real browser with a live server. Tasks run immediately; no page may violate the Content-Security-Policy."""

from __future__ import annotations

import functools
import os
import re
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests import make

CHROMIUM = os.environ.get("CHROMIUM", "") or shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WATCH = """
window.__violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.__violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`));
"""
_HANDLER = "Executing inline event handler violates"
# Milliseconds after which an expected element counts as missing.
TIMEOUT = 30_000
OpenPage = Callable[..., Any]
_PROBE = "/health"


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import expect, sync_playwright

    # Playwright's loop runs in the thread of the tests, so Django would detect an async context.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        come_back_when_loaded(patch)
        route_at_once(patch)
        expect.set_options(timeout=TIMEOUT)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def come_back_when_loaded(patch: pytest.MonkeyPatch) -> None:
    """Make clicks and keys that navigate wait until the new page is loaded.

    Playwright returns when the response starts, so a test could read an incomplete page.
    """
    from playwright.sync_api import Locator, Page

    def loaded(act: Callable[..., None], page_of: Callable[[Any], Page]) -> Callable[..., None]:
        @functools.wraps(act)
        def acted(target: Page | Locator, *args: Any, **options: Any) -> None:
            page = page_of(target)
            act(target, *args, **options)
            if not page.is_closed():
                page.wait_for_load_state()

        return acted

    for name in ("click", "press", "check", "uncheck", "set_checked"):
        patch.setattr(Page, name, loaded(getattr(Page, name), lambda page: page))
        patch.setattr(Locator, name, loaded(getattr(Locator, name), lambda locator: locator.page))


def route_at_once(patch: pytest.MonkeyPatch) -> None:
    """Make `route` wait until an open page uses the new route.

    Chromium confirms the interception before the page applies it: requests of a busy page would
    reach the server meanwhile without any notice from Playwright.
    """
    from playwright.sync_api import Page

    original = Page.route

    @functools.wraps(original)
    def route(page: Page, *args: Any, **options: Any) -> Any:
        routed = original(page, *args, **options)
        if page.url.startswith("http"):
            original(page, _PROBE, lambda asked: asked.fulfill(body="intercepted"))
            page.wait_for_function(
                "async (url) => (await (await fetch(url)).text()) === 'intercepted'", arg=_PROBE
            )
            page.unroute(_PROBE)
        return routed

    patch.setattr(Page, "route", route)


@pytest.fixture
def open_page(chromium: Any, live_server: Any) -> Iterator[OpenPage]:
    """`open_page(role=…, dark=…, width=…, scripts=…)`: a page logged in as a role, or anonymous
    without one.

    `blocks_handlers`: the test pastes content with inline scripts, which the policy blocks and
    newer browsers log.

    At the end fails if any page had an error or a violation of the Content-Security-Policy.
    """
    problems: list[str] = []
    contexts = []
    with_scripts = []

    def opened(
        role: str | None = "editor",
        *,
        dark: bool = False,
        width: int = 1280,
        height: int = 900,
        scripts: bool = True,
        blocks_handlers: bool = False,
    ) -> Any:
        context = chromium.new_context(
            base_url=live_server.url,
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
            reduced_motion="reduce",
        )
        contexts.append(context)
        context.set_default_timeout(TIMEOUT)
        if scripts:
            context.add_init_script(WATCH)
            if not blocks_handlers:
                with_scripts.append(context)
        page = context.new_page()
        page.on(
            "console",
            lambda said: (
                problems.append(f"{page.url}: {said.text}")
                # A form shown again with its errors is no failure, nor is a link that has ended.
                if said.type == "error"
                and not re.search("status of (409|410|422)", said.text)
                and not (blocks_handlers and _HANDLER in said.text)
                else None
            ),
        )
        page.on("pageerror", lambda error: problems.append(f"{page.url}: {error}"))
        if role is not None:
            log_in(page, role)
        return page

    yield opened
    for context in contexts:
        for page in context.pages if context in with_scripts else ():
            if page.url.startswith("http"):
                problems += violations(page)
        context.close()
    assert problems == []


def violations(page: Any) -> list[str]:
    """Return the page's policy violations. Uses a call with a timeout, because a hanging page does not answer."""
    found = page.wait_for_function("() => window.__violations", timeout=TIMEOUT)
    return list(found.json_value())


def log_in(page: Any, role: str) -> None:
    make.user(role)
    page.goto("/admin/login/?next=/admin/")
    page.fill("#id_username", f"{role}@example.com")
    page.fill("#id_password", make.PASSWORD)
    page.press("#id_password", "Enter")
    page.wait_for_url("**/admin/")


def ready_for_agents(page: Any) -> None:
    """Wait until links to agents open the dialog; before, they lead to their pages, as without scripts."""
    page.wait_for_selector("[data-agent-chips][data-ready]", state="attached")
