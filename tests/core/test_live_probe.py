"""A page checks for WebSocket support before it connects."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client

from tests import make

pytestmark = pytest.mark.django_db


def test_each_server_says_what_it_serves() -> None:
    async def asked() -> bytes:
        return (await AsyncClient().get("/ws/")).content

    threaded = Client().get("/ws/")

    assert threaded.json() == {"websockets": False}
    assert "no-store" in threaded["Cache-Control"]
    assert "sessionid" not in threaded.cookies
    assert async_to_sync(asked)() == b'{"websockets": true}'


def test_it_is_only_asked() -> None:
    assert Client().post("/ws/").status_code == 405


@pytest.mark.parametrize("background", [False, True])
def test_a_page_that_reads_itself_again_takes_no_message_away(background: bool) -> None:

    browser = Client()
    browser.force_login(make.user("editor"))
    post = make.post("Soon in the trash")
    browser.post(f"/admin/content/post/{post.pk}/delete/")

    headers = {"X-Live": "1"} if background else {}
    first = browser.get("/admin/inbox/", headers=headers).content.decode()
    second = browser.get("/admin/inbox/").content.decode()

    assert ("was moved to the trash" in first, "was moved to the trash" in second) == (
        not background,
        background,
    )
