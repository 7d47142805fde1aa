"""A receiver on this machine that outgoing calls may reach, and short timeouts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
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
    """Shorten the timeout of calls."""
    from proofroom.webhooks import http_calls

    monkeypatch.setattr(http_calls, "CALL_SECONDS", 1.0)


@pytest.fixture
def workflows_dir(env: Any, tmp_path: Path) -> Iterator[Path]:
    """Provide an empty CMS_WORKFLOWS_DIR. Start and end the test with the shipped workflows."""
    from proofroom.webhooks import workflow_definitions as definitions

    folder = tmp_path / "workflows"
    folder.mkdir()
    env(cms_workflows_dir=folder)
    definitions.reload()
    yield folder
    definitions.reload()
