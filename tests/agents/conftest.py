from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

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


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are tried again at once."""
    monkeypatch.setattr("agents_app.providers.model_requests.RETRY_PAUSES", [0.0, 0.0])


@pytest.fixture
def openai(settings: Any, no_pauses: None) -> Iterator[Any]:
    """`openai(*replies)`: from now on OpenAI is a server that answers so."""
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
def signed_in() -> Callable[..., Client]:
    """`signed_in(role)`: a browser of somebody with that role, the editor without one."""

    def client(role: str = "editor") -> Client:
        browser = Client()
        browser.force_login(make.user(role))
        return browser

    return client


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """A receiver of calls on this machine that the way out may reach."""
    reach(settings)
    with receiving() as found:
        yield found


@pytest.fixture
def staging(agents_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], AgentRun]:
    """A run of an agent that stages by a tool, then by its answer; nobody takes it up by itself."""
    write_agent(agents_dir, "stager", "dropdown", extra=TOOLS)
    for place in ("agents_app.runs.creation.wake", "agents_app.runs.lifecycle.wake"):
        monkeypatch.setattr(place, lambda run_id, event_id: None)

    def begin() -> AgentRun:
        return create_run(
            agent_id="stager", scope="dropdown", actor=make.actor("editor"), post_id=make.post().pk
        )

    return begin
