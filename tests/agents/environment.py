"""Environment variables and agent files of a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agents_app.definitions import agents as definitions

HERE = Path(__file__).parent / "agents"


def set_env(settings: Any, **values: Any) -> None:
    """Set environment variables (lower-case names) for one test."""
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update=values)
    definitions.reload()


def write_agent(folder: Path, agent_id: str, *scopes: str, extra: str = "") -> Path:
    """Write an agent file with these scopes, each `name` or `name:order`."""
    lines = []
    for scope in scopes:
        name, _, order = scope.partition("@")
        lines.append(f"  - {{scope: {name}, order: {order or 0}}}")
    path = folder / f"{agent_id}.md"
    entries = "\n".join(lines)
    path.write_text(
        f"---\nname: {agent_id}\nscopes:\n{entries}\n{extra}\n---\nYou are {{{{agent}}}}.\n"
    )
    return path
