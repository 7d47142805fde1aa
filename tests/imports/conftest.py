"""Imports in the transaction of their test."""

from __future__ import annotations

import pytest

from proofroom_apps.imports import run_watch


@pytest.fixture(autouse=True)
def no_second_connection(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run in a test's transaction is nowhere to another connection, which would call it cancelled."""
    marker = request.node.get_closest_marker("django_db")
    if marker and not marker.kwargs.get("transaction"):
        monkeypatch.setattr(run_watch, "_INTERVAL", 600.0)
