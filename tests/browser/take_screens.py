"""Takes the screenshots of `docs/admin/screens.md`: `python -m pytest tests/browser/take_screens.py -m
browser`.

`ONLY` limits the screens, and `SCREENSHOTS` names another folder, whose images are larger PNG
files.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from agents_app.models import AgentRun
from content.models import Post
from proofroom.webhooks.models import Delivery
from tests import make
from tests.browser import screens_scene
from tests.browser.scene import coffee

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FOLDER = Path(os.environ.get("SCREENSHOTS", "docs/images/screens"))
IS_APART = "SCREENSHOTS" in os.environ
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"height": 860},
    "dark": {"dark": True, "height": 860},
    "narrow": {"width": 360, "height": 740},
}
if IS_APART:
    LOOKS = {
        "light": {"width": 1440},
        "dark": {"width": 1440, "dark": True},
        "narrow": {"width": 390, "height": 844},
        "narrow-dark": {"width": 390, "height": 844, "dark": True},
    }
STRANGER = {"login": "/admin/login/", "password-reset": "/admin/login/forgot/"}
EMPTY = ("home", "inbox", "media", "menus", "terms", "feedback", "forms", "submissions", "runs",
         "webhooks", "deliveries", "redirects", "globals", "tokens", "trash")  # fmt: skip
LONG = ("posts", "inbox", "review-ai", "editor", "terms", "menu", "media", "delivery", "users")
_WIDE, _MOST_BYTES = 1024, 120_000


def taken(page: Any, name: str) -> None:
    """Save the window as a small WebP; screenshots of phones are not reduced."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    if IS_APART:
        page.screenshot(path=FOLDER / f"{name}.png")
        return
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    if picture.width > _WIDE:
        size = (_WIDE, round(picture.height * _WIDE / picture.width))
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    path = FOLDER / f"{name}.webp"
    picture.save(path, quality=62, method=6)
    assert path.stat().st_size < _MOST_BYTES


def _asked(name: str, all_: Iterable[str]) -> list[str]:
    return [one for one in all_ if one in os.environ.get(name, one).split(",")]


def _visit(page: Any, found: dict[str, str], state: str, names: Iterable[str]) -> None:
    for name in _asked("ONLY", names):
        page.goto(found[name])
        page.wait_for_load_state("networkidle")
        taken(page, f"{name}-{state}")


@pytest.mark.parametrize("look", LOOKS)
def test_every_screen_at_work(open_page: Any, look: str) -> None:
    found = screens_scene.filled()
    page = open_page("admin", **LOOKS[look])
    _visit(page, found, look, found)
    _visit(open_page(None, **LOOKS[look]), STRANGER, look, STRANGER)


def test_screens_of_an_empty_site(open_page: Any) -> None:
    found = screens_scene.screens(make.post("First page"))
    _visit(open_page("admin", **LOOKS["light"]), found, "empty", EMPTY)


def test_screens_with_words_that_are_too_long(open_page: Any) -> None:
    found = screens_scene.crowded()
    _visit(open_page("admin", **LOOKS["light"]), found, "long", LONG)
    _visit(open_page("admin", **LOOKS["narrow"]), found, "long-narrow", LONG)


def test_what_failed_and_who_may_not(open_page: Any) -> None:
    found = screens_scene.filled()
    run = AgentRun.objects.filter(status="failed", post__isnull=False).first()
    delivery = Delivery.objects.filter(status="failed").first()
    assert run is not None
    assert delivery is not None
    page = open_page("admin", **LOOKS["light"])
    page.goto(f"/admin/agents_app/agentrun/{run.pk}/change/")
    taken(page, "run-failed")
    page.goto(f"/admin/proofroom_webhooks/delivery/{delivery.pk}/change/")
    taken(page, "delivery-failed")
    page.goto("/admin/content/post/?q=nothing-has-this")
    taken(page, "posts-nothing-found")
    page.goto(found["media"])
    file = {"name": "notes.exe", "mimeType": "application/octet-stream", "buffer": b"MZ no picture"}
    page.set_input_files("[data-upload-input]", [file])
    page.locator(".upload[data-is=failed], .upload[data-is=refused]").first.wait_for()
    taken(page, "media-refused")
    _page_that_is_refused(open_page)


def _page_that_is_refused(open_page: Any) -> None:
    """Answers 200, because the browser reports other statuses as errors of the page."""
    editor = open_page("editor", **LOOKS["light"])
    editor.route(
        "**/proofroom_accounts/user/",
        lambda route: route.fulfill(response=route.fetch(), status=200),
    )
    editor.goto("/admin/proofroom_accounts/user/")
    taken(editor, "no-permission")


def test_what_others_changed_meanwhile(open_page: Any) -> None:
    post = coffee()
    page = open_page("admin", **LOOKS["light"])
    page.goto(f"/admin/content/post/{post.pk}/change/")
    make.edited(post, {"title": "Filter coffee, said by somebody else"})
    page.fill("#f-post-title", "Filter coffee, said by me")
    page.get_by_role("button", name="Publish changes").click()
    page.locator(".choices").wait_for()
    taken(page, "editor-conflict")
    page.goto(f"/admin/content/post/{post.pk}/review/?layer=ai-review")
    page.locator(".flag").first.wait_for()
    taken(page, "review-ai-stale")


def test_other_languages_and_windows(open_page: Any) -> None:
    post = coffee()
    words = {"title": "كيفية تحضير القهوة المفلترة", "excerpt": "عشر دقائق، ولا حاجة إلى آلة."}
    make.edited(Post.objects.get(pk=post.pk), words)
    page = open_page("admin", **LOOKS["light"])
    page.goto(f"/admin/content/post/{post.pk}/change/")
    taken(page, "editor-right-to-left")
    page.set_viewport_size({"width": 3840, "height": 2160})
    page.goto("/admin/")
    taken(page, "home-3840")
    page.goto(f"/admin/content/post/{post.pk}/review/?layer=ai-review")
    taken(page, "review-ai-3840")
    page.set_viewport_size({"width": 1280, "height": 860})
    page.get_by_role("banner").locator("summary[aria-label^=Account]").click()
    page.get_by_role("button", name="Deutsch").click()
    page.wait_for_load_state("networkidle")
    for name, address in (
        ("home", "/admin/"),
        ("editor", f"/admin/content/post/{post.pk}/change/"),
    ):
        page.goto(address)
        taken(page, f"{name}-german")
