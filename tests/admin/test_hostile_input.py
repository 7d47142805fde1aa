"""NUL in a parameter of the admin, and names that no file can have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(make.user("admin"))
    return client


@pytest.mark.parametrize("query", ["q=%00", "%00=x", "status=%00&status=draft", "post__id=a%00"])
def test_nul_in_an_address_is_400(admin: Client, query: str) -> None:
    assert admin.get("/admin/content/post/").status_code == 200
    assert admin.get(f"/admin/content/post/?{query}").status_code == 400
    assert admin.get(f"/admin/proofroom_accounts/user/?{query}").status_code == 400


def test_nul_in_a_form_is_400_and_changes_nothing(admin: Client) -> None:
    post = make.post()
    before = make.live_hash()
    path = f"/admin/content/post/{post.pk}/change/"

    assert admin.post(path, {"post.title": "a\x00b", "do": "save"}).status_code == 400
    assert admin.post(path, {"post.title": "b", "no\x00te": "x"}).status_code == 400
    assert Client().post("/admin/login/", {"username": "\x00"}).status_code == 400
    assert make.live_hash() == before


def test_the_csrf_check_comes_first() -> None:
    client = Client(enforce_csrf_checks=True)

    assert client.post("/admin/login/", {"username": "\x00"}).status_code == 403


def test_elsewhere_nul_is_the_views_own_business(client: Client) -> None:
    assert client.get("/api/public/posts?search=%00").status_code == 422


@pytest.mark.parametrize("name", ["a" * 300, "a/" * 3000, "%00", "x" * 300 + "/y.png"])
def test_a_media_name_that_no_file_can_have_is_404(name: str, settings: Any) -> None:
    # Without its folder every name is simply absent.
    Path(settings.MEDIA_ROOT).mkdir(parents=True)

    assert Client(raise_request_exception=False).get(f"/media/{name}").status_code == 404
