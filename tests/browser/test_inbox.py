"""The inbox by keyboard, like changes after their sample, home without scripts, the matrix on a narrow screen."""

from __future__ import annotations

from typing import Any

import pytest

from content.models import Post, QueuedChange
from proofroom.editorial.inbox import decisions, similar_changes
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
    assert page.locator("[data-apply]").is_disabled()

    # The riskiest comes first, and must be opened before it is accepted.
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("u")
    page.keyboard.press("a")
    assert page.locator("[data-apply]").is_disabled()
    assert "Open this change" in page.inner_text("[data-said]")
    page.locator("[data-layer=review]:has(input[value=accept])").focus()
    page.keyboard.press("a")
    assert page.inner_text("[data-apply]").split() == ["Apply", "decisions", "(1)"]
    assert page.locator("[data-wait]:focus").get_attribute("id") != ""
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    assert "Approved 1 change. It is live." in page.inner_text(".messagelist")
    assert make.layers(posts[2]).live.fields["title"] == "Cold brew in ten hours"

    with page.expect_navigation():
        page.keyboard.press("s")
    assert page.locator(".like-sample").count() == 3
    assert serious_in_any_light(page) == []
    page.keyboard.press("j")
    page.keyboard.press("i")
    button = page.locator("button[value=accept]")
    assert " ".join(button.inner_text().split()) == "Submit included (4)"
    with page.expect_navigation():
        button.press("Enter")
    assert "Submitted 4 changes to Review." in page.inner_text(".messagelist")
    assert QueuedChange.objects.filter(path="post.metaDescription", layer="review").count() == 4

    for module in (similar_changes, decisions):
        monkeypatch.setattr(module, "MAX_DECISIONS", 3)
    page.goto("/admin/inbox/all/?layer=review")
    page.check("[name=rest]")
    reject = page.locator("button[value=reject]")
    assert " ".join(reject.inner_text().split()) == "Reject included (4)"
    with page.expect_navigation():
        reject.click()
    assert "4 of 4 done" in page.inner_text("#batch-progress")
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
    assert plain.locator("[data-wait]").count() == 8
    plain.check('[data-wait] >> nth=0 >> input[value="reject"]', force=True)
    plain.click("[data-apply]")
    assert "Rejected 1 change." in plain.inner_text(".messagelist")
    plain.get_by_role("button", name="Undo", exact=True).click()
    assert "1 change is waiting in AI Review again" in plain.inner_text(".messagelist")
    plain.goto("/admin/content/translations/?state=missing")
    plain.check(f'input[value="{posts[4].pk}:de"]')
    plain.click("text=Create selected drafts")
    assert "Created 1 draft" in plain.inner_text(".messagelist")
    german = Post.objects.get(translation_group=posts[4].translation_group, locale="de")
    assert german.title == posts[4].title

    page = open_page("admin")
    page.goto("/admin/content/translations/?state=missing")
    create = page.locator(".matrix-bar button")
    assert create.inner_text() == "Create selected drafts"
    boxes = page.locator("input[name=make]")
    boxes.nth(0).check()
    assert create.inner_text() == "Create 1 draft"
    boxes.nth(1).check()
    assert create.inner_text() == "Create 2 drafts"
