"""Responsiveness in a browser on a slow machine: typing in a long post, and layout shifts during loading.

    python -m benchmarks.felt_speed http://127.0.0.1:8000

The site must be running, such as the demo, with the same DATA_DIR and variables as this script. The script creates a
post with 100 modules, works as the first admin, and deletes the post. Chromium is throttled to a quarter of its
speed. All values are from the browser's performance entries: the first input delay, the time from a key to the next
paint (worst and median), and layout shifts.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING, Final
from uuid import uuid4

if TYPE_CHECKING:
    from playwright.sync_api import Page

SLOWER: Final = 4
MODULES: Final = 100
WORDS: Final = "Water just off the boil, and patience."
WATCH: Final = """
window.felt = { first: null, keys: [], shift: 0, shifted: [], tasks: [] };
const watch = (type, take, more = {}) =>
  new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true, ...more });
watch("first-input", (one) => { felt.first = one.processingStart - one.startTime; });
const keys = ["keydown", "input"];
watch("event", (one) => { if (keys.includes(one.name)) felt.keys.push(one.duration); }, { durationThreshold: 16 });
watch("longtask", (one) => felt.tasks.push(Math.round(one.duration)));
watch("layout-shift", (one) => {
  if (one.hadRecentInput) return;
  felt.shift += one.value;
  felt.shifted.push(...one.sources.map(({ node }) => node?.className || node?.nodeName));
});
"""


@contextmanager
def _post_and_login() -> Iterator[tuple[str, str]]:
    """Yield the id of a new post with 100 modules, and the session cookie of an admin."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cms_project.settings")
    # Playwright runs an event loop in this thread, in which Django refuses queries.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    django.setup()
    from django.conf import settings
    from django.test import Client

    from content.document.document import PostDocument
    from content.models import Post
    from content.posts.create import create_post
    from content.posts.edit import edit_post
    from content.store import document_edits
    from proofroom.accounts.models import User
    from proofroom.core.actor import Actor

    user = User.objects.filter(role="admin", is_active=True).order_by("pk").first()
    assert user is not None, "The site needs an admin."
    actor = Actor(user=user, via="admin")
    title = f"Felt speed {uuid4().hex[:6]}"
    post = create_post(
        actor=actor, type="page", locale=settings.CMS_ENV.default_locale, fields={"title": title}
    )

    def fill(document: PostDocument) -> PostDocument:
        for number in range(MODULES):
            document, _id = document_edits.add_module(
                document, type="callout", props={"title": f"Callout {number}"}
            )
        return document

    edit_post(post_id=post.pk, actor=actor, edit=fill)
    client = Client()
    client.force_login(user)
    try:
        yield str(post.pk), client.cookies[settings.SESSION_COOKIE_NAME].value
    finally:
        client.logout()
        Post.objects.filter(pk=post.pk).delete()


def _measure_typing(page: Page, place: str) -> str:
    """Type into a field, and return the timings."""
    page.evaluate("() => { felt.keys = []; felt.tasks = []; }")
    page.locator(place).first.click()
    page.keyboard.type(WORDS, delay=60)
    page.wait_for_timeout(600)
    found = page.evaluate("() => felt")
    keys = found["keys"] or [0]
    first = "–" if found["first"] is None else f"{found['first']:.0f}"
    paint = f"worst {max(keys):.0f}, median {median(keys):.0f} ms"
    return f"first input delay {first} ms; key to paint: {paint}; long tasks {found['tasks']}"


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(prog="python -m benchmarks.felt_speed")
    parser.add_argument("address")
    address = parser.parse_args().address.rstrip("/")
    with _post_and_login() as (post_id, session), sync_playwright() as playwright:
        chromium = os.environ.get("CHROMIUM", "") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = browser.new_context(base_url=address, viewport={"width": 1440, "height": 900})
        context.add_cookies([{"name": "sessionid", "value": session, "url": address}])
        context.add_init_script(WATCH)
        page = context.new_page()
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        editor = f"/admin/content/post/{post_id}/change/"
        for name, path, field in (
            ("editor, the title", editor, "#f-post-title"),
            ("editor, a module", editor, ".module-item [data-controls] input[type=text]"),
            (
                "editor, rich text of a module",
                editor,
                ".module-item [contenteditable=true]:visible",
            ),
            ("inbox", "/admin/inbox/", ""),
            ("list of posts", "/admin/content/post/", ""),
            ("page tree", "/admin/content/post/tree/", ""),
            ("media", "/admin/media/asset/", ""),
            ("translations", "/admin/content/translations/", ""),
            ("agent runs", "/admin/agents_app/agentrun/", ""),
            ("roles", "/admin/proofroom_accounts/siterole/access/", ""),
        ):
            page.goto(path)
            page.wait_for_load_state("networkidle")
            shift = page.evaluate("() => [felt.shift, felt.tasks, [...new Set(felt.shifted)]]")
            requests = 1 + page.evaluate("() => performance.getEntriesByType('resource').length")
            print(
                f"{name}: {requests} requests, layout shift {shift[0]:.3f} {shift[2]}, "
                f"long tasks while loading {shift[1]}"
            )
            if "module" in name:
                page.locator(".module-item > details:not([open]) > summary").nth(2).click()
                page.wait_for_selector(field, state="visible")
            if field:
                print(f"  {_measure_typing(page, field)}")
        browser.close()


if __name__ == "__main__":
    main()
