from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agents_app.definitions import agents as definitions
from agents_app.models import AgentRun
from agents_app.runs.creation import create_run
from tests import make
from tests.agents.asking import KEY
from tests.agents.dying import TOOLS
from tests.agents.environment import set_env, write_agent
from tests.fake_provider import FakeProvider, Reply, serving
from tests.receiver import Receiver, reach
from tests.receiver import serving as receiving


@pytest.fixture(autouse=True)
def shipped_agents(settings: Any) -> Iterator[None]:
    """Start and end each test with the shipped agents."""
    definitions.reload()
    yield
    definitions.reload()


@pytest.fixture
def agents_dir(settings: Any, tmp_path: Path) -> Path:
    """Provide an empty CMS_AGENTS_DIR."""
    folder = tmp_path / "agents"
    folder.mkdir()
    set_env(settings, cms_agents_dir=folder)
    return folder


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry requests without pauses."""
    monkeypatch.setattr("agents_app.providers.model_requests.RETRY_PAUSES", [0.0, 0.0])


@pytest.fixture
def openai(settings: Any, no_pauses: None) -> Iterator[Any]:
    """`openai(*replies)`: replace OpenAI by a server with these replies."""
    opened = []

    def start(*replies: Reply) -> FakeProvider:
        context = serving(*replies)
        fake = context.__enter__()
        opened.append(context)
        set_env(
            settings, ai_provider_openai_api_key=KEY, ai_provider_openai_base_url=fake.openai_url
        )
        return fake

    yield start
    for context in opened:
        context.__exit__(None, None, None)


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """Yield a receiver on this machine that outgoing calls may reach."""
    reach(settings)
    with receiving() as found:
        yield found


@pytest.fixture
def staging(agents_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], AgentRun]:
    """Return a function that creates a run of an agent that stages with a tool, then with its answer.
    No worker starts it.
    """
    write_agent(agents_dir, "stager", "dropdown", extra=TOOLS)
    for place in ("agents_app.runs.creation.wake", "agents_app.runs.lifecycle.wake"):
        monkeypatch.setattr(place, lambda run_id, event_id: None)

    def begin() -> AgentRun:
        return create_run(
            agent_id="stager", scope="dropdown", actor=make.actor("editor"), post_id=make.post().pk
        )

    return begin
