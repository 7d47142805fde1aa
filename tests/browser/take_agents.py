"""Takes the screenshots of agents for the documentation: `python -m pytest
tests/browser/take_agents.py -m browser`.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from tests import make
from tests.browser import agents_scene
from tests.browser.conftest import ready_for_agents
from tests.browser.scene import coffee
from tests.browser.take_pictures import IMAGES, keep

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
_MOST_BYTES = 200_000


def test_the_dialog_over_the_editor(open_page: Any) -> None:
    post = make.post()
    page = open_page("admin", width=1280, height=860)
    page.goto(f"/admin/content/post/{post.pk}/change/")
    ready_for_agents(page)
    page.get_by_role("tab", name="Agents").click()
    page.locator(".agent-buttons").get_by_role("link", name="SEO specialist").click()
    page.wait_for_selector("dialog [data-choose]")

    keep(page, IMAGES / "agent-dialog.png")

    assert (IMAGES / "agent-dialog.png").stat().st_size < _MOST_BYTES


def test_the_page_of_a_run(open_page: Any) -> None:
    own = agents_scene.story(coffee())
    begun = timezone.now() - timedelta(seconds=4)
    own.has_read_untrusted = False
    own.started_at, own.finished_at = begun, begun + timedelta(seconds=3.4)
    own.save()
    end = begun
    for step in own.steps.all():
        end += timedelta(milliseconds=step.milliseconds + 60)
        own.steps.filter(pk=step.pk).update(created_at=end)
    page = open_page("admin", width=1280, height=1080)
    page.goto(f"/admin/agents_app/agentrun/{own.pk}/change/")

    keep(page, IMAGES / "agent-run.png")

    assert (IMAGES / "agent-run.png").stat().st_size < _MOST_BYTES
