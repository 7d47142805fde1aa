"""Errors in the admin: a page with advice and the log reference, without database queries."""

from __future__ import annotations

import re

import pytest
from django.db import DatabaseError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path

from cms_project import errors
from proofroom.core.site_icon import check_site_icon

handler500 = errors.server_error


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("canary")


urlpatterns = [path("admin/broken/", broken), path("", include("cms_project.urls"))]


@pytest.fixture
def breaking(settings) -> None:
    settings.ROOT_URLCONF = __name__


@pytest.fixture
def no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise DatabaseError("asked")

    monkeypatch.setattr(BaseDatabaseWrapper, "cursor", refuse)


@pytest.mark.usefixtures("breaking", "no_database")
def test_a_failing_page_of_the_admin_says_what_to_do_and_names_the_reference() -> None:
    client = Client(raise_request_exception=False, headers={"accept-language": "de"})
    client.cookies["admin_theme"] = "dark"

    response = client.get("/admin/broken/?page=2")

    text = response.content.decode()
    assert response.status_code == 500
    assert 'data-theme="dark"' in text
    assert 'href="/admin/broken/?page=2"' in text
    assert response["X-Request-ID"] in text
    assert "canary" not in text
    assert "style=" not in text
    assert not re.search(r"<script", text)


@pytest.mark.usefixtures("breaking", "no_database")
def test_what_was_sent_is_not_offered_to_be_sent_again() -> None:
    response = Client(raise_request_exception=False).post("/admin/broken/", {"title": "Typed"})

    assert response.status_code == 500
    assert "/admin/broken/" not in response.content.decode()


def test_the_icon_is_answered_where_browsers_look_for_it(settings) -> None:
    response = Client().get("/favicon.ico")

    assert (response.status_code, response["Location"]) == (302, "/static/cms/favicon.svg")
    assert response["Cache-Control"] == "public, max-age=86400"


@pytest.mark.django_db
def test_a_site_has_an_icon_of_its_own(settings) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"site_icon": "site/nowhere.svg"})
    assert [message.id for message in check_site_icon()] == ["proofroom_core.E002"]

    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"site_icon": "cms/icons.svg"})

    assert check_site_icon() == []
    link = '<link rel="icon" href="/static/cms/icons.svg" type="image/svg+xml">'
    assert link in Client().get("/admin/login/").content.decode()
    assert Client().get("/favicon.ico")["Location"] == "/static/cms/icons.svg"
