"""Documents about the MCP server match the code."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from mcp_bridge.management.commands.dump_mcp_context import (
    BEGIN,
    build_context,
    context_text,
    replace_tool_table,
)
from mcp_bridge.models import McpCall
from mcp_bridge.tasks import CALLS_KEPT_DAYS, prune_calls
from proofroom.core.tools import get_tool
from tests.mcp.running import ROOT

DOCS = ROOT / "docs"
RENEW = "renew it: manage.py dump_mcp_context --out docs/mcp-context.json --table docs/mcp.md"


def test_the_committed_context_is_current() -> None:
    committed = (DOCS / "mcp-context.json").read_text("utf-8")

    assert context_text(build_context()) == committed, RENEW


def test_the_table_of_tools_in_the_documentation_is_current() -> None:
    page = (DOCS / "mcp.md").read_text("utf-8")

    assert replace_tool_table(page) == page, RENEW
    assert "| `save_post_ai_review(" in page


def test_every_tool_that_the_texts_name_exists_or_is_not_promised() -> None:
    page = (DOCS / "mcp.md").read_text("utf-8").split(BEGIN, maxsplit=1)[0]

    named = set(re.findall(r"`((?:get|list|save|create|submit|add|update)_\w+)`", page))
    assert named
    assert [name for name in sorted(named) if get_tool(name) is None] == []


def test_a_page_without_the_marks_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Tools\n")

    with pytest.raises(CommandError, match="needs the lines"):
        call_command("dump_mcp_context", out=str(tmp_path / "a.json"), table=str(page))
    assert page.read_text() == "# Tools\n"


@pytest.mark.django_db
def test_calls_are_kept_for_ninety_days(settings: Any) -> None:
    sizes = {"ms": 1, "ok": True, "request_bytes": 1, "response_bytes": 1}
    for days in (CALLS_KEPT_DAYS - 1, CALLS_KEPT_DAYS + 1):
        call = McpCall.objects.create(tool=f"after-{days}", principal="token", **sizes)
        McpCall.objects.filter(pk=call.pk).update(created_at=timezone.now() - timedelta(days=days))

    assert (prune_calls(), prune_calls()) == (1, 0)

    assert McpCall.objects.get().tool == f"after-{CALLS_KEPT_DAYS - 1}"
    assert "mcp_bridge.tasks.prune_calls" in settings.CELERY_BEAT_SCHEDULE
