"""The number of the editor's requests: each is a round trip, which takes long for distant users."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests import make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MAX_REQUESTS: Final = 54
"""Maximum for a page with pictures; the admin itself needs less."""


@pytest.fixture
def sent(open_page: Any) -> tuple[Any, list[str]]:
    page = open_page("admin")
    # Remaining requests of the login page, such as its icon, do not count.
    page.wait_for_load_state("networkidle")
    page.goto("about:blank")
    paths: list[str] = []
    page.on("request", lambda request: paths.append(request.url))
    return page, paths


def test_the_editor_sends_few_requests_with_a_rich_text_open_and_something_typed(
    sent: tuple[Any, list[str]],
) -> None:
    page, paths = sent
    post = make.post(markdown="Good coffee takes time.")
    prose = make.module_id(post, "prose")

    with page.expect_response(lambda answer: "/autosave/" in answer.url):
        page.goto(f"/admin/content/post/{post.pk}/change/")
        page.wait_for_selector("[data-edit][data-ready]")
        page.locator(f"#m-{prose} > details > summary").scroll_into_view_if_needed()
        page.locator(f"#m-{prose} [contenteditable=true]").click()
        page.keyboard.type("It does.")

    assert len(paths) <= MAX_REQUESTS - 3, "\n".join(paths)
