"""Tools as listed for clients: strict, compact, with all hints."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone
from pydantic import BaseModel, Field

from mcp_bridge.management.commands.dump_mcp_context import (
    BEGIN,
    build_context,
    context_text,
    replace_tool_table,
)
from mcp_bridge.models import McpCall
from mcp_bridge.protocol.server import INSTRUCTIONS, tool_description
from mcp_bridge.tasks import CALLS_KEPT_DAYS, prune_calls
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject
from proofroom.core.tools import Arguments, Tool, all_tools, get_tool
from proofroom.core.tools.call import parse_arguments
from proofroom.core.tools.schemas import lean_schema
from tests.mcp.running import ROOT
from tests.mcp.sample_tools import EchoArguments

TOKENS_OF_ALL = 8_000

# As the contract counts. Such JSON was measured at 4.6 with a present-day tokenizer; other tokenizers are finer.
CHARACTERS_PER_TOKEN = 4


def test_a_schema_is_strict_and_lean() -> None:
    assert lean_schema(EchoArguments) == {
        "type": "object",
        "properties": {
            "postId": {"type": "string"},
            "limit": {"type": "integer", "default": 20, "maximum": 100},
            "format": {"type": "string", "enum": ["concise", "full"]},
            "patch": {"type": "object"},
            "edits": {
                "type": "array",
                "description": "At most a few.",
                "items": {
                    "type": "object",
                    "properties": {"position": {"type": "integer"}, "props": {"type": "object"}},
                },
            },
            "agentId": {"type": "string"},
        },
        "required": ["postId"],
        "additionalProperties": False,
    }


class Limited(Arguments):
    name: str = Field(max_length=3)
    id: UUID


def test_limits_that_are_rarely_met_cost_no_tokens_and_hold() -> None:
    def answer(actor: Actor, arguments: Limited) -> JsonObject:
        return {}

    limited = Tool("t", "T", "Text.", "read", "posts.view", Limited, answer, "sample")

    assert lean_schema(Limited)["properties"] == {
        "name": {"type": "string"}, "id": {"type": "string"},
    }  # fmt: skip
    with pytest.raises(RuleViolation, match="at most 3 characters"):
        parse_arguments(cast("Tool[BaseModel]", limited), {"name": "long", "id": "7"})


def test_a_promised_answer_is_an_open_lean_schema() -> None:
    tool = get_tool("list_posts")
    assert tool is not None
    assert tool.result is not None

    schema = tool_description(tool).output_schema

    assert schema is not None
    assert schema["required"] == ["items", "total"]
    assert schema["properties"]["nextCursor"] == {"type": "string"}
    row = schema["properties"]["items"]["items"]
    # Others may be left out with `fields`.
    assert row["required"] == ["id"]
    assert {"id", "updatedAt", "layers"} <= set(row["properties"])
    assert "additionalProperties" not in schema
    assert "$ref" not in json.dumps(schema)


PROMISED = (
    "list_posts", "list_post_types", "list_modules", "save_post_ai_review",
    "add_module_to_post_ai_review", "update_post_module_ai_review",
    "remove_post_module_ai_review", "set_post_taxonomy_terms_ai_review",
    "submit_ai_review_to_review", "create_post_ai_review",
    "get_allowed_modules_for_post_type", "trace_url_resolution", "test_local_route",
)  # fmt: skip


@pytest.mark.parametrize("name", PROMISED)
def test_where_the_shape_is_stable_it_is_promised(name: str) -> None:
    tool = get_tool(name)

    assert tool is not None
    assert tool_description(tool).output_schema is not None


class Lenient(BaseModel):
    """Arguments that do not forbid unknown keys."""

    name: str


def test_unknown_arguments_are_refused_whatever_the_class_says() -> None:
    def answer(actor: Actor, arguments: Lenient) -> JsonObject:
        return {}

    lenient = Tool("t", "T", "Text.", "read", "posts.view", Lenient, answer, "sample")

    assert lean_schema(Lenient)["additionalProperties"] is False
    with pytest.raises(RuleViolation, match="unknown argument `nam`; did you mean `name`"):
        parse_arguments(cast("Tool[BaseModel]", lenient), {"name": "a", "nam": "b"})


@pytest.mark.parametrize(
    ("name", "hints"),
    [
        ("sample_echo", (True, False, True, False)),
        ("sample_fail", (False, False, False, False)),
        ("sample_conflict", (False, True, False, False)),
        ("sample_people", (False, False, False, True)),
    ],
)
def test_every_kind_sets_all_four_hints(
    samples: None, name: str, hints: tuple[bool, bool, bool, bool]
) -> None:
    tool = get_tool(name)
    assert tool is not None

    shown = tool_description(tool)

    notes = shown.annotations
    assert notes is not None
    assert shown.title == notes.title == tool.title
    assert hints == (
        notes.read_only_hint, notes.destructive_hint, notes.idempotent_hint, notes.open_world_hint,
    )  # fmt: skip


def test_tools_that_call_a_provider_are_said_to_reach_other_systems() -> None:
    for name in ("generate_image", "run_agent", "run_field_agent"):
        tool = get_tool(name)
        assert tool is not None
        notes = tool_description(tool).annotations
        assert notes is not None
        assert notes.open_world_hint is True


def test_the_instructions_are_short_and_teach_the_lane() -> None:
    assert len(INSTRUCTIONS) <= 600
    assert "submit_ai_review_to_review" in INSTRUCTIONS


def test_all_registered_tools_fit_the_token_budget() -> None:
    shown = [
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": lean_schema(tool.arguments),
        }
        for tool in all_tools()
    ]
    text = json.dumps(shown, separators=(",", ":"), ensure_ascii=False)
    assert len(text) / CHARACTERS_PER_TOKEN < TOKENS_OF_ALL


def test_a_description_says_enough_and_no_more() -> None:
    lengths = {tool.name: len(tool.description) for tool in all_tools()}

    assert {name: count for name, count in lengths.items() if not 50 <= count <= 165} == {}


def test_names_suit_every_model_api() -> None:
    for tool in all_tools():
        assert re.fullmatch(r"[a-z][a-z0-9_]{1,39}", tool.name), tool.name


DOCS = ROOT / "docs"

RENEW = (
    "renew it: manage.py dump_mcp_context --out docs/mcp-context.json --table docs/reference/mcp.md"
)


def test_the_committed_context_is_current() -> None:
    committed = (DOCS / "mcp-context.json").read_text("utf-8")

    assert context_text(build_context()) == committed, RENEW


def test_the_table_of_tools_in_the_documentation_is_current() -> None:
    page = (DOCS / "reference/mcp.md").read_text("utf-8")

    assert replace_tool_table(page) == page, RENEW
    assert "| `save_post_ai_review(" in page


def test_every_tool_that_the_texts_name_exists_or_is_not_promised() -> None:
    page = (DOCS / "reference/mcp.md").read_text("utf-8").split(BEGIN, maxsplit=1)[0]
    page += (DOCS / "explanation/ai-clients.md").read_text("utf-8")

    named = set(re.findall(r"`((?:get|list|save|create|submit|add|update)_\w+)`", page))
    assert "save_post_ai_review" in named
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
