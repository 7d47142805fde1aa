"""A visitor's page, its tracking requests, and the stored events."""

from __future__ import annotations

import json
from typing import Any

from analytics.models import AnalyticsEvent
from content.models import Post
from tests.browser.conftest import OpenPage
from tests.browser.test_previews import until


class Calls:
    """A visitor's page, with the number of views and clicks in each request."""

    def __init__(self, open_page: OpenPage) -> None:
        self._open = open_page
        self.sizes: list[int] = []
        self.bytes: list[int] = []

    def open(
        self,
        post: Post,
        *,
        before: str = "",
        stopped: bool = False,
        referer: str | None = None,
        marks: str = "",
        **look: Any,
    ) -> Any:
        """Open the page. `stopped`: the test controls its clock; `marks`: more attributes of the script."""
        page = self._open(None, **look)
        if marks:
            page.route(f"**{post.path}", lambda route: _marked(route, marks))
        page.on("request", self._note)
        if before:
            page.add_init_script(before)
        if stopped:
            page.clock.install(time=0)
        page.goto(post.path, referer=referer)
        if stopped:
            page.clock.pause_at(3_600)
        self._page = page
        return page

    def rows(self, number: int) -> list[AnalyticsEvent]:
        """Return the stored events, after waiting for that many."""
        until(lambda: self._page.evaluate("1") and AnalyticsEvent.objects.count() >= number)
        found = list(AnalyticsEvent.objects.order_by("id"))
        assert len(found) == number
        return found

    def _note(self, request: Any) -> None:
        if request.url.endswith("/analytics/track"):
            body = request.post_data_buffer or b"[]"
            self.sizes.append(len(json.loads(body)))
            self.bytes.append(len(body))


def _marked(route: Any, marks: str) -> None:
    answer = route.fetch()
    route.fulfill(response=answer, body=answer.text().replace("data-batch", f"{marks} data-batch"))
