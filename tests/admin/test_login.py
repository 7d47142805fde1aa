from __future__ import annotations

import pytest
from django.test import Client, RequestFactory

from cms_project import errors
from tests import make

pytestmark = pytest.mark.django_db


@pytest.mark.usefixtures("one_window")
def test_the_eleventh_try_is_refused_even_if_right() -> None:
    make.user("editor")
    client = Client()
    right = {"username": "editor@example.com", "password": make.PASSWORD}
    for _ in range(10):
        wrong = client.post("/admin/login/", {**right, "password": "wrong"})
        assert wrong.status_code == 200

    answer = client.post("/admin/login/", right)

    assert answer.status_code == 429
    assert int(answer["Retry-After"]) >= 1
    assert "Too many login attempts. Try again in" in answer.content.decode()
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("role", ["ai_agent"])
def test_an_agents_account_cannot_log_in(role: str) -> None:
    user = make.user(role)
    user.set_password(make.PASSWORD)
    user.save()
    client = Client()

    client.post("/admin/login/", {"username": user.email, "password": make.PASSWORD})

    assert "_auth_user_id" not in client.session


def test_a_server_error_has_a_page() -> None:
    answer = errors.server_error(RequestFactory().get("/somewhere"))

    assert answer.status_code == 500
    assert b"<html" in answer.content
