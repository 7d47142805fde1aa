"""Accounts of a site that sends emails."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache


@pytest.fixture
def mail_server(settings: Any) -> None:
    """Switch emails on, with no attempt counted yet."""
    settings.HAS_EMAIL = True
    cache.clear()
