"""Lists of the admin accept only the lookups of their filters."""

from __future__ import annotations

import pytest
from django.test import Client

from tests import make

pytestmark = pytest.mark.django_db
PEOPLE = "/admin/proofroom_accounts/user/"
POSTS = "/admin/content/post/"


def answer(url: str) -> int:
    admin = Client()
    admin.force_login(make.user("admin"))
    return admin.get(url).status_code


@pytest.mark.parametrize(
    "url",
    [
        f"{PEOPLE}?password__gt=pbkdf2",
        f"{POSTS}?author__password__gt=pbkdf2",
        f"{POSTS}?title__regex=(",
        f"{POSTS}?created_at__year=99999999999",
    ],
)
def test_what_no_filter_of_the_list_asks_is_refused(url: str) -> None:
    make.post()
    assert answer(url) == 400


@pytest.mark.parametrize(
    "url", [f"{PEOPLE}?role=editor", f"{PEOPLE}?is_active__exact=1", f"{POSTS}?status=draft"]
)
def test_filters_of_the_list_hold(url: str) -> None:
    assert answer(url) == 200
