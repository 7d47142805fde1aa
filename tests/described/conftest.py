"""A live server for checks against the OpenAPI document, and that document in its strictest form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proofroom.core.api.schema import operations
from tests.api_description import api_description


@pytest.fixture(scope="session")
def described() -> Any:
    """Return the document generated from the code."""
    return api_description()


@pytest.fixture
def strict_document(described: Any) -> Any:
    """Return the document with closed objects, so that undocumented keys in a response are failures.

    The published document leaves objects open, because clients must accept new keys.
    """
    closed = json.loads(json.dumps(described))
    for shape in closed["components"]["schemas"].values():
        if "properties" in shape:
            shape.setdefault("additionalProperties", False)
    assert sum(1 for _ in operations(closed)) > 40
    return closed


@pytest.fixture
def freely_called(settings: Any) -> None:
    """Exempt this machine from rate limits."""
    settings.CMS_ENV = settings.CMS_ENV.model_copy(
        update={"throttle_allow_ips": ("127.0.0.0/8", "::1/128")}
    )


@pytest.fixture(autouse=True)
def nothing_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep deliveries of invented webhooks in the queue."""
    monkeypatch.setattr("proofroom.webhooks.delivery_queue.queue_sender", lambda: None)
