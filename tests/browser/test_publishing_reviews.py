"""Approve and publish in the review, and hits of find and replace, in a browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from content.models import Layer, Post
from tests import make
from tests.browser.scene import coffee

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
