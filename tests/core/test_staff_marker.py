"""The cookie that marks staff browsers for the site's scripts, and gives no access."""

from __future__ import annotations

import pytest
from django.test import Client

from proofroom.accounts.services.users import change_user
from proofroom.core.middleware import STAFF_COOKIE
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
CREDENTIALS = {"email": "editor@example.com", "password": make.PASSWORD}


def test_both_doors_set_it_and_both_ways_out_take_it_away() -> None:
    make.user("editor")
    client = ApiClient()

    came = client.send("POST", "/api/auth/login", CREDENTIALS)
    went = client.send("POST", "/api/auth/logout")
    form = {"username": "editor@example.com", "password": make.PASSWORD}
    admin = Client()
    entered = admin.post("/admin/login/", form)
    left = admin.post("/admin/logout/")

    for answer in (came, entered):
        cookie = answer.cookies[STAFF_COOKIE]
        assert cookie.value == "1"
        assert cookie["samesite"] == "Lax"
        assert cookie["max-age"] == 1_209_600
    for answer in (went, left):
        assert answer.cookies[STAFF_COOKIE].value == ""
        assert answer.cookies[STAFF_COOKIE]["max-age"] == 0


def test_a_wrong_password_sets_none() -> None:
    make.user("editor")

    answer = ApiClient().send("POST", "/api/auth/login", {**CREDENTIALS, "password": "wrong"})

    assert answer.status_code == 401
    assert STAFF_COOKIE not in answer.cookies


def test_it_goes_with_a_session_that_was_ended_elsewhere() -> None:
    client = ApiClient("editor")
    change_user(user_id=make.user("editor").pk, actor=make.actor("admin"), is_active=False)

    answer = client.get("/api/auth/me")

    assert answer.status_code == 401
    assert answer.cookies[STAFF_COOKIE]["max-age"] == 0


def test_the_staff_cookie_is_set_once_and_opens_nothing() -> None:
    client = ApiClient("editor")
    stranger = Client()
    stranger.cookies[STAFF_COOKIE] = "1"

    assert STAFF_COOKIE not in client.get("/api/auth/me").cookies
    assert stranger.get("/api/auth/me").status_code == 401
    assert stranger.get("/admin/").status_code == 302


def test_pages_of_the_site_neither_set_nor_look_at_it() -> None:
    post = make.post()
    client = ApiClient("editor")

    answer, other = client.get(post.path), Client().get(post.path)

    assert not answer.cookies
    assert "Cookie" not in answer.get("Vary", "")
    assert answer.content == other.content
