"""Comments beside the form of a post in a browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from content.models import Post
from proofroom_apps.comments.models import Comment
from tests import make
from tests.browser.test_looks import serious_in_any_light
from tests.comments.talk import say

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def opened(page: Any, post: Post) -> None:
    page.goto(f"/admin/content/post/{post.pk}/change/")
    page.wait_for_selector("[data-edit][data-ready]")


def test_selected_words_become_the_passage_of_a_comment(open_page: Any) -> None:
    post = make.post("How to brew filter coffee", excerpt="Grind the beans and pour the water.")
    page = open_page(width=1440)
    opened(page, post)

    # The event comes later than the call returns, and to the page's listener before this one.
    page.locator("#f-post-excerpt").evaluate(
        """field => new Promise((resolve) => {
            field.focus();
            document.addEventListener("selectionchange", resolve, { once: true });
            field.setSelectionRange(6, 15);
        })"""
    )
    page.get_by_role("tab", name="Comments").click()
    expect(page.locator("[data-quote-shown]")).to_have_text("the beans")
    expect(page.locator("#comment-path")).to_have_value("post.excerpt")
    page.fill("#comment-body", "Which ones?")
    page.get_by_role("button", name="Add comment").click()

    expect(page.locator("[data-thread] .comment-body")).to_have_text("Which ones?")
    expect(page.locator("[data-field='post.excerpt'] [data-comment-mark]")).to_have_text("1")
    assert Comment.objects.get().quote == "the beans"
    assert serious_in_any_light(page) == []
    thread = page.locator("[data-thread]")
    thread.locator("summary", has_text="Reply").click()
    thread.locator("textarea").fill("The light ones")
    thread.get_by_role("button", name="Add reply").click()
    expect(page.locator(".comment-replies .comment-body")).to_have_text("The light ones")
    page.locator("[data-thread]").get_by_role("button", name="Resolve").click()
    expect(page.locator("[data-thread]")).to_have_count(0)
    expect(page.locator("[data-comment-mark]")).to_have_count(0)


def test_a_list_that_comes_late_leaves_what_is_typed(open_page: Any) -> None:
    page = open_page(width=1440)
    opened(page, make.post())
    box, tab = page.locator("[data-comments]"), page.get_by_role("tab", name="Comments")
    tab.click()
    page.fill("#comment-body", "")
    page.get_by_role("tab", name="Settings").click()
    held: list[Any] = []
    page.route("**/comments/**", lambda route: held.append(route))

    with page.expect_request("**/comments/**"):
        tab.click()
    page.fill("#comment-body", "Which ones?")
    for route in held:
        route.continue_()
    page.unroute("**/comments/**")

    expect(box).not_to_have_attribute("aria-busy", "true")
    expect(page.locator("#comment-body")).to_have_value("Which ones?")
    page.get_by_role("button", name="Add comment").click()
    expect(page.locator("[data-thread] .comment-body")).to_have_text("Which ones?")


def test_marks_of_passages_move_with_the_text_and_open_their_threads(open_page: Any) -> None:
    post = make.post(markdown="Rinse the filter. Pour the water.\n\nThen pour the water again.")
    path = f"modules.{make.module_id(post, 'prose')}.props.content"
    hostile = "<img src=x onerror=alert(1)>"
    said = say(post, hostile, path=path, passage={"quote": "pour the water", "suffix": "again."})
    page = open_page(width=1440)
    opened(page, post)
    page.locator(f"[data-field='{path}']").scroll_into_view_if_needed()
    editor = page.locator(f"[data-field='{path}'] .rt-page")
    mark = editor.locator("mark.rt-passage")
    expect(mark).to_have_text("pour the water")
    assert mark.get_attribute("title") == hostile

    # Typing inside the passage, and before it.
    mark.click()
    expect(page.locator(f"#comment-{said['id']}")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    editor.click(position={"x": 4, "y": 12})
    page.keyboard.press("Control+Home")
    page.keyboard.type("First: ")
    expect(mark).to_have_text("pour the water")
    editor.evaluate(
        "editor => { getSelection().collapse(editor.querySelector('mark').firstChild, 4); }"
    )
    page.keyboard.type(" all")
    expect(mark).to_have_text("pour all the water")
    sent = page.locator(f"[data-field='{path}'] input[type=hidden]").last
    assert "passage" not in (sent.input_value() or "")
    page.keyboard.press("Control+Alt+m")
    expect(page.locator(f"#comment-{said['id']}")).to_be_focused()

    # A selection becomes the passage of a new comment, by the button and by the keys.
    editor.evaluate(
        """editor => {
            const words = editor.querySelectorAll("p")[0].firstChild;
            editor.focus();
            getSelection().setBaseAndExtent(words, 13, words, 23);
        }"""
    )
    page.locator(f"[data-field='{path}'] [data-do=comment]").click()
    expect(page.locator("#comment-body")).to_be_focused()
    expect(page.locator("[data-quote-shown]")).to_have_text("the filter")
    expect(page.locator("#comment-path")).to_have_value(path)
    page.keyboard.type("Which one?")
    page.get_by_role("button", name="Add comment").click()
    expect(mark).to_have_text(["the filter", "pour all the water"])
    head = page.locator(f"#m-{path.split('.')[1]} > details > summary [data-comment-mark]")
    expect(head).to_have_text("2 open comments")
    assert Comment.objects.get(body="Which one?").suffix.startswith(". Pour the water.")
    assert serious_in_any_light(page) == []


def test_a_phone_has_no_sideways_scroll(open_page: Any) -> None:
    post = make.post()
    page = open_page(width=390)
    page.goto(f"/admin/content/post/{post.pk}/comments/")
    page.fill("#comment-body", "x" * 200)
    page.get_by_role("button", name="Add comment").click()

    expect(page.locator("[data-thread] .comment-body")).to_have_text("x" * 200)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert serious_in_any_light(page) == []


def test_the_page_works_without_scripts(open_page: Any) -> None:
    post = make.post()
    page = open_page(scripts=False)
    page.goto(f"/admin/content/post/{post.pk}/comments/")

    page.fill("#comment-body", "Shorter")
    page.get_by_role("button", name="Add comment").click()

    expect(page.locator("[data-thread] .comment-body")).to_have_text("Shorter")


def test_names_are_completed_by_keys_and_by_a_tap(open_page: Any) -> None:
    post = make.post()
    for name in ("translator", "admin"):
        make.user(name)
    page = open_page(width=390)
    page.goto(f"/admin/content/post/{post.pk}/comments/")
    box = page.locator("#comment-body")

    box.press_sequentially("Look, @tra")
    expect(page.get_by_role("combobox", name="New comment")).to_have_attribute(
        "aria-activedescendant", "comment-body-mentions-0"
    )
    assert serious_in_any_light(page) == []
    box.press("Enter")
    expect(box).to_have_value("Look, @translator ")
    assert box.get_attribute("role") is None

    box.press_sequentially("and @agent:proof")
    page.get_by_role("option", name="Proofreader").click()
    expect(box).to_have_value("Look, @translator and @agent:proofreader ")
    box.press_sequentially("@adm")
    page.get_by_role("option", name="@admin").wait_for()
    box.press("Escape")
    expect(page.get_by_role("listbox")).to_have_count(0)
    assert box.input_value().endswith("@adm")
