"""Content migrations run like by `migrate`, with models of a state."""

from __future__ import annotations

from typing import Any, cast

from django.apps import apps
from django.db.migrations.state import ProjectState


def carry_over(operation: Any) -> dict[str, int]:
    """Run the operation."""
    state = ProjectState.from_apps(apps)
    return cast(
        "dict[str, int]", operation.carry_over(state.apps, operation.rewriting(operation.steps))
    )


def take_back(operation: Any) -> None:
    """Run the reverse operation."""
    state = ProjectState.from_apps(apps)
    operation.database_backwards("content", None, state, state)
