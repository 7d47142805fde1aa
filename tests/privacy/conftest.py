"""Requests about personal data are carried out at once, however many events earlier tests have numbered."""

from __future__ import annotations

import pytest

from proofroom_apps.privacy.services import requests


@pytest.fixture(autouse=True)
def small_site(monkeypatch: pytest.MonkeyPatch) -> None:
    # PostgreSQL counts on after a test is rolled back, so the site would look large in a long run.
    monkeypatch.setattr(requests, "_MAX_EVENTS_IN_REQUEST", 10**9)
