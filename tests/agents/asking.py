"""Ways to start runs in tests."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from agents_app.models import AgentRun
from agents_app.runs import execution
from agents_app.runs.creation import create_run
from content.models import Post
from tests import make
from tests.fake_provider import Asked

KEY = "sk-canary-never-shown-1234567890"
SECRET = "a-secret-of-some-length"
TRIGGER = "/api/public/agents/seo-specialist/run"


def execute(post: Post, **given: Any) -> AgentRun:
    """Create a run on the post and execute it; by default the dropdown's SEO specialist."""
    given = {
        "agent_id": "seo-specialist",
        "scope": "dropdown",
        "actor": make.actor("editor"),
        **given,
    }
    run = create_run(post_id=post.pk, **given)
    execution.execute_run(run.pk)
    run.refresh_from_db()
    return run


def send(client: Client, path: str, body: Any = None, **extra: Any) -> Any:
    """Send a POST request with JSON."""
    return client.post(path, body or {}, content_type="application/json", **extra)


def payload_of(asked: Asked) -> Any:
    """Return the data in the first message to a model, without its fences."""
    lines = asked.body["messages"][1]["content"].split("\n")
    start = next(n for n, line in enumerate(lines) if line.startswith("BEGIN "))
    return json.loads(lines[start + 1])
