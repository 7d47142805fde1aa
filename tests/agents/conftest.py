from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents_app import definitions
from tests.agents.environment import set_env


@pytest.fixture(autouse=True)
def shipped_agents(settings: Any) -> Iterator[None]:
    """Each test begins and ends with the agents that are shipped."""
    definitions.reload()
    yield
    definitions.reload()


@pytest.fixture
def agents_dir(settings: Any, tmp_path: Path) -> Path:
    """An empty CMS_AGENTS_DIR."""
    folder = tmp_path / "agents"
    folder.mkdir()
    set_env(settings, cms_agents_dir=folder)
    return folder
