"""Lazily loaded API views: checks, and their behavior in place of the view."""

from __future__ import annotations

import os
import subprocess
import sys
from types import ModuleType

import pytest
from django.conf import settings
from django.core.checks import run_checks
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import get_resolver, path
from django.views import View

from proofroom.core.api.lazy_views import LazyView, LazyViewSet, check_lazy_views


class Greeting(View):
    def get(self, request: object, name: str) -> HttpResponse:
        return HttpResponse(f"Hello {name}")


@pytest.fixture
def urlconf(monkeypatch, settings):
    """Replace all URLs by a separate URL configuration."""

    def use(*patterns: object) -> None:
        module = ModuleType("lazy_urls")
        module.urlpatterns = list(patterns)  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "lazy_urls", module)
        settings.ROOT_URLCONF = "lazy_urls"

    return use


def test_a_saved_view_applies_the_urls_filters():
    view = LazyView(f"{__name__}.Greeting")

    response = view(RequestFactory().get("/"), name="Ada")

    assert isinstance(response, HttpResponse)
    assert response.content == b"Hello Ada"


def test_a_request_with_a_token_needs_no_token_of_a_form():
    response = Client(enforce_csrf_checks=True).post("/api/posts", {}, "application/json")

    assert (response.status_code, response.json()["code"]) == (401, "not_authenticated")


def test_the_checks_load_every_view_of_the_api():
    paths = [
        pattern.callback.path
        for resolver in get_resolver().url_patterns
        for pattern in getattr(resolver, "url_patterns", [])
        if isinstance(getattr(pattern, "callback", None), LazyView)
    ]

    assert check_lazy_views() == []
    assert len(paths) > 120
    assert {path.rpartition(".")[0] for path in paths} <= set(sys.modules)


def test_the_checks_say_which_action_there_is_not(urlconf):
    activity = LazyViewSet("proofroom.core.activity.api.ActivityViewSet")
    urlconf(path("activity", activity.as_view({"get": "list", "post": "write"})))

    found = [message.msg for message in run_checks(tags=["urls"])]

    assert found == ["proofroom.core.activity.api.ActivityViewSet has no action 'write'."]


@pytest.mark.parametrize(
    "name", ["proofroom.core.api.nowhere.View", "proofroom.core.api.views.Not"]
)
def test_the_checks_fail_at_a_view_that_is_not_there(urlconf, name: str):
    urlconf(path("nowhere", LazyView(name)))

    with pytest.raises(ImportError, match=name.rpartition(".")[0].rpartition(".")[2]):
        run_checks(tags=["urls"])


def test_a_process_that_has_loaded_no_view_describes_the_api_as_all_do():
    code = (
        "import sys, django; django.setup(); from proofroom.core.api.schema_views import document_text; "
        "sys.stdout.buffer.write(document_text())"
    )

    described = subprocess.run(
        [sys.executable, "-c", code],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "cms_project.settings"},
        capture_output=True,
        check=True,
    ).stdout

    assert described == (settings.BASE_DIR / "docs" / "openapi.yaml").read_bytes()
