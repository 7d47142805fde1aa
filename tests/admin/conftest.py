from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from tests import make


@pytest.fixture
def signed_in() -> Callable[..., Client]:
    """`signed_in(role)`: a browser of somebody with that role, the editor without one."""

    def client(role: str = "editor") -> Client:
        browser = Client()
        browser.force_login(make.user(role))
        return browser

    return client
