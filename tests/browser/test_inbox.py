"""The inbox by keyboard, groups of equal changes, home without scripts, the matrix on a narrow screen."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from content.models import Post, QueuedChange
from proofroom_apps.editorial.inbox import decisions, similar_changes
from tests import make
from tests.browser import inbox_scene
from tests.browser.test_looks import serious_in_any_light

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def wide(page: Any) -> int:
    return int(page.evaluate("() => document.documentElement.scrollWidth"))


def test_the_inbox_is_worked_through_by_keyboard_and_like_changes_after_a_sample(
    open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = inbox_scene.full()
    page = open_page()
    page.goto("/admin/inbox/")
    page.locator("[data-wait]").first.wait_for()
    expect(page.locator("[data-apply]")).to_be_disabled()

    # The riskiest comes first, and must be opened before it is accepted.
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("u")
    page.keyboard.press("a")
    expect(page.locator("[data-apply]")).to_be_disabled()
    expect(page.locator("[data-said]").first).to_contain_text(
        "Open this change", use_inner_text=True
    )
    page.locator("[data-layer=review]:has(input[value=accept])").focus()
    page.keyboard.press("a")
    assert page.inner_text("[data-apply]").split() == ["Apply", "decisions", "(1)"]
    assert page.locator("[data-wait]:focus").get_attribute("id") != ""
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    expect(page.locator(".messagelist").first).to_contain_text(
        "Approved 1 change. It is live.", use_inner_text=True
    )
    assert str(make.layers(posts[2]).live.fields["excerpt"]).endswith("take your time.")

    with page.expect_navigation():
        page.keyboard.press("s")
    expect(page.locator(".like-sample")).to_have_count(3)
    assert serious_in_any_light(page) == []
    page.keyboard.press("j")
    page.keyboard.press("i")
    button = page.locator("button[value=accept]")
    assert " ".join(button.inner_text().split()) == "Submit included (4)"
    with page.expect_navigation():
        button.press("Enter")
    expect(page.locator(".messagelist").first).to_contain_text(
        "Submitted 4 changes to Review.", use_inner_text=True
    )
    assert QueuedChange.objects.filter(path="post.metaDescription", layer="review").count() == 4

    for module in (similar_changes, decisions):
        monkeypatch.setattr(module, "MAX_DECISIONS", 3)
    page.goto("/admin/inbox/all/?layer=review")
    page.check("[name=rest]")
    reject = page.locator("button[value=reject]")
    assert " ".join(reject.inner_text().split()) == "Reject included (4)"
    with page.expect_navigation():
        reject.click()
    expect(page.locator("#batch-progress").first).to_contain_text(
        "4 of 4 done", use_inner_text=True
    )
    assert serious_in_any_light(page) == []
    assert not QueuedChange.objects.filter(layer="review").exists()


def test_home_and_the_matrix_work_without_scripts_and_on_a_narrow_screen(open_page: Any) -> None:
    posts = inbox_scene.full()
    page = open_page("admin", width=360)
    problems = []
    for address in ("/admin/", "/admin/inbox/", "/admin/content/translations/"):
        page.goto(address)
        problems += [f"{address} is {wide(page)} wide"] if wide(page) > 360 else []
    assert problems == []

    plain = open_page("admin", width=360, scripts=False)
    plain.goto("/admin/")
    plain.click(".tile-ai")
    expect(plain.locator("[data-wait]")).to_have_count(8)
    plain.check('[data-wait] >> nth=0 >> input[value="reject"]', force=True)
    plain.click("[data-apply]")
    expect(plain.locator(".messagelist").first).to_contain_text(
        "Rejected 1 change.", use_inner_text=True
    )
    plain.get_by_role("button", name="Undo", exact=True).click()
    expect(plain.locator(".messagelist").first).to_contain_text(
        "1 change is waiting in AI Review again", use_inner_text=True
    )
    plain.goto("/admin/content/translations/?state=missing")
    plain.check(f'input[value="{posts[4].pk}:de"]')
    plain.click("text=Create selected drafts")
    expect(plain.locator(".messagelist").first).to_contain_text(
        "Created 1 draft", use_inner_text=True
    )
    german = Post.objects.get(translation_group=posts[4].translation_group, locale="de")
    assert german.title == posts[4].title

    page = open_page("admin")
    page.goto("/admin/content/translations/?state=missing")
    create = page.locator(".matrix-bar button")
    expect(create).to_have_text("Create selected drafts", use_inner_text=True)
    boxes = page.locator("input[name=make]")
    boxes.nth(0).check()
    expect(create).to_have_text("Create 1 draft", use_inner_text=True)
    boxes.nth(1).check()
    expect(create).to_have_text("Create 2 drafts", use_inner_text=True)
