"""An agent that runs and ends while a user types in the editor, over real WebSockets."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.make import PASSWORD
from tests.migrated import NAME, give_database
from tests.served import prepare, served

pytestmark = pytest.mark.browser
SCENE = """
import json
from tests import make
from tests.browser import agents_scene
make.user("editor")
post = make.post()
print(json.dumps([str(post.pk), str(agents_scene.run(post, "running", cost=None).pk)]))
"""
ENDS = """
from agents_app.models import AgentRun
from agents_app.runs.lifecycle import end_run
from agents_app.runs.creation import create_run
from agents_app.runs.execution import execute_run
from tests import make
end_run(AgentRun.objects.get(pk="{run}"), "failed", "The provider answered 503.")
other = create_run(agent_id="proofreader", scope="dropdown", actor=make.actor("admin"), post_id="{post}")
execute_run(other.pk)
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[str, str, str]]:
    give_database(tmp_path)
    post, run = json.loads(prepare(tmp_path, SCENE))
    with served(tmp_path) as url:
        yield url, post, run


def test_a_run_is_heard_of_while_typed_words_stay(
    chromium: Any, site: tuple[str, str, str], tmp_path: Path
) -> None:
    url, post, run = site
    context = chromium.new_context(base_url=url)
    context.set_default_timeout(30_000)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"/admin/login/?next=/admin/content/post/{post}/change/")
    page.fill("#id_username", "editor@example.com")
    page.fill("#id_password", PASSWORD)
    page.press("#id_password", "Enter")
    page.wait_for_selector("html[data-connected]")
    page.wait_for_selector("[data-agent-chips][data-ready]", state="attached")
    page.fill('[name="post.excerpt"]', "Half a sentence")
    page.evaluate(
        "() => document.addEventListener('cms:run-ended', (e) => { window.__ended = e.detail; })"
    )

    page.get_by_role("tab", name="Agents").click()
    page.locator("[data-latest-runs] a").first.click()
    page.wait_for_selector("dialog [data-doing]")
    with sqlite3.connect(tmp_path / NAME, timeout=20) as database:
        database.execute("UPDATE agents_app_agentrun SET doing = 'Calling search_media'")
    page.locator("[data-doing]", has_text="Using Search media").wait_for()
    assert not [address for address in asked if "/status/" in address], "pushed, never polled"
    page.keyboard.press("Escape")
    prepare(tmp_path, ENDS.format(post=post, run=run))

    own = page.locator(f'.run-chip[data-id="{run}"]')
    own.get_by_text("Failed").wait_for()
    page.locator(".run-chip", has_text="Proofreader").get_by_text("Succeeded").wait_for()
    assert page.evaluate("() => window.__ended.postId") == post
    assert page.input_value('[name="post.excerpt"]') == "Half a sentence"
    own.get_by_role("button", name="Open").click()
    page.get_by_text("The provider answered 503.").wait_for()
    context.close()
