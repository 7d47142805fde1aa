from __future__ import annotations

import pytest
from django.db import connection

from tests.lane.role import install_role


@pytest.fixture
def role(db: None) -> None:
    """Install the role of agents in the database of the test."""
    if connection.vendor != "postgresql":
        pytest.skip("of PostgreSQL")
    install_role()
