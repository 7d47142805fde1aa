"""Takes the screenshots of the documentation: `python -m pytest tests/browser/take_pictures.py -m
browser`.

All content is created in an empty database and removed afterwards. `SCREENSHOTS` names another
folder, to save every page in light, dark and narrow.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from content.models import Layer
from tests import make
from tests.browser import agents_scene
from tests.browser.heatmap_scene import clicked
from tests.browser.scene import coffee
from tests.mcp.answering import answering

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
IMAGES = Path("docs/images")
_MOST_BYTES = 250_000


def keep(page: Any, path: Path, *, whole: bool = False) -> None:
    """Save the page as a PNG with a reduced palette."""
    picture = Image.open(io.BytesIO(page.screenshot(full_page=whole))).convert("RGB")
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.quantize(200, dither=Image.Dither.NONE).save(path, optimize=True)


def test_the_page_that_connects_an_ai_client(open_page: Any, settings: Any) -> None:
    with answering(405) as port:
        changed = {"mcp_port": port, "mcp_url": None, "mcp_auth_token": None}
        settings.CMS_ENV = settings.CMS_ENV.model_copy(update=changed)
        page = open_page("admin", width=1280, height=1330)
        page.goto("/admin/mcp/")

        keep(page, IMAGES / "mcp-connect.png")

    assert (IMAGES / "mcp-connect.png").stat().st_size < _MOST_BYTES


def test_the_heatmap(open_page: Any) -> None:
    post = clicked()
    page = open_page("admin", width=1280, height=1000)
    page.goto(f"/admin/analytics/heatmap/{post.pk}/?viewport=desktop")
    page.locator("[data-state=ready]").wait_for()

    keep(page, IMAGES / "heatmap.png")

    assert (IMAGES / "heatmap.png").stat().st_size < _MOST_BYTES


@pytest.mark.skipif("SCREENSHOTS" not in os.environ, reason="only on request")
@pytest.mark.parametrize("look", ["light", "dark", "narrow"])
def test_every_page(open_page: Any, look: str) -> None:
    post = coffee()
    make.staged(post, {"title": "Filter coffee, by a person"}, layer=Layer.REVIEW)
    page = open_page("admin", dark=look == "dark", width=360 if look == "narrow" else 1280)
    base = f"/admin/content/post/{post.pk}"
    run = post.agent_runs.first()
    told, batch = agents_scene.story(post), agents_scene.batch(post)
    for name, address in {
        "connect": "/admin/mcp/",
        "calls": "/admin/mcp_bridge/mcpcall/",
        "home": "/admin/",
        "inbox": "/admin/inbox/",
        "list": "/admin/content/post/",
        "change": f"{base}/change/",
        "ai-review": f"{base}/review/?layer=ai-review",
        "review": f"{base}/review/?layer=review",
        "revisions": f"{base}/revisions/",
        "run": f"/admin/agents_app/agentrun/{run.pk}/change/",
        "runs": "/admin/agents_app/agentrun/",
        "field": f"/admin/agents_app/field/?post={post.pk}&field=post.title",
        "ask": "/admin/agents_app/ask/",
        "answers": f"/admin/agents_app/agentrun/{agents_scene.tries(post).pk}/change/",
        "story": f"/admin/agents_app/agentrun/{told.pk}/change/",
        "said": f"/admin/agents_app/agentrun/{told.pk}/transcript/",
        "take-back": f"/admin/agents_app/agentrun/{told.pk}/revert/",
        "going-on": f"/admin/agents_app/agentrun/{batch.runs.get(status='running').pk}/change/",
        "batch": f"/admin/agents_app/agentbatch/{batch.pk}/change/",
        "batches": "/admin/agents_app/agentbatch/",
        "batch-take-back": f"/admin/agents_app/agentbatch/{batch.pk}/revert/",
        "agents": "/admin/agents_app/agentswitch/",
        "agent": "/admin/agents_app/agentswitch/illustrator/change/",
        "users": "/admin/proofroom_accounts/user/",
    }.items():
        page.goto(address)
        keep(page, Path(os.environ["SCREENSHOTS"]) / f"{name}-{look}.png", whole=True)
    page.goto("/admin/content/post/")
    for box in page.locator("input.action-select").all():
        box.check()
    page.locator("button[name=action][value=run_agent]").click()
    keep(page, Path(os.environ["SCREENSHOTS"]) / f"bulk-{look}.png", whole=True)
    stranger = open_page(None, dark=look == "dark", width=360 if look == "narrow" else 1280)
    stranger.goto("/admin/login/")
    keep(stranger, Path(os.environ["SCREENSHOTS"]) / f"login-{look}.png")
