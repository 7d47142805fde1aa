"""The pictures of the documentation show the screens as they are. `./run pictures` takes them again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright import sync_api as playwright

from proofroom.core.http_client.local_process import own_status
from proofroom.definitions import find_post_type
from tests.browser.pictures import scenes
from tests.browser.pictures.camera import SITE, Camera, browser_for
from tests.browser.pictures.comparison import difference, is_comparing, is_taking, report, save
from tests.browser.pictures.declared import SCENES
from tests.browser.pictures.repeatable import Clock, fixed_clock, fixed_ids
from tests.browser.pictures.team_scene import STEPS
from tests.mcp.answering import answering

pytestmark = [
    pytest.mark.browser,
    # Pages show numbers of rows.
    pytest.mark.django_db(transaction=True, reset_sequences=True),
]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    fixed_ids(monkeypatch)
    return fixed_clock(monkeypatch)


@pytest.fixture
def mcp_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Answer the check of the MCP server, on a free port instead of the shown one."""
    with answering(405) as port:
        monkeypatch.setattr(
            "mcp_bridge.server_address.own_status",
            lambda _, path, headers: own_status(port, path, headers=headers),
        )
        yield


@pytest.mark.usefixtures("mcp_server")
@pytest.mark.parametrize("scene", SCENES)
def test_the_pictures_show_the_screens_of_today(
    scene: str,
    clock: Clock,
    chromium: Any,
    live_server: Any,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pictures = [one for one in SCENES[scene] if is_comparing() or is_taking(one)]
    if not pictures:
        pytest.skip("none of these was asked for")
    settings.ALLOWED_HOSTS = ["*"]
    settings.SITE_URL = SITE
    if scene == "team":
        monkeypatch.setattr(find_post_type("page"), "steps", STEPS)
    ids = scenes.SCENES[scene](clock)
    clock.stop()
    problems = []
    with (
        browser_for(chromium.browser_type, live_server.url) as browser,
        Camera(browser, clock) as camera,
    ):
        for picture in pictures:
            try:
                shot = camera.take(picture, ids)
            except (playwright.Error, AssertionError) as error:
                problems.append(f"{picture.name} cannot be taken: {error}")
                continue
            if not (found := difference(picture, shot)):
                continue
            if is_taking(picture):
                save(picture, shot)
                print(f"Taken: {picture.name}, {found}")  # noqa: T201  # what the command reports
            else:
                report(picture, shot)
                problems.append(f"{picture.name}: {found}")
    assert not problems, (
        "The screens have changed since these pictures were taken. Look at test-results/pictures/, then run "
        "./run pictures and commit the new ones.\n" + "\n".join(problems)
    )
