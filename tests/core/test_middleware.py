"""Sessions, CSRF and login middleware run only where content is managed."""

from __future__ import annotations

import os
import sys

import pytest
from asgiref.sync import async_to_sync
from django.contrib.admin.checks import check_dependencies
from django.core.checks import run_checks
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.test import AsyncClient, Client
from django.urls import path

from cms_project import errors
from proofroom.core.middleware import is_management
from tests.commands import run_command


def what_ran(request: HttpRequest) -> HttpResponse:
    return JsonResponse(
        {
            "session": hasattr(request, "session"),
            "user": hasattr(request, "user"),
            "messages": hasattr(request, "_messages"),
            "language": hasattr(request, "LANGUAGE_CODE"),
        }
    )


PUBLIC = (
    "blog/x",
    "api/public/posts",
    "static-page",
    "sitemap.xml",
    "robots.txt",
    "media/x.png",
    "administration",
)
MANAGEMENT = ("admin/x", "api/posts", "preview/x")


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("canary")


urlpatterns = [path(name, what_ran) for name in PUBLIC + MANAGEMENT] + [path("api/broken", broken)]
handler500 = errors.server_error


@pytest.fixture
def echo(settings) -> None:
    settings.ROOT_URLCONF = __name__


@pytest.mark.parametrize("name", PUBLIC)
def test_public_paths_pass_without(name, echo, client: Client):
    response = client.get(f"/{name}")

    assert response.json() == dict.fromkeys(("session", "user", "messages", "language"), False)
    assert "Vary" not in response.headers
    assert not response.cookies


@pytest.mark.parametrize("name", MANAGEMENT)
def test_management_paths_have_them(name, echo, client: Client):
    # The API answers in English for all users.
    assert client.get(f"/{name}").json() == {
        **dict.fromkeys(("session", "user", "messages"), True),
        "language": not name.startswith("api/"),
    }


@pytest.mark.parametrize(
    ("name", "status"), [("admin/x", 403), ("preview/x", 403), ("blog/x", 200)]
)
def test_csrf_is_checked_where_there_are_sessions(name, status, echo):
    assert Client(enforce_csrf_checks=True).post(f"/{name}").status_code == status


def test_a_failed_csrf_check_under_api_is_answered_in_json(echo):
    response = Client(enforce_csrf_checks=True).post("/api/posts")

    assert response.status_code == 403
    assert response.json() == {
        "error": "The CSRF check failed: send the value of the cookie csrftoken "
        "in the header X-CSRFToken.",
        "code": "csrf_failed",
        "details": {},
    }


async def check_async(name: str) -> dict[str, bool]:
    response = await AsyncClient().get(f"/{name}")
    answer: dict[str, bool] = response.json()
    return answer


@pytest.mark.parametrize(("name", "runs"), [("blog/x", False), ("api/posts", True)])
def test_the_same_holds_on_asynchronous_servers(name, runs, echo):
    assert async_to_sync(check_async)(name)["user"] is runs


def test_the_prefixes_end_at_slashes():
    assert is_management("/admin/")
    assert not is_management("/admins/")
    assert not is_management("/api/public/posts")


def test_the_checks_of_the_admin_find_them():
    assert check_dependencies() == []
    assert [
        message for message in run_checks(include_deployment_checks=False) if message.level >= 30
    ] == []


def test_an_unknown_path_under_api_is_answered_in_json(client: Client):
    for name in ("/api", "/api/", "/api/nothing/here"):
        response = client.get(name)

        assert response.status_code == 404
        assert response.json() == {
            "error": f"There is nothing at {name}.",
            "code": "not_found",
            "details": {},
        }


def test_a_failing_view_under_api_shows_no_trace(echo):
    response = Client(raise_request_exception=False).get("/api/broken")

    assert response.status_code == 500
    assert response.json() == {
        "error": "Something went wrong here. It has been logged.",
        "code": "server_error",
        "details": {},
    }


def test_https_brings_every_protection_of_a_deployment(tmp_path):
    environ = {
        **os.environ,
        "SITE_URL": "https://cms.example",
        "CMS_DATA_DIR": str(tmp_path),
    }
    done = run_command(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"], env=environ
    )

    assert (done.returncode, done.stderr) == (0, "")
