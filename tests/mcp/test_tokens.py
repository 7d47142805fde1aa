"""The size of the tool list in every conversation, counted by a tokenizer of current models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from proofroom.core.tools import all_tools
from proofroom.core.tools.schemas import lean_schema
from tests.mcp.npm import node

pytestmark = pytest.mark.clients

OF_ALL: Final = 6_500
OF_ONE: Final = 150
WITH_MANY_ARGUMENTS: Final = {
    "create_post_ai_review": 245,
    "create_translation_ai_review": 160,
    "generate_image": 155,
    "list_posts": 160,
}
COUNT: Final = """
import { readFileSync } from "node:fs";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
const texts = JSON.parse(readFileSync(process.argv[1]));
console.log(JSON.stringify(texts.map((text) => countTokens(text))));
"""


def tokens(texts: list[str], folder: Path) -> list[int]:
    file = folder / "texts.json"
    file.write_text(json.dumps(texts))
    done = node("--input-type=module", "-e", COUNT, str(file))
    assert done.returncode == 0, done.stderr
    counted: list[int] = json.loads(done.stdout)
    return counted


def test_all_tools_stay_within_their_budget_of_tokens(tmp_path: Path) -> None:
    shown = [
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": lean_schema(tool.arguments),
        }
        for tool in all_tools()
    ]
    texts = [
        json.dumps(item, separators=(",", ":"), ensure_ascii=False) for item in (shown, *shown)
    ]

    of_all, *of_each = tokens(texts, tmp_path)

    assert len(shown) == 65
    assert of_all < OF_ALL
    by_name = {tool.name: count for tool, count in zip(all_tools(), of_each, strict=True)}
    too_long = {
        name: count
        for name, count in by_name.items()
        if count > WITH_MANY_ARGUMENTS.get(name, OF_ONE)
    }
    assert too_long == {}
