"""Retries from a card: the authoring agent, the note, and the new card in place of the old one."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from agents_app.models import AgentRun
from content.layers import submit
from content.layers.reject import reject
from content.models import Layer
from tests import make
from tests.browser.conftest import ready_for_agents
from tests.browser.test_looks import serious_in_any_light

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TITLE = (
    "How to brew filter coffee at home with a scale, a kettle, a paper filter and ten quiet minutes"
)


def test_a_card_of_review_is_tried_again_by_keys_and_leads_to_ai_review(open_page: Any) -> None:
    post = make.post(TITLE)
    make.staged(post, {"metaTitle": "Buy coffee"})
    reject(post_id=post.pk, layer=Layer.AI_REVIEW, actor=make.actor("editor"), note="too salesy")
    make.staged(post, {"metaTitle": "Buy coffee"}, by=make.agent_actor("proofreader"))
    submit(post_id=post.pk, actor=make.actor("editor"))
    page = open_page()
    page.goto(f"/admin/content/post/{post.pk}/review/?layer=review")
    ready_for_agents(page)

    card = page.locator('[data-path="post.metaTitle"]')
    expect(card).to_contain_text("The same text was rejected before.", use_inner_text=True)
    expect(card).to_contain_text("“too salesy”", use_inner_text=True)
    assert serious_in_any_light(page) == []
    card.focus()
    page.keyboard.press("c")
    page.wait_for_selector("dialog [data-choose]")
    assert page.locator("dialog .agent-choice").first.inner_text().startswith("Proofreader")
    expect(page.locator("dialog .agent-choice input").first).to_be_checked()
    expect(page.locator("dialog .as-it-stands").first).to_contain_text(
        "Buy coffee", use_inner_text=True
    )
    assert serious_in_any_light(page) == []
    page.keyboard.type("Say what it is about")
    # Two fast clicks.
    page.evaluate(
        """() => {
          const button = document.querySelector("dialog [name=do][value=run]");
          button.click();
          button.form.requestSubmit();
        }"""
    )
    page.wait_for_selector("dialog [data-finished]")
    run = AgentRun.objects.get()
    assert (run.agent_id, run.note) == ("proofreader", "Say what it is about")

    page.get_by_role("button", name="Use this answer").press("Enter")
    page.get_by_text("Added to AI Review. The live text has not changed").wait_for()
    page.get_by_role("link", name="Open AI Review").press("Enter")
    page.wait_for_url("**layer=ai-review*")

    new = page.locator('[data-path="post.metaTitle"]')
    expect(new).to_have_count(1)
    expect(new).to_contain_text("Proofreader", use_inner_text=True)
    expect(new).not_to_contain_text("The same words", use_inner_text=True)
    ai_review = make.layers(post).ai_review
    assert ai_review.document.fields["metaTitle"] == run.value
    assert ai_review.drifted == frozenset()
