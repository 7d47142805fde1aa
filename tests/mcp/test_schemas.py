"""Tools as clients see them: strict, lean, with every hint."""

from __future__ import annotations

import json
import re
from typing import cast

import pytest
from django.utils.module_loading import autodiscover_modules
from pydantic import BaseModel

from core.actor import Actor
from core.errors import RuleViolation
from core.json import JsonObject
from core.tools import Tool, all_tools, get_tool
from mcp_bridge.arguments import parse_arguments
from mcp_bridge.schemas import lean_schema, wire_tool
from mcp_bridge.server import INSTRUCTIONS
from tests.mcp.sample_tools import EchoArguments

TOKENS_OF_ALL = 5_000
CHARACTERS_PER_TOKEN = 3.6


def test_a_schema_is_strict_and_lean() -> None:
    assert lean_schema(EchoArguments) == {
        "type": "object",
        "properties": {
            "postId": {"type": "string"},
            "limit": {"type": "integer", "default": 20, "minimum": 1, "maximum": 100},
            "format": {"type": "string", "enum": ["concise", "full"], "default": "concise"},
            "patch": {"type": "object"},
            "edits": {
                "type": "array",
                "description": "At most a few.",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"position": {"type": "integer"}, "props": {"type": "object"}},
                },
            },
            "agentId": {"type": "string"},
        },
        "required": ["postId"],
        "additionalProperties": False,
    }


class Lenient(BaseModel):
    """Arguments whose author forgot to refuse what is unknown."""

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

    shown = wire_tool(tool)

    notes = shown.annotations
    assert notes is not None
    assert shown.title == notes.title == tool.title
    assert hints == (
        notes.read_only_hint, notes.destructive_hint, notes.idempotent_hint, notes.open_world_hint,
    )  # fmt: skip


def test_the_instructions_are_short_and_teach_the_lane() -> None:
    assert len(INSTRUCTIONS) <= 600
    assert "submit_ai_review_to_review" in INSTRUCTIONS


def test_all_registered_tools_fit_the_token_budget() -> None:
    autodiscover_modules("tools")

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


def test_names_suit_every_model_api() -> None:
    autodiscover_modules("tools")

    for tool in all_tools():
        assert re.fullmatch(r"[a-z][a-z0-9_]{1,39}", tool.name), tool.name
