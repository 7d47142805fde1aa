"""A live server that answers as described, and the description as strictly as it can be read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proofroom.core.api.schema import operations
from tests.api_description import api_description


@pytest.fixture(scope="session")
def described() -> Any:
    """The document as the code makes it."""
    return api_description()


@pytest.fixture
def strict_document(described: Any) -> Any:
    """The document with every object closed: an answer with a key that is not described is a failure.

    Frontends must take such a key, so the published document leaves objects open.
    """
    closed = json.loads(json.dumps(described))
    for shape in closed["components"]["schemas"].values():
        if "properties" in shape:
            shape.setdefault("additionalProperties", False)
    assert sum(1 for _ in operations(closed)) > 40
    return closed


@pytest.fixture
def freely_called(settings: Any) -> None:
    """The server on this machine may be called without end, by the setting that is there for it."""
    settings.CMS_ENV = settings.CMS_ENV.model_copy(
        update={"throttle_allow_ips": ("127.0.0.0/8", "::1/128")}
    )


@pytest.fixture(autouse=True)
def nothing_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Webhooks of made-up addresses are made here; what they would be told waits for a worker."""
    monkeypatch.setattr("proofroom.webhooks.delivery_queue.queue_sender", lambda: None)
