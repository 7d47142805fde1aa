"""Agents in the admin: on one field, on several posts, and globally."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from agents_app.models import AgentRun
from agents_app.runs import execution
from tests import make
from tests.agents.asking import KEY
from tests.agents.environment import set_env
from tests.browser import agents_scene
from tests.browser.conftest import ready_for_agents
from tests.browser.scene import coffee
from tests.browser.test_looks import serious_in_any_light
from tests.fake_provider import Reply, serving

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TITLE = (
    "How to brew filter coffee at home with a scale, a kettle, a paper filter and ten quiet minutes"
)


def test_a_field_is_asked_about_tried_again_and_an_answer_chosen_by_keyboard_alone(
    open_page: Any,
) -> None:
    post = make.post(TITLE)
    page = open_page()
    page.goto(f"/admin/content/post/{post.pk}/change/")
    before = make.live_hash()
    ready_for_agents(page)
    page.fill('[name="post.excerpt"]', "Half a sentence")

    menu = page.locator("details.field-ai", has_text="Ask AI about Title").first
    menu.locator("summary").press("Enter")
    page.keyboard.press("Escape")
    assert not menu.evaluate("menu => menu.open")
    menu.locator("summary").press("Enter")
    page.get_by_role("link", name="Ask General assistant about Title").first.press("Enter")
    page.wait_for_selector("dialog [data-choose]")
    expect(page.locator("dialog .as-it-stands").first).to_contain_text(TITLE, use_inner_text=True)
    expect(page.locator("dialog [data-unsaved]")).to_be_visible()
    page.keyboard.type("shorten")
    expect(page.locator("dialog [data-counter]").first).to_have_text(
        "7 / 4000", use_inner_text=True
    )
    page.get_by_role("button", name="Ask", exact=True).press("Enter")
    page.wait_for_selector("dialog [data-finished]")
    expect(page.locator(".candidate")).to_have_count(1)
    expect(page.locator("dialog .candidate del")).not_to_have_count(0)

    page.get_by_label("What should be different?").fill("shorter")
    page.get_by_role("button", name="Try again").press("Enter")
    page.wait_for_selector(".candidate >> nth=1")
    expect(page.locator(".candidate >> nth=0").first).to_contain_text(
        "shorter", use_inner_text=True
    )
    page.get_by_role("button", name="Use this answer : answer 1").press("Enter")
    page.get_by_text("Added to AI Review. The live text has not changed").wait_for()
    page.keyboard.press("Escape")

    first = AgentRun.objects.get(first_try=None)
    expect(page.locator("dialog[open]")).to_have_count(0)
    # The link was in a menu that is closed now.
    page.wait_for_function(
        "() => document.activeElement.closest('details.field-ai summary') !== null"
    )
    assert page.input_value('[name="post.excerpt"]') == "Half a sentence"
    assert make.layers(post).ai_review.document.fields["title"] == first.value != TITLE
    assert make.live_hash() == before


@pytest.fixture
def model(settings: Any) -> Iterator[None]:
    """Provide a model that cannot answer at first."""
    with serving(Reply(status=400, message="no"), Reply({"post": {"metaTitle": "Coffee"}})) as fake:
        set_env(
            settings, ai_provider_openai_api_key=KEY, ai_provider_openai_base_url=fake.openai_url
        )
        yield


def test_a_run_is_followed_from_the_editor_to_its_result(
    open_page: Any, model: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs in the corner, is cancelled, restarted, fails at its provider, and finally proposes changes."""
    waiting: list[Any] = []
    monkeypatch.setattr(
        "agents_app.runs.creation.wake", lambda run_id, event_id: waiting.append(run_id)
    )
    post = make.post()
    page = open_page()
    page.goto(f"/admin/content/post/{post.pk}/change/")
    ready_for_agents(page)
    page.fill('[name="post.excerpt"]', "Half a sentence")
    page.get_by_role("tab", name="Agents").click()
    page.locator(".agent-buttons").get_by_role("link", name="SEO specialist").click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("In the queue", exact=True).wait_for()
    first = AgentRun.objects.filter(pk=waiting[0])
    first.update(status="running", doing="Calling search_media", input_tokens=1200)
    page.locator("[data-doing]", has_text="Using Search media").wait_for()
    expect(page.locator("dialog [data-used]").first).to_have_text(
        "1,200 tokens", use_inner_text=True
    )
    assert serious_in_any_light(page) == []

    page.get_by_role("button", name="Continue working").click()
    chip = page.locator(".run-chip")
    expect(chip).to_contain_text("SEO specialist", use_inner_text=True)
    page.reload()
    chip.get_by_role("button", name="Open").click()
    page.get_by_role("button", name="Cancel run").click()
    page.get_by_text("Run cancelled. It will not propose anything").wait_for()
    assert first.get().status == "cancelled"

    _again(page, waiting, "Error:")
    expect(page.locator("dialog .notice-problem").first).to_contain_text("400", use_inner_text=True)
    _again(page, waiting, "Proposed 1 change")

    expect(page.locator(".run-chip")).to_have_count(0)
    page.get_by_role("link", name="Review 1 change").click()
    page.wait_for_url(f"**/{post.pk}/review/**&run={waiting[2]}")


def _again(page: Any, waiting: list[Any], until: str) -> None:
    """Retry, and execute the run while the dialog follows it."""
    count = len(waiting)
    page.get_by_role("button", name="Try again").click()
    page.get_by_text("In the queue", exact=True).wait_for()
    execution.execute_run(waiting[count])
    page.locator("dialog").get_by_text(until).wait_for()


def test_several_posts_go_to_an_agent_with_its_own_estimate(open_page: Any) -> None:
    posts = [make.post(f"Kettle {n}", slug=f"kettle-{n}") for n in range(2)]
    page = open_page("admin")
    page.goto("/admin/content/post/")
    ready_for_agents(page)
    page.check("#action-toggle")
    expect(page.locator("[data-selected]").first).to_have_text("2 selected", use_inner_text=True)
    page.locator("button[name=action][value=run_agent]").click()
    page.wait_for_selector("dialog [data-choose]")
    expect(page.get_by_label("What should it look out for?")).to_be_visible()

    page.get_by_label("Proofreader").check()
    page.get_by_role("heading", name="Estimated cost: Proofreader").wait_for()
    expect(page.locator("#words")).to_be_hidden()
    page.get_by_label("SEO specialist").check()
    page.get_by_role("heading", name="Estimated cost: SEO specialist").wait_for()
    page.get_by_role("button", name="Run on 2 posts").click()
    page.wait_for_url("**/agentbatch/**")

    page.get_by_text("2 of 2 finished").wait_for()
    page.get_by_role("link", name="changes Kettle 0").click()
    page.wait_for_url(f"**/{posts[0].pk}/review/?layer=ai-review")


def test_a_batch_and_a_run_that_go_on_show_how_far_they_are(open_page: Any) -> None:
    batch = agents_scene.batch(make.post())
    going_on = batch.runs.filter(status="running")
    page, other = open_page("admin"), open_page("editor")
    page.goto(f"/admin/agents_app/agentbatch/{batch.pk}/change/")
    other.goto(f"/admin/agents_app/agentrun/{going_on.get().pk}/change/")
    expect(page.get_by_text("2 of 4 finished")).to_be_visible()
    # With WebSocket updates, a starting run still appears.
    page.evaluate("() => document.documentElement.setAttribute('data-connected', '')")

    going_on.update(doing="Calling search_media")
    other.locator("[data-doing]", has_text="Using Search media").wait_for()
    page.get_by_text("Using Search media").wait_for()
    going_on.update(status="succeeded", finished_at=timezone.now(), summary="Compared.")

    other.wait_for_selector("[data-run][data-finished]")
    expect(other.locator(".answer").first).to_have_text("Compared.", use_inner_text=True)
    page.locator("#batch").get_by_text("3 of 4 finished").wait_for()


def test_without_scripts_an_agent_answers_from_anywhere(open_page: Any) -> None:
    post = make.post()
    page = open_page("admin", scripts=False)
    page.goto(f"/admin/content/post/{post.pk}/review/?layer=ai-review")

    page.get_by_role("link", name="Ask an agent").click()
    assert page.input_value("#post") == str(post.pk)
    page.select_option("#post", "")
    page.fill("#words", "What is missing on this site?")
    page.get_by_role("button", name="Ask", exact=True).click()

    assert page.locator(".answer").inner_text()
    assert AgentRun.objects.get().open_ended_context == "What is missing on this site?"


def test_runs_in_other_states_have_no_serious_barrier_and_are_not_too_wide(open_page: Any) -> None:
    post = coffee()
    going_on = agents_scene.batch(post).runs.get(status="running")
    problems: list[str] = []
    page = open_page("admin")

    for address in (
        f"/admin/agents_app/agentrun/{agents_scene.tries(post).pk}/change/",
        f"/admin/agents_app/agentrun/{going_on.pk}/change/",
    ):
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(address)
        problems += serious_in_any_light(page)
        page.set_viewport_size({"width": 390, "height": 800})
        wide = page.evaluate("() => document.documentElement.scrollWidth")
        problems += [f"{address} is {wide} wide"] if wide > 390 else []

    assert problems == []
