"""Usability problems found in daily use of the admin, as regression tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from content.models import Layer, Post
from content.posts.variations import create_variation
from tests import make
from tests.browser.test_editor import opened
from tests.site.test_page_queries import with_modules
from tests.site.test_pages import page as site_page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_lists_show_the_heros_picture_without_a_featured_one(open_page: Any) -> None:
    post, picture = make.post(), make.image("kettle.png", alt_text="A kettle")
    hero, stored = make.module_id(post, "hero"), Path(picture.file.name).stem
    make.changed_module(post, hero, props={"imageId": str(picture.pk)}, by=make.actor("admin"))
    with_modules(site_page("News"), [("blog-list", {})])

    visitor = open_page(None)
    visitor.goto("/news")
    assert stored in visitor.locator("main article img").first.get_attribute("src")
    editor = open_page("editor")
    editor.goto("/admin/content/post/")
    row = editor.locator("tr", has_text=post.title)
    assert stored in row.locator("img").first.get_attribute("src")


def test_a_schedule_and_an_unpublished_post_are_seen_in_header_and_list(open_page: Any) -> None:
    post = make.post(status="draft")
    page = open_page("editor")
    opened(page, post)
    badge = page.locator(".editor-badge")
    expect(badge).to_have_text("Draft", use_inner_text=True)

    page.locator(".editor-actions [data-menu] > summary").click()
    page.locator("[data-dialog=schedule]:visible").first.click()
    page.fill("#schedule-at", "2099-05-03T09:00")
    page.locator("dialog button[value=schedule]").click()
    page.locator(".editor-badge", has_text="Scheduled for 2099-05-03 09:00").wait_for()
    page.goto("/admin/content/post/")
    expect(page.locator("tr", has_text=post.title)).to_contain_text(
        "Scheduled", use_inner_text=True
    )

    opened(page, post)
    page.locator(".editor-actions button[value=publish]:visible").click()
    page.locator(".editor-badge", has_text="Published").wait_for()
    page.locator(".editor-actions [data-menu] > summary").click()
    page.locator("button[value=unpublish]").click()
    page.locator(".editor-badge", has_text="Unpublished").wait_for()
    page.goto("/admin/content/post/")
    expect(page.locator("tr", has_text=post.title)).to_contain_text(
        "Unpublished", use_inner_text=True
    )


def test_revisions_name_who_made_them_and_show_what_each_changed(open_page: Any) -> None:
    post = make.post()
    make.edited(post, {"title": "A second title"})
    make.edited(post, {"title": "A third title"})
    page = open_page("admin")
    page.goto(f"/admin/content/post/{post.pk}/revisions/")

    rows = page.locator("tbody tr", has=page.locator("input"))
    expect(rows).to_have_count(3)
    assert ["editor" in one for one in rows.all_inner_texts()] == [True, True, False]
    expect(rows.last).to_contain_text("admin", use_inner_text=True)
    expect(rows.first).to_contain_text("Title", use_inner_text=True)
    rows.nth(1).get_by_role("link", name="Show changes").click()
    page.locator("ins", has_text="second").first.wait_for()
    expect(page.locator("ins, del", has_text="third")).to_have_count(0)


def test_what_was_deleted_is_found_in_the_menu_and_restored(open_page: Any) -> None:
    post = make.post(status="draft")
    page = open_page("editor")
    opened(page, post)
    page.locator(".editor-actions [data-menu] > summary").click()
    page.get_by_role("link", name="Move to trash").click()
    page.get_by_role("button", name="Move to trash").click()

    page.locator("[data-nav-list=more] summary").click()
    page.locator("nav").get_by_role("link", name="Trash").click()
    page.get_by_role("button", name=f"Restore {post.title}").click()
    page.locator("[data-toasts], .notice, .messages", has_text="restored").first.wait_for()
    assert Post.objects.get(pk=post.pk).deleted_at is None


def test_an_entry_far_down_in_the_menu_is_seen_on_its_page(open_page: Any) -> None:
    page = open_page("editor")
    page.set_viewport_size({"width": 1440, "height": 700})
    page.goto("/admin/proofroom_snippets/snippet/")

    lists = page.locator(".nav-lists").bounding_box()
    entry = page.locator(".nav-lists [aria-current]").bounding_box()
    assert entry["y"] + entry["height"] <= lists["y"] + lists["height"]


def test_an_experiment_without_a_goal_says_so_before_it_starts(open_page: Any) -> None:
    post = make.post()
    made = create_variation(post_id=post.pk, variation="B", actor=make.actor(), weight=30)
    page = open_page("editor")
    start = f"/admin/content/post/{post.pk}/variations/?ask=start&variation={made.pk}"
    page.goto(start)
    expect(page.locator("main")).to_contain_text(
        "Versions A, B have no goal that a visitor can reach", use_inner_text=True
    )

    for one in (post, made):
        with_modules(one, [("callout", {"title": "Buy", "ctaLabel": "Buy", "ctaUrl": "/buy"})])
    page.goto(start)
    expect(page.locator("main")).not_to_contain_text("no goal", use_inner_text=True)


def test_white_space_that_changed_is_seen_in_the_difference(open_page: Any) -> None:
    post = make.post("Filter coffee")
    make.staged(post, {"title": "Filter  coffee"}, layer=Layer.REVIEW)
    page = open_page("admin")
    page.goto(f"/admin/content/post/{post.pk}/review/")

    expect(page.locator("ins").first).to_contain_text("␣", use_inner_text=True)
