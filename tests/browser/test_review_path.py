from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from content.models import Provenance, Revision
from tests import make
from tests.browser.conftest import ready_for_agents
from tests.browser.scene import coffee

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def choose(page: Any, path: str, value: str) -> None:
    page.check(f'input[name="{path}"][value="{value}"]')


def test_the_main_path_from_login_to_the_site(open_page: Any) -> None:
    """Log in, run the agent, look, submit, accept and reject with a note, approve, see the site."""
    post = make.post()
    page = open_page()
    page.goto("/admin/content/post/")
    page.click(f"text={post.title}")
    ready_for_agents(page)
    page.get_by_role("tab", name="Agents").click()
    page.locator(".agent-buttons").get_by_role("link", name="SEO specialist").click()
    before = make.live_hash()
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector("dialog [data-run][data-finished]")
    expect(page.locator(".run").first).to_contain_text("Demo (no AI)", use_inner_text=True)
    assert make.live_hash() == before
    assert not make.layers(post).review.exists
    proposed = make.layers(post).ai_review.changes.paths
    assert proposed

    page.click(f"text=Review {len(proposed)} changes")
    page.wait_for_url("**/review/**")
    expect(page.locator("[data-change]")).to_have_count(len(proposed))
    expect(page.locator("[data-change] >> nth=0").first).to_contain_text(
        "Demo (no AI)", use_inner_text=True
    )
    for path in proposed:
        choose(page, path, "accept")
    page.click(f"text=Submit {len(proposed)} to Review")
    page.wait_for_url("**layer=review")

    taken, dropped = proposed[:-1], proposed[-1]
    for path in taken:
        choose(page, path, "accept")
    choose(page, dropped, "reject")
    page.fill("#note", "Not this one")
    page.click(f"text=Approve {len(taken)}")
    page.wait_for_selector(".messagelist .success")

    live = make.layers(post)
    assert not live.review.exists
    assert not live.ai_review.exists
    revision = Revision.objects.get(post=post, reason="approved")
    assert sorted(revision.changed_paths) == sorted(taken)
    rows = Provenance.objects.filter(post=post, revision=revision)
    assert {(row.path, row.agent_id, row.approved_by_name) for row in rows} == {
        (path, "seo-specialist", "editor") for path in taken
    }
    post.refresh_from_db()
    page.goto(post.path)
    assert post.title in page.content()


def test_the_keyboard_alone_decides_and_approves(open_page: Any) -> None:
    post = coffee()
    page = open_page()
    page.goto(f"/admin/content/post/{post.pk}/review/?layer=ai-review")
    total = page.locator("[data-change]").count()

    page.keyboard.press("j")
    page.keyboard.press("a")
    bar = page.locator(".review-bar").bounding_box()["height"]
    page.keyboard.press("x")
    # The buttons say more now, and nothing below them has moved.
    assert page.locator(".review-bar").bounding_box()["height"] == bar
    page.keyboard.press("Enter")
    expect(page.locator("[data-take-button]").first).to_have_text(
        "Submit 1 to Review, reject 1", use_inner_text=True
    )
    expect(page.locator("[data-reject-button]").first).to_have_text("Reject 1", use_inner_text=True)
    assert page.inner_text("[data-live]").endswith(f"rejected, {total - 2} left")
    page.keyboard.press("u")
    expect(page.locator("[data-count=reject]").first).to_have_text("0", use_inner_text=True)
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".messagelist .success")

    assert make.layers(post).review.changes.paths == ("post.title",)


def test_accepting_all_that_is_safe_skips_what_changes_facts(open_page: Any) -> None:
    post = coffee()
    page = open_page()
    page.goto(f"/admin/content/post/{post.pk}/review/?layer=ai-review")
    flagged = page.locator("[data-flagged]").count()
    total = page.locator("[data-change]").count()

    page.keyboard.press("Shift+A")

    assert flagged >= 2
    expect(page.locator("[data-count=accept]").first).to_have_text(
        str(total - flagged), use_inner_text=True
    )
    expect(page.locator("[data-flagged] input[value=accept]:checked")).to_have_count(0)
    page.click("[data-undo-safe]")
    expect(page.locator("[data-count=accept]").first).to_have_text("0", use_inner_text=True)


def test_the_note_keeps_letters_and_enter_does_not_approve(open_page: Any) -> None:
    post = coffee()
    page = open_page()
    page.goto(f"/admin/content/post/{post.pk}/review/?layer=ai-review")

    page.click("#note")
    page.keyboard.type("a jar lux")
    page.keyboard.press("Enter")

    assert page.input_value("#note") == "a jar lux"
    expect(page.locator("[data-count=accept]").first).to_have_text("0", use_inner_text=True)
    assert make.layers(post).ai_review.exists


def test_without_scripts_the_review_works_as_a_form(open_page: Any) -> None:
    post = coffee()
    page = open_page(scripts=False)
    page.goto(f"/admin/content/post/{post.pk}/review/?layer=ai-review")

    choose(page, "post.title", "accept")
    choose(page, "post.metaDescription", "reject")
    page.click("text=Submit to Review")
    page.goto(f"/admin/content/post/{post.pk}/review/?layer=review")
    choose(page, "post.title", "accept")
    page.click("button:has-text('Approve')")

    post.refresh_from_db()
    assert post.title == "How to brew filter coffee: a simple guide"
    assert "post.metaDescription" not in make.layers(post).ai_review.changes.paths


def test_without_scripts_an_agent_runs_and_its_run_can_be_followed(open_page: Any) -> None:
    post = make.post()
    page = open_page(scripts=False)
    page.goto(f"/admin/content/post/{post.pk}/change/")

    page.locator(".agent-buttons").get_by_role("link", name="SEO specialist").click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator("a.button", has_text="Review").click()

    expect(page.locator("[data-change]")).not_to_have_count(0)


def test_the_buttons_say_what_they_will_do_and_a_rejection_taken_back_is_marked_no_more(
    open_page: Any,
) -> None:
    post = coffee()
    page = open_page()
    page.goto(f"/admin/content/post/{post.pk}/review/?layer=ai-review")
    take, reject = "[data-take-button]", "[data-reject-button]"
    expect(page.locator(take).first).to_have_text("Send all to Review…", use_inner_text=True)

    choose(page, "post.metaDescription", "reject")
    expect(page.locator(take).first).to_be_disabled()
    expect(page.locator(reject).first).to_have_text("Reject 1", use_inner_text=True)
    choose(page, "post.title", "accept")

    expect(page.locator(take).first).to_have_text(
        "Submit 1 to Review, reject 1", use_inner_text=True
    )
    expect(page.locator(take).first).to_be_enabled()
    expect(page.locator(reject).first).to_have_text("Reject 1", use_inner_text=True)

    for radio in page.locator("[data-change] input[value=reject]").all():
        radio.check()
    page.click(reject)
    page.locator("[data-decided]").wait_for()
    page.get_by_role("button", name="Undo", exact=True).click()
    page.locator("[data-review]").wait_for()
    expect(page.locator("[data-count=reject]").first).to_have_text("0", use_inner_text=True)


def test_one_link_leads_straight_to_the_first_change(open_page: Any) -> None:
    post = coffee()
    page = open_page()
    page.goto(f"/admin/content/post/{post.pk}/review/?layer=ai-review")

    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.textContent") == "Skip to the first change"
    page.keyboard.press("Enter")

    assert page.evaluate("() => document.activeElement.matches('[data-change]')")
    page.keyboard.press("a")
    expect(page.locator('[data-change] >> nth=0 >> input[value="accept"]').first).to_be_checked()
