"""Previews in the admin, notes on the site's pages, and view counts, in a browser."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from analytics.models import AnalyticsEvent
from content.models import Layer, Post
from content.store import document_edits
from proofroom_apps.comments.models import Comment
from proofroom_apps.feedback.models import Feedback
from tests import make
from tests.browser.conftest import OpenPage
from tests.browser.test_looks import serious
from tests.comments.talk import say

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# The checker would copy styles into the page, which the policy forbids: preload=False.
_HIDE = """() => {
  Object.defineProperty(document, "hidden", { get: () => true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def until(holds: Callable[[], bool]) -> None:
    """Wait for a condition, because the browser updates its layout asynchronously."""
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def rearranged() -> Post:
    """Create a post with a module added, removed, changed and moved in Review."""
    post = make.post()
    shared = make.global_module()
    gone, moves = make.placed(post, shared), make.placed(post, shared)
    prose = make.module_id(post, "prose")

    def edit(document: Any) -> Any:
        document = document_edits.remove_module(document, gone)
        document = document_edits.update_module(document, prose, content_markdown="Other words.")
        rest = [id_ for id_ in document.order if id_ != moves]
        document = document_edits.reorder_modules(document, [rest[0], moves, *rest[1:]])
        return document_edits.add_module(document, type="callout", props={"title": "New"})[0]

    make.staged(post, layer=Layer.REVIEW, edit=edit)
    return post


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_changed_modules_are_outlined_in_the_page_itself(open_page: OpenPage, dark: bool) -> None:
    post = rearranged()
    page = open_page("editor", dark=dark, width=390 if dark else 1280)

    page.goto(f"/admin/content/post/{post.pk}/preview/")
    frame = page.frame_locator("iframe")
    frame.get_by_role("group", name="Added").wait_for()
    labels = frame.locator("[data-change]").evaluate_all(
        "found => found.map((one) => one.dataset.changeLabel)"
    )
    barriers = serious(page)
    removed = page.locator(".preview-changes del").all_text_contents()
    wide = page.evaluate("() => document.documentElement.scrollWidth")
    page.get_by_role("link", name="Changes only").click()
    page.get_by_role("link", name="Phone, 390").click()
    frame.get_by_role("group", name="Added").wait_for()

    assert labels == ["Moved", "Changed", "Added"]
    assert removed == ["Callout 3"]
    assert barriers == []
    assert wide <= (390 if dark else 1280)
    expect(frame.locator(".module")).to_have_count(3)
    assert frame.locator("html").evaluate("() => innerWidth") == 390


def test_a_preview_needs_no_script(open_page: OpenPage) -> None:
    post = rearranged()
    page = open_page("translator", scripts=False)

    page.goto(f"/admin/content/post/{post.pk}/preview/")
    page.get_by_role("link", name="Live", exact=True).last.click()

    frame = page.frame_locator("iframe")
    frame.get_by_text("Grind the beans.").wait_for()
    expect(frame.locator("[data-change]")).to_have_count(0)
    expect(page.get_by_role("button", name="Create link")).to_have_count(0)


def test_a_note_is_set_and_resolved_by_keys_alone(open_page: OpenPage) -> None:
    post = make.post()
    page = open_page("editor")
    page.goto(post.path)
    toggle = page.get_by_role("button", name="Comments (0)")
    toggle.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")  # on "Add a note", where the focus went
    aim = page.get_by_role("application")
    aim.press("Escape")
    left = page.get_by_role("button", name="Add a note").evaluate("one => one.matches(':focus')")
    page.keyboard.press("Enter")
    for _ in range(20):
        page.keyboard.press("ArrowDown")
        if "Grind the beans." in (page.get_by_role("status").first.text_content() or ""):
            break
    page.keyboard.press("Enter")
    page.get_by_role("textbox", name="Note").wait_for()
    barriers = serious(page, preload=False)
    page.keyboard.type("Which beans?")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    pin = page.get_by_role("button", name="Note 1: Which beans?")
    pin.wait_for()
    note = Feedback.objects.get()
    barriers += serious(page, preload=False)
    page.goto(f"/admin/proofroom_feedback/feedback/{note.pk}/change/")
    page.get_by_role("link", name="Show on page").click()
    page.locator("[data-pin]:focus").wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Resolve").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Reopen").wait_for()

    assert left
    assert barriers == []
    assert (note.post_id, note.category, note.content) == (post.pk, "comment", "Which beans?")
    expect(page.locator(note.element_selector)).to_have_text("Grind the beans.")
    assert Feedback.objects.get().status == "resolved"
    expect(pin).to_have_count(0)
    page.keyboard.press("Escape")
    expect(toggle).to_have_attribute("aria-expanded", "false")
    # The link beside it leads to the module that is being read.
    page.set_viewport_size({"width": 1280, "height": 200})
    page.locator(f"#module-{make.module_id(post, 'prose')}").evaluate("one => one.scrollIntoView()")
    page.get_by_role("link", name="Edit this page").click()
    page.locator(f"#m-{make.module_id(post, 'prose')} .module-form[open]").wait_for()
    assert page.url.endswith(f"/{post.pk}/change/#m-{make.module_id(post, 'prose')}")


def test_comments_are_read_and_written_on_the_page(open_page: OpenPage) -> None:
    post = make.post()
    path = f"modules.{make.module_id(post, 'hero')}"
    hostile = "<img src=x onerror=alert(1)>"
    said = say(post, hostile, path=path, assignee="editor")
    say(post, "Yes <b>now</b>", by="translator", parentId=said["id"])
    page = open_page("editor", width=390)
    page.goto(post.path)
    page.get_by_role("button", name="Comments (1)").click()
    thread = page.locator(f"[data-thread='{said['id']}']")
    expect(thread.locator(".text").first).to_have_text(hostile)
    expect(thread.locator(".reply")).to_have_text("translator: Yes <b>now</b>")
    expect(thread.locator(".quiet")).to_contain_text("assigned to editor")
    thread.get_by_role("button", name="Show on the page").click()
    module = page.locator(f"[data-post-module-id='{path.removeprefix('modules.')}']")
    expect(module).to_be_in_viewport()
    barriers = serious(page, preload=False)

    page.get_by_role("button", name="Write a comment").click()
    here = page.get_by_text("Grind the beans.", exact=True)
    here.scroll_into_view_if_needed()
    box = here.bounding_box()
    page.mouse.click(box["x"] + 12, box["y"] + 8)
    page.get_by_role("textbox", name="Comment").fill("@translator @nobody-here finer")
    barriers += serious(page, preload=False)
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Comments (2)").wait_for()
    expect(page.get_by_role("status").first).to_contain_text("@nobody-here: Nobody here")
    thread.get_by_role("button", name="Resolve").click()
    page.get_by_role("button", name="Comments (1)").wait_for()

    assert barriers == []
    written = Comment.objects.get(body__startswith="@translator")
    assert written.path == f"modules.{make.module_id(post, 'prose')}"
    assert Comment.objects.get(pk=said["id"]).status == "resolved"
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


def test_a_note_stays_at_its_element_on_a_phone_and_speaks_german(open_page: OpenPage) -> None:
    post = make.post(markdown="One paragraph of words. " * 60 + "\n\nHere.")
    page = open_page("editor", dark=True)
    page.add_init_script("Object.defineProperty(navigator, 'language', {value: 'de-DE'})")
    page.goto(post.path)
    page.get_by_role("button", name="Kommentare (0)").click()
    page.get_by_role("button", name="Notiz setzen").click()
    here = page.get_by_text("Here.", exact=True)
    here.scroll_into_view_if_needed()
    box = here.bounding_box()
    page.mouse.click(box["x"] + 12, box["y"] + 8)
    page.get_by_label("Art").select_option("bug")
    page.get_by_role("textbox", name="Notiz").fill("Das fehlt.")
    barriers = serious(page, preload=False)
    page.get_by_role("button", name="Speichern").click()
    pin = page.get_by_role("button", name="Notiz 1: Das fehlt.")
    pin.wait_for()

    def is_near() -> bool:
        place, target = pin.bounding_box(), here.bounding_box()
        if (
            not place or not target
        ):  # Pins are drawn again when the page is laid out: this one is gone just then.
            return False
        y = place["y"] + place["height"]
        return bool(target["y"] - 1 <= y <= target["y"] + target["height"] + 1)

    until(is_near)
    before = here.bounding_box()["y"]
    page.set_viewport_size({"width": 390, "height": 800})
    until(lambda: here.bounding_box()["y"] > before + 100)
    until(is_near)
    assert Feedback.objects.get().category == "bug"
    assert barriers == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


def test_a_visitor_loads_nothing_of_it_and_is_counted(open_page: OpenPage) -> None:
    post = make.post()
    page = open_page(None)
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url.rpartition("/")[2]))
    with page.expect_response("**/api/public/analytics/track") as seen:
        page.goto(post.path)
    page.get_by_text("Grind the beans.").click()
    with page.expect_response("**/api/public/analytics/track") as clicked:
        page.evaluate(_HIDE)

    assert [seen.value.status, clicked.value.status] == [200, 200]
    view, click = AnalyticsEvent.objects.order_by("id")
    assert (view.event_type, view.post_id, view.viewport_width) == ("view", post.pk, 1280)
    assert view.metadata == {"path": post.path, "locale": "en", "version": post.version}
    prose = make.module_id(post, "prose")
    assert (click.event_type, click.metadata["postModuleId"]) == ("click", prose)
    assert click.metadata["selector"].startswith(f"#module-{prose} > ")
    assert click.x is not None
    assert click.y is not None
    assert {name for name in loaded if name.endswith(".js")} == {"staff.js", "track.js"}
    assert page.context.cookies() == []


def test_staff_and_refusing_visitors_send_nothing(open_page: OpenPage) -> None:
    post = make.post()
    for role, script in (("editor", ""), (None, "globalPrivacyControl"), (None, "doNotTrack")):
        page = open_page(role)
        sent: list[str] = []
        page.on("request", lambda request, sent=sent: sent.append(request.url))
        if script:
            value = "'1'" if script == "doNotTrack" else "true"
            page.add_init_script(
                f"Object.defineProperty(Navigator.prototype, '{script}', {{get: () => {value}}})"
            )
        page.goto(post.path, wait_until="networkidle")
        page.get_by_text("Grind the beans.").click()
        page.goto("about:blank")

        assert not [url for url in sent if "track" in url and not url.endswith(".js")], (
            role,
            script,
        )
    assert AnalyticsEvent.objects.count() == 0
