"""Events with the subscribers of a test only."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.core.listening import own_subscriptions


@pytest.fixture
def no_other_subscribers() -> Iterator[None]:
    """Take the product's subscribers away."""
    with own_subscriptions():
        yield
