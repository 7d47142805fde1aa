"""Optional arguments sent as null or empty ids count as absent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args
from uuid import UUID, uuid4

import orjson
import pytest
from pydantic import BaseModel

from agents_app.runs.suggestion import FieldSuggestion, SuggestedModuleEdit, Suggestion
from content.models import Post
from proofroom.core.errors import RuleViolation
from proofroom.core.tools import Arguments
from proofroom.core.tools.call import call_raw, drop_omitted, parse_arguments
from proofroom.core.tools.registry import Tool, all_tools, get_tool
from proofroom.core.tools.schemas import lean_schema
from tests import make

KNOWN: dict[str, Any] = {
    "string": "text",
    "integer": 1,
    "object": {"a": 1},
    "array": ["text"],
    "boolean": True,
}


def tool_named(name: str) -> Tool[BaseModel]:
    found = get_tool(name)
    assert found is not None
    return found


def least_arguments(tool: Tool[BaseModel]) -> dict[str, Any]:
    """Return the required arguments of a tool with valid values."""
    schema = lean_schema(tool.arguments)
    given: dict[str, Any] = {}
    for name in schema.get("required", ()):
        field = next(
            field
            for own, field in tool.arguments.model_fields.items()
            if name in (own, field.alias)
        )
        node = schema["properties"][name]
        # Also one id or a list of them.
        if field.annotation is UUID or UUID in get_args(field.annotation):
            given[name] = str(uuid4())
        elif tool.name == "save_posts_ai_review":
            given[name] = [{"post": "text", "patch": {}}]
        else:
            given[name] = node["enum"][0] if "enum" in node else KNOWN[node.get("type", "string")]
    return given


def optional_arguments() -> Iterator[Any]:
    for tool in all_tools():
        schema = lean_schema(tool.arguments)
        for name in schema["properties"]:
            if name not in schema.get("required", ()):
                yield pytest.param(tool, name, id=f"{tool.name}-{name}")


def parsed(tool: Tool[BaseModel], raw: dict[str, Any]) -> tuple[BaseModel, set[str]]:
    found = parse_arguments(tool, raw)
    return found, found.model_fields_set


@pytest.mark.parametrize(("tool", "name"), optional_arguments())
def test_null_is_as_if_the_argument_were_absent(tool: Tool[BaseModel], name: str) -> None:
    least = least_arguments(tool)

    assert parsed(tool, {**least, name: None}) == parsed(tool, least)


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        param
        for param in optional_arguments()
        if str(param.values[1]).endswith("Id") or param.values[1] in ("format", "limit")
    ],
)
def test_an_empty_id_number_or_choice_is_as_if_it_were_absent(
    tool: Tool[BaseModel], name: str
) -> None:
    least = least_arguments(tool)

    assert parsed(tool, {**least, name: ""}) == parsed(tool, least)


def test_an_empty_text_stays() -> None:
    tool = tool_named("create_post_ai_review")

    found = parse_arguments(tool, {"type": "blog", "title": "T", "excerpt": ""})

    assert found.model_dump(exclude_unset=True)["excerpt"] == ""


@pytest.mark.parametrize("name", ["type", "title"])
def test_a_required_argument_is_required(name: str) -> None:
    given = {"type": "blog", "title": "T"}

    with pytest.raises(RuleViolation, match=name):
        parse_arguments(tool_named("create_post_ai_review"), {**given, name: None})


@pytest.mark.django_db
def test_null_within_an_edit_of_a_new_post_is_absent() -> None:
    edit = {"type": "prose", "orderIndex": 1, "contentMarkdown": "Words"}

    answer = orjson.loads(
        call_raw(
            tool_named("create_post_ai_review"),
            make.mcp_actor(),
            {
                "type": "blog",
                "title": "T",
                "moduleGroupId": "",
                "moduleEdits": [{**edit, "postModuleId": "", "props": None}],
            },
        ).body
    )

    [applied] = answer["appliedModuleEdits"]
    assert applied == {"ok": True, "postModuleId": answer["seededModules"][1]["postModuleId"]}


def test_null_within_an_object_is_absent_where_its_keys_are_declared() -> None:
    class Inner(Arguments):
        name: str
        number: int = 1
        parent_id: UUID | None = None
        free: dict[str, Any] = {}

    class Outer(Arguments):
        items: list[Inner] = []
        one: Inner | None = None

    inner = {"name": "", "number": None, "parentId": "", "free": {"kept": None}}
    clean = {"name": "", "free": {"kept": None}}

    assert drop_omitted(Outer, {"items": [inner], "one": inner}) == {
        "items": [clean],
        "one": clean,
    }


@pytest.mark.django_db
def test_null_in_a_patch_empties_the_field() -> None:
    post = make.post()
    make.edited(post, {"metaTitle": "Seen in searches"})
    tool = tool_named("save_post_ai_review")

    call_raw(
        tool,
        make.mcp_actor(),
        {"postId": str(post.pk), "patch": {"metaTitle": None}, "expectedVersion": None},
    )

    layers = make.layers(Post.objects.get(pk=post.pk))
    assert layers.ai_review.document.fields["metaTitle"] is None
    assert layers.live.fields["metaTitle"] == "Seen in searches"


def test_null_in_an_answer_of_a_model_is_absent() -> None:
    answer = {"post": {"excerpt": "N", "metaTitle": None}, "module": None, "modules": None}

    read = Suggestion.model_validate({**answer, "value": None, "declined": None})

    assert read == Suggestion(post={"excerpt": "N", "metaTitle": None})
    assert FieldSuggestion.model_validate({**answer, "value": None}).post == answer["post"]
    assert FieldSuggestion.model_validate({"value": None}).value is None
    edit = {"postModuleId": "", "props": {"title": None}, "overrides": None}
    assert SuggestedModuleEdit.model_validate(edit).props == {"title": None}


@pytest.mark.parametrize("answer", [{"title": "T"}, {"post": {}, "colour": "red"}])
def test_an_unknown_key_with_a_value_is_refused(answer: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Extra inputs"):
        Suggestion.model_validate(answer)
