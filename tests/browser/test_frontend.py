"""The example frontend, on another origin, in a browser, with a live server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import expect

from analytics.models import AnalyticsEvent
from content.models import Post
from proofroom_apps.menus.services import create_menu
from tests import make
from tests.browser.conftest import OpenPage
from tests.browser.test_previews import until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MARKDOWN = """## Water

Soft water, *never* [boiling](/blog/kettles).

- one
- <b>two</b>
"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@pytest.fixture
def frontend() -> Iterator[str]:
    """Yield the URL of the example, served as static files."""
    handler = partial(_Quiet, directory=str(Path(settings.BASE_DIR, "docs", "frontend")))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def menu_of(post: Post) -> None:
    items = [{"label": "Coffee", "type": "post", "postId": str(post.pk)}]
    create_menu(actor=make.actor(), name="Main", slug="main", locale="en", items=items)


def visitor(open_page: OpenPage) -> Any:
    """Return a page that may load the tracking script, which a production server allows for every origin."""
    page = open_page(None)
    page.route(
        "**/static/cms/track.js",
        lambda route: route.fulfill(
            path=Path(settings.BASE_DIR, "static", "cms", "track.js"),
            headers={"Access-Control-Allow-Origin": "*", "Content-Type": "text/javascript"},
        ),
    )
    return page


def test_it_shows_a_menu_the_list_and_a_post(
    open_page: OpenPage, frontend: str, live_server: Any
) -> None:
    post = make.post(markdown=MARKDOWN, excerpt="Three minutes.")
    make.post("Not yet", slug="not-yet", status="draft")
    menu_of(post)
    page = visitor(open_page)

    page.goto(f"{frontend}?cms={live_server.url}")
    page.get_by_role("heading", name="Blog").wait_for()
    titles = page.locator("main h2").all_text_contents()
    page.get_by_role("navigation").get_by_role("link", name="Coffee").click()
    page.get_by_role("heading", name="How to brew filter coffee", level=1).wait_for()

    assert titles == ["How to brew filter coffee"]
    assert page.title() == "How to brew filter coffee"
    assert page.locator("article h2").all_text_contents() == ["Water"]
    assert page.locator("article li").all_text_contents() == ["one", "<b>two</b>"]
    expect(page.locator("article em")).to_have_text("never")
    assert "path=%2Fblog%2Fkettles" in str(page.locator("article p a").get_attribute("href"))


def test_it_shows_the_pages_of_a_list_that_a_link_leads_to(
    open_page: OpenPage, frontend: str, live_server: Any
) -> None:
    topic = make.term("Coffee")
    menu_of(make.post("Without a topic", slug="without"))
    for number in range(13):
        make.post(f"Cup {number}", slug=f"cup-{number}", taxonomyTermIds=[str(topic.pk)])
    page = visitor(open_page)

    page.goto(f"{frontend}?cms={live_server.url}&path=/blog/topics/coffee")
    page.get_by_role("heading", name="Coffee", level=1).wait_for()
    first = page.locator("main h2").all_text_contents()
    page.get_by_role("link", name="Older").click()
    page.get_by_role("link", name="Newer").wait_for()
    second = page.locator("main h2").all_text_contents()

    assert (len(first), len(second)) == (12, 1)
    assert {*first, *second} == {f"Cup {number}" for number in range(13)}


def test_it_counts_views_and_clicks_of_a_post(
    open_page: OpenPage, frontend: str, live_server: Any
) -> None:
    post = make.post()
    menu_of(post)
    prose = make.module_id(post, "prose")
    page = visitor(open_page)

    page.goto(f"{frontend}?cms={live_server.url}&path={post.path}")
    until(lambda: page.evaluate("1") and AnalyticsEvent.objects.exists())
    page.get_by_text("Grind the beans.").click()
    page.goto("about:blank")
    until(lambda: page.evaluate("1") and AnalyticsEvent.objects.count() == 2)

    view, click = AnalyticsEvent.objects.order_by("id")
    assert (view.event_type, view.post_id, view.metadata) == (
        "view", post.pk, {"path": "/", "locale": "en"},
    )  # fmt: skip
    assert (click.event_type, click.post_id) == ("click", post.pk)
    assert click.metadata["postModuleId"] == prose


def test_it_follows_a_redirect(open_page: OpenPage, frontend: str, live_server: Any) -> None:
    menu_of(make.post())
    make.redirect("/old", "/blog/how-to-brew-filter-coffee")
    page = visitor(open_page)

    page.goto(f"{frontend}?cms={live_server.url}&path=/old")
    page.get_by_role("heading", name="How to brew filter coffee", level=1).wait_for()

    assert "old" not in page.url
