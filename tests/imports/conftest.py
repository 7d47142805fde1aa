"""Imports in the transaction of their test."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from proofroom_apps.imports import run_watch
from tests import make


@pytest.fixture(autouse=True)
def no_second_connection(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run in a test's transaction is nowhere to another connection, which would call it cancelled."""
    marker = request.node.get_closest_marker("django_db")
    if marker and not marker.kwargs.get("transaction"):
        monkeypatch.setattr(run_watch, "_INTERVAL", 600.0)


@pytest.fixture
def signed_in() -> Callable[..., Client]:
    """`signed_in(role)`: a client logged in with that role."""

    def client(role: str = "editor") -> Client:
        browser = Client()
        browser.force_login(make.user(role))
        return browser

    return client


@pytest.fixture
def admin() -> None:
    """Create the account that imports run as."""
    make.user("admin")
