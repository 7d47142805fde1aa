"""A real browser against a live server. Tasks run where they are called; no page may break the policy."""

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
_FLAGS = [
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
# Milliseconds until what a test waits for counts as missing.
TIMEOUT = 30_000
OpenPage = Callable[..., Any]
_PROBE = "/health"


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import expect, sync_playwright

    # Playwright's loop runs in the thread of the tests, where Django would see an async context.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        come_back_when_loaded(patch)
        route_at_once(patch)
        expect.set_options(timeout=TIMEOUT)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        yield browser
        browser.close()


def come_back_when_loaded(patch: pytest.MonkeyPatch) -> None:
    """A click or key that leads to another page comes back when that page is loaded.

    Playwright comes back when the answer begins: what a test reads next may still be on its way.
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
    """A page that is open sends its next request to the new route.

    Chromium says that it intercepts before the page knows: what a busy page asks for meanwhile goes to the server,
    and Playwright, which waits to hear from the interception, tells nobody of it.
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
    """`open_page(role=…, dark=…, width=…, scripts=…)`: a page of somebody logged in; nobody without a role.

    With `blocks_handlers` something is pasted that has scripts of its own: the policy blocks them, and newer browsers
    say so.
    At the end no page may have met an error, or anything that the Content-Security-Policy forbids.
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
                # A page that shows a form again with its errors is no failure.
                if said.type == "error"
                and not re.search("status of (409|422)", said.text)
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
    """What the page may not have done. It is asked in a way that ends: a page that hangs answers nothing else."""
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
    """Wait until links to agents open the dialog; until then they lead to their pages, as without scripts."""
    page.wait_for_selector("[data-agent-chips][data-ready]", state="attached")
