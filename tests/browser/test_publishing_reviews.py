"""Approve and publish in the review, and hits of find and replace, in a browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from content.models import Layer, Post
from proofroom.core.models import Event
from tests import make
from tests.browser.scene import coffee
from tests.browser.test_looks import serious_in_any_light

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_review_says_what_goes_live_before_the_click(open_page: Any) -> None:
    post = coffee()
    make.staged(post, {"metaDescription": "A colleague's"}, layer=Layer.REVIEW)
    page = open_page()
    page.goto(f"/admin/content/post/{post.pk}/review/?layer=ai-review")
    publish, held = "[data-publish-button]", "[data-held-sentence]"
    expect(page.locator(publish).first).to_have_text(
        "Approve and publish all…", use_inner_text=True
    )
    flagged = page.locator("[data-flagged]").count() > 0
    expect(page.locator(f"{publish}.default")).to_have_count(0 if flagged else 1)

    page.check('[name="post.metaDescription"][value=accept]', force=True)
    expect(page.locator(held).first).to_contain_text(
        "another change to the same field is waiting in Review", use_inner_text=True
    )
    expect(page.locator(publish).first).to_be_disabled()
    page.check('[name="post.metaDescription"][value=leave]', force=True)
    page.check('[name="post.title"][value=accept]', force=True)

    page.check('[name="post.metaDescription"][value=reject]', force=True)
    expect(page.locator(publish).first).to_have_text("Publish 1, reject 1", use_inner_text=True)
    page.check('[name="post.metaDescription"][value=leave]', force=True)

    said = page.inner_text("[data-goes-live]")
    assert f"1 change goes live at {post.path}." in said
    assert "1 change in Review stays there." in said
    page.click("[data-names] summary")
    expect(page.locator("[data-names] ul").first).to_have_text("Title", use_inner_text=True)
    expect(page.locator(publish).first).to_have_text("Approve and publish 1", use_inner_text=True)
    page.click(publish)
    page.wait_for_selector("text=1 change approved and live.")
    assert Post.objects.get(pk=post.pk).title == "How to brew filter coffee: a simple guide"


def test_hits_are_chosen_by_post_and_counted_on_the_buttons(open_page: Any) -> None:
    make.post("Tea for two", excerpt="tea and more tea")
    other = make.post("Coffee", slug="coffee", excerpt="or tea")
    page = open_page()
    page.goto("/admin/content/replacement/add/")
    page.fill("[name=find]", "tea")
    page.fill("[name=replace]", "cocoa")
    page.click(".replace-search button[type=submit]")
    button = "[name=action][value=review]"
    assert page.inner_text(button).split()[-1] == "(3)"

    page.locator("[data-toggle-group]:visible").click()

    assert page.inner_text(button).split()[-1] == "(1)"
    page.click(button)
    page.wait_for_selector("text=Sent 1 text to Review. Nothing is live yet.")
    assert make.layers(other).review.document.fields["excerpt"] == "or cocoa"
    page.click("[name=action][value=undo]")
    page.wait_for_selector("text=Restored 1 place")
    assert not make.layers(other).review.exists


def address(post: Any, more: str = "") -> str:
    return f"/admin/content/post/{post.pk}/review/?layer=ai-review{more}"


def test_keyboard_only_edit_reload_and_concurrent_change(
    open_page: Any,
) -> None:
    post = coffee()
    page = open_page()
    page.goto(address(post))
    press = page.keyboard.press

    press("j")
    press("a")  # the title; the key leads on to the excerpt
    press("l")  # and on to the description
    press("x")
    assert page.evaluate("() => document.activeElement.name") == "note.post.metaDescription"
    page.keyboard.type("Says nothing")
    press("Escape")
    described = page.evaluate("() => document.activeElement.dataset.path")
    assert described == "post.metaDescription"
    press("x")
    press("Enter")
    assert page.evaluate("() => document.activeElement.dataset.path") not in ("", None, described)
    page.locator('[data-path="post.title"]').focus()
    press("e")
    page.wait_for_selector("[data-card-edit] input[name='post.title']:focus")
    press("Control+A")
    page.keyboard.type("Brewed by hand")
    # The URL first gets a fragment, which counts as a navigation; then the page reloads.
    with page.expect_event("load"):
        press("Enter")
    title = page.locator('[data-path="post.title"]')
    expect(title).to_contain_text("Brewed by hand", use_inner_text=True)
    expect(title).to_contain_text("edited by editor", use_inner_text=True)
    # The user's own edit changed it: that decision is requested again, the other one is unchanged.
    expect(page.locator('[data-for="post.title"]')).to_have_attribute("data-state", "leave")
    expect(page.locator('[data-for="post.metaDescription"]')).to_have_attribute(
        "data-state", "reject"
    )
    assert page.input_value('[name="note.post.metaDescription"]') == "Says nothing"

    title.focus()
    press("a")
    make.staged(post, {"title": "By another agent"})
    press("Control+Enter")
    page.wait_for_selector("#problem")
    expect(page.locator("#problem").first).to_contain_text(
        "Check 1 of your 2 decisions again", use_inner_text=True
    )
    assert not make.layers(post).review.exists

    title.focus()
    press("a")
    press("Control+Enter")
    page.wait_for_selector(".messagelist .success")
    assert make.layers(post).review.document.fields["title"] == "By another agent"
    assert Event.objects.get(name="post.ai-review.reject").payload["note"] == "Says nothing"


def test_without_scripts_safe_ones_are_marked_words_edited_and_a_rejection_has_its_note(
    open_page: Any,
) -> None:
    post = coffee()
    page = open_page(scripts=False)
    page.goto(address(post))

    page.click("text=Accept the")
    expect(page.locator("#content").first).to_contain_text(
        "Nothing has been saved yet", use_inner_text=True
    )
    expect(page.locator('input[name="post.excerpt"][value=accept]').first).to_be_checked()
    expect(page.locator('input[name="post.metaDescription"][value=leave]').first).to_be_checked()
    page.click("text=Undo")
    expect(page.locator("input[value=accept]:checked")).to_have_count(0)
    page.check('input[name="post.metaDescription"][value=reject]')
    page.fill('[name="note.post.metaDescription"]', "Too many numbers")
    page.click("[data-reject-button]")

    assert Event.objects.get(name="post.ai-review.reject").payload["note"] == "Too many numbers"
    page.click('[data-path="post.title"] [data-edit-link]')
    page.fill("[name='post.title']", "Coffee, slowly")
    page.click("text=Save edit")
    layers = make.layers(post)
    assert layers.ai_review.document.fields["title"] == "Coffee, slowly"
    assert layers.ai_review.marks["post.title"].edited_by == "editor"
    expect(page.locator('[data-path="post.title"]')).to_be_visible()


def test_on_a_phone_it_fits_and_the_page_is_shown_before_and_after(open_page: Any) -> None:
    post = coffee()
    page = open_page(width=360, height=740)
    page.goto(address(post))

    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
    assert page.locator("[data-rail]").get_attribute("open") is None
    page.click("[data-rail] summary")
    page.click('[data-for="post.title"]')
    page.keyboard.press("a")
    page.keyboard.press("]")
    frame = page.frame_locator("[data-pane-frame] iframe")
    frame.locator("body >> text=a simple guide").first.wait_for()
    page.keyboard.press("[")
    frame.locator("text=Preview: Review").wait_for()
    expect(frame.locator("body >> text=a simple guide")).to_have_count(0)
    page.goto(address(post, "&view=split"))
    expect(page.locator('input[name="post.title"][value=accept]').first).to_be_checked()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
    assert serious_in_any_light(page) == []


def test_a_run_that_ended_early_a_locked_module_and_hostile_words_are_shown_as_they_are(
    open_page: Any,
) -> None:
    post = coffee()
    run = post.agent_runs.get()
    run.status, run.error = "failed", "The provider answered 529 <b>busy</b>"
    run.save()
    words = '<img src=x onerror="alert(1)"> ' + "مرحبا بالعالم " * 60 + "x" * 900
    make.staged(post, {"excerpt": words})
    page = open_page()
    page.goto(address(post))

    expect(page.locator(".run-ended").first).to_contain_text(
        "The provider answered 529 <b>busy</b>", use_inner_text=True
    )
    assert page.locator(".group .badge-locked").count() >= 1
    expect(page.locator("[data-change] img[src=x]")).to_have_count(0)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 1280
    make.user("translator")
    stranger = open_page("translator")
    stranger.goto(f"/admin/content/post/{post.pk}/review/?layer=ai-review")
    expect(stranger.locator(".review-bar").first).to_contain_text(
        "but not decide on them", use_inner_text=True
    )
    expect(stranger.locator("[data-edit-link], [data-accept-safe], .decide")).to_have_count(0)
    assert make.layers(post).view(Layer.AI_REVIEW).exists
