"""`/robots.txt`."""

from __future__ import annotations

from typing import Any

from django.test import Client


def test_search_engines_may_read_the_site_and_leave_the_rest(client: Client) -> None:
    response = client.get("/robots.txt")

    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response["Cache-Control"] == "public, max-age=300"
    assert response.content.decode().splitlines() == [
        "User-agent: *",
        "Disallow: /admin/",
        "Disallow: /api/",
        "Disallow: /preview/",
        "Disallow: /search$",
        "Disallow: /search?",
        "Disallow: /de/search$",
        "Disallow: /de/search?",
        "",
        "Sitemap: http://testserver/sitemap.xml",
    ]
    again = client.get("/robots.txt", headers={"If-None-Match": response["ETag"]})
    assert again.status_code == 304


def test_a_staging_site_forbids_everything(client: Client, settings: Any) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"search_engines": False})

    assert client.get("/robots.txt").content == b"User-agent: *\nDisallow: /\n"
