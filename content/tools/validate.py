"""The tool that validates props and arguments without using them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from content.rules.references import PropsChange, check_props
from content.tools.arguments import with_finder
from content.tools.rich_text import stored_props
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import Json, JsonObject
from proofroom.core.tools import Arguments, Result, all_tools, get_tool, tool
from proofroom.core.tools.call import argument_errors, nearest
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom.definitions import find_module, modules, validate_props


class ValidatePayload(Arguments):
    type: str = Field(max_length=128, description="A module type, or the name of a tool.")
    props: dict[str, Any] = Field(description="Of a tool: its arguments.")


class Validated(Result):
    valid: bool
    errors: dict[str, list[str]]


@tool(
    title="Validate a payload",
    kind="read",
    permission="posts.view",
    group="diagnostics",
    result=Validated,
)
def validate_mcp_payload(actor: Actor, arguments: ValidatePayload) -> JsonObject:
    """Check props against a module type, or arguments against a tool, as staging would: errors by path. Runs and
    stages nothing."""
    actor.require_diagnosis("posts.view")
    name, props = arguments.type, arguments.props
    found = get_tool(name)
    if name in modules:
        errors = _of_module(name, props, actor)
    elif found is not None:
        errors = argument_errors(found, props) or _of_module_within(name, props, actor)
    else:
        raise _unknown(name)
    wire: dict[str, Json] = {**errors}
    return {"valid": not errors, "errors": wire}


def _of_module(name: str, props: Mapping[str, Json], actor: Actor) -> dict[str, list[str]]:
    try:
        reject_unstorable(props, "props")
        cleaned = validate_props(name, stored_props(name, props) or {})
        check_props(PropsChange(find_module(name).Props, {}, cleaned), actor=actor)
    except RuleViolation as error:
        return with_finder(error).details or {"props": [error.message]}
    return {}


def _of_module_within(name: str, given: Mapping[str, Any], actor: Actor) -> dict[str, list[str]]:
    """Return the errors of the props in the arguments of `add_module_to_post_ai_review`."""
    type_ = given.get("moduleType")
    if name != "add_module_to_post_ai_review":
        return {}
    if type_ not in modules:
        guess = nearest(str(type_)[:128], modules.names())
        hint = f" Did you mean {guess!r}?" if guess else ""
        return {"moduleType": [f"There is no module type {str(type_)[:80]!r}.{hint}"]}
    if given.get("globalSlug"):
        return {}
    return _of_module(str(type_), given.get("props") or {}, actor)


def _unknown(name: str) -> RuleViolation:
    tools = [one.name for one in all_tools()]
    guesses = [nearest(name, known) for known in (modules.names(), tools)]
    close = " or ".join(repr(guess) for guess in guesses if guess)
    hint = f"Did you mean {close}?" if close else "list_modules names the types of modules."
    return invalid(
        "type", f"{name[:80]!r} is no module type and no tool. {hint}", code="unknown_type"
    )
