from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from tests import make


@pytest.fixture
def signed_in() -> Callable[..., Client]:
    """`signed_in(role)`: a client logged in with that role, by default as editor."""

    def client(role: str = "editor") -> Client:
        browser = Client()
        browser.force_login(make.user(role))
        return browser

    return client
