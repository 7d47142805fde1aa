"""A receiver on this machine that the way out may call, and time-outs that tests can wait for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.receiver import Receiver, reach, serving


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    reach(settings)
    with serving() as found:
        yield found


@pytest.fixture
def env(settings: Any) -> Any:
    """`env(name=value)` changes variables of the environment."""

    def change(**values: Any) -> None:
        settings.CMS_ENV = settings.CMS_ENV.model_copy(update=values)

    return change


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that get no answer end soon."""
    from webhooks import wire

    monkeypatch.setattr(wire, "SECONDS", 0.3)
