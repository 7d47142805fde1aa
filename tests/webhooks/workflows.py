"""Shared helpers for workflows: files in a test's own folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from proofroom.webhooks import workflow_definitions as definitions
from tests.receiver import Receiver


def write(folder: Path, id_: str, receiver: Receiver | None = None, **fields: Any) -> Path:
    """Write a workflow that calls the receiver at `/<id>` when a post is published, changed by `fields`."""
    values: dict[str, Any] = {
        "name": id_.title(),
        "triggers": ["post.published"],
        "url": receiver.url(f"/{id_}") if receiver else "https://tools.example.com/hook",
    }
    path = folder / f"{id_}.yaml"
    path.write_text(yaml.safe_dump(values | fields, allow_unicode=True))
    definitions.reload()
    return path
