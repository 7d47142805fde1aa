"""A plugin of pytest that runs tools and runs of agents under their database role, in any test on PostgreSQL.

`python -m pytest -p tests.lane.everywhere tests/mcp tests/agents` finds a right that a new tool or step of a run
lacks. Tests that count statements fail under it, because changing the role takes some.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.lane.role import as_lane, as_owner, install_role, is_under_role

_OF_AGENTS = frozenset(
    f"agents_app.tasks.{name}"
    for name in ("run_agent", "call_reaction", "run_evaluation", "test_provider")
)


@pytest.fixture(autouse=True)
def under_the_role(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = request.node.get_closest_marker("django_db")
    if marker is None or marker.kwargs.get("transaction"):
        return
    request.getfixturevalue("db")
    install_role()
    from agents_app.evaluation.runner import EvaluationRunner
    from agents_app.reactions import tool_calls as reactions
    from agents_app.runs import execution
    from mcp_bridge.protocol import tool_calls
    from media import render_variants
    from proofroom.core.observability.tasks import ObservedTask

    for entry in (tool_calls.call_tool, execution.execute_run, reactions.call_reaction_tool):
        _replace(monkeypatch, entry, _within(as_lane, entry))
    ask = EvaluationRunner.ask_next
    monkeypatch.setattr(EvaluationRunner, "ask_next", _within(as_lane, ask))
    toolbox = execution.RunToolbox
    monkeypatch.setattr(toolbox, "call", _within(as_lane, toolbox.call))
    # Other workers do this.
    variants = render_variants.make_variants
    monkeypatch.setattr(render_variants, "make_variants", _within(as_owner, variants))
    apply = ObservedTask.apply

    def applied(task: Any, *arguments: Any, **options: Any) -> Any:
        within = as_lane if task.name in _OF_AGENTS else as_owner
        return _within(within, apply)(task, *arguments, **options)

    monkeypatch.setattr(ObservedTask, "apply", applied)


def _within(role: Callable[[], Any], function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inner(*arguments: Any, **options: Any) -> Any:
        if is_under_role() == (role is as_lane):
            return function(*arguments, **options)
        with role():
            return function(*arguments, **options)

    return inner


def _replace(monkeypatch: pytest.MonkeyPatch, old: object, new: object) -> None:
    """Replace a function in every module that has imported it."""
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith(("agents_app", "mcp_bridge", "tests")):
            for name in [name for name, value in vars(module).items() if value is old]:
                monkeypatch.setattr(module, name, new)
