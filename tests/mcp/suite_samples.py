"""The registrations required by the official conformance suite, as far as possible. In the tests' server only."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import Field

from mcp_bridge.protocol import prompts, resources
from mcp_bridge.protocol.prompts import BRIEF, Argument, Prompt
from mcp_bridge.protocol.resources import ResourceSource
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed
from proofroom.core.json import JsonObject
from proofroom.core.progress import report
from proofroom.core.tools import Arguments, NoArguments, tool
from proofroom.core.tools import registry as tools

PROMPTS = (
    Prompt("test_simple_prompt", "Simple", "Takes nothing.", {}, "A simple prompt for testing."),
    Prompt(
        "test_prompt_with_arguments",
        "With arguments",
        "Takes two.",
        {"arg1": Argument(BRIEF, "The first"), "arg2": Argument(BRIEF, "The second")},
        "Prompt with arguments: {arg1} {arg2}",
    ),
)
TEXT = ResourceSource("test://static-text", "static-text", "Text", "Plain.", "test_simple_text")
WATCHED = ResourceSource(
    "test://watched-resource", "watched", "Watched", "Followed.", "test_simple_text"
)
TEMPLATE = ResourceSource(
    "test://template/{id}/data", "template", "Template", "Filled.", "test_template_data", "id"
)


class Region(Arguments):
    region: str = Field(json_schema_extra={"x-mcp-header": "Region"})


class Filled(Arguments):
    id: str


def _register() -> None:
    @tool(title="Text", kind="read", permission="", group="sample")
    def test_simple_text(actor: Actor, arguments: NoArguments) -> JsonObject:
        """Answer a text."""
        return {"text": "This is a simple text response for testing."}

    @tool(title="Template", kind="read", permission="", group="sample")
    def test_template_data(actor: Actor, arguments: Filled) -> JsonObject:
        """Answer what the address holds."""
        return {"id": arguments.id, "data": f"Data for ID: {arguments.id}"}

    @tool(title="Error", kind="read", permission="", group="sample")
    def test_error_handling(actor: Actor, arguments: NoArguments) -> JsonObject:
        """Refuse."""
        raise NotAllowed("This tool intentionally returns an error for testing.")

    @tool(
        title="Progress",
        kind="read",
        permission="",
        group="sample",
        waits=True,
    )
    def test_tool_with_progress(actor: Actor, arguments: NoArguments) -> JsonObject:
        """Report three steps."""
        for done in (0, 50, 100):
            report(done, 100)
            time.sleep(0.02)
        return {"done": True}

    @tool(title="Header", kind="read", permission="", group="sample")
    def test_x_mcp_header(actor: Actor, arguments: Region) -> JsonObject:
        """Take an argument that travels in a header too."""
        return {"region": arguments.region}


_NAMES = (
    "test_simple_text",
    "test_template_data",
    "test_error_handling",
    "test_tool_with_progress",
    "test_x_mcp_header",
)


@contextmanager
def registered() -> Iterator[None]:
    """Register the samples for the block."""
    fixed, templates = resources.FIXED, resources.TEMPLATES
    _register()
    prompts.PROMPTS.update({prompt.name: prompt for prompt in PROMPTS})
    resources.FIXED, resources.TEMPLATES = (*fixed, TEXT, WATCHED), (*templates, TEMPLATE)
    try:
        yield
    finally:
        resources.FIXED, resources.TEMPLATES = fixed, templates
        for prompt in PROMPTS:
            del prompts.PROMPTS[prompt.name]
        for name in _NAMES:
            del tools._tools[name]
