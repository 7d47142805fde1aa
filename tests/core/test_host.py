"""A host name with a trailing dot equals the one without it, in every generated URL."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from asgiref.sync import async_to_sync
from django.test import Client

from cms_project.asgi import application
from tests import make

pytestmark = pytest.mark.django_db
DOTTED = "localhost."


@pytest.mark.parametrize("host", [DOTTED, "localhost.:8000", "LOCALHOST."])
@pytest.mark.parametrize("path", ["/blog/kettle", "/sitemap.xml", "/robots.txt", "/blog/kettle.md"])
def test_no_answer_names_it(client: Client, path: str, host: str) -> None:
    make.post("Kettle", slug="kettle")

    answer = client.get(path, HTTP_HOST=host)

    assert DOTTED not in answer.getvalue().decode().lower()
    assert DOTTED not in str(answer.headers).lower()
    assert answer.status_code == 200


def test_no_redirect_leads_there(client: Client, settings: Any) -> None:
    make.redirect("/old", "/new")
    settings.SECURE_SSL_REDIRECT = True

    for path in ("/old", "/admin", "/admin/login/"):
        answer = client.get(path, HTTP_HOST=DOTTED)

        assert answer.status_code in (301, 302)
        assert DOTTED not in answer["Location"]


def test_two_dots_are_no_name(client: Client) -> None:
    assert client.get("/robots.txt", HTTP_HOST="localhost..").status_code == 400


def test_the_same_where_the_server_is_asynchronous() -> None:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=application)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{DOTTED}") as asking:
            return await asking.get("/robots.txt")

    answer = async_to_sync(ask)()

    assert answer.status_code == 200
    assert "http://localhost/" in answer.text
