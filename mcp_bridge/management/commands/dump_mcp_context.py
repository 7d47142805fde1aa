"""`manage.py dump_mcp_context`: writes the context defined in code as JSON, and the table of tools in a page."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

from proofroom import definitions
from proofroom.core.json import JsonObject
from proofroom.core.tools import all_tools
from proofroom.core.tools.call import signature
from proofroom.core.tools.schemas import lean_schema, result_schema
from proofroom.definitions.step import describe_steps

BEGIN: Final = "<!-- tools: written by `manage.py dump_mcp_context --table` -->"
END: Final = "<!-- end of tools -->"
_KINDS: Final = {
    "read": "reads",
    "stage": "stages",
    "remove": "takes away",
    "open": "reaches outside",
}


def tool_table() -> str:
    """Return all registered tools as a Markdown table, by group."""
    rows = sorted(all_tools(), key=lambda tool: (tool.group, tool.name))
    lines = ["| tool | what it does | |", "|---|---|---|"]
    for tool in rows:
        text = tool.description.replace("|", "\\|")
        lines.append(f"| `{signature(tool)}` | {text} | {_KINDS[tool.kind]} |")
    return "\n".join(lines)


def replace_tool_table(page: str) -> str:
    """Return the page with the new table between its two marks. Raises `ValueError` without the marks."""
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page needs the lines {BEGIN!r} and {END!r}")
    return f"{head}{BEGIN}\n\n{tool_table()}\n\n{END}{tail}"


SCHEMA_VERSION = 1


def build_context() -> JsonObject:
    """Return post types, module groups, modules, taxonomies and tools, ordered by name.

    Deterministic for the same code, so that a dump shows a change of the contract as a diff.
    """
    return {
        "schemaVersion": SCHEMA_VERSION,
        "postTypes": [
            {
                "name": item.name,
                "label": item.label,
                "description": item.description,
                "hierarchical": item.hierarchical,
                "localized": item.localized,
                "urlPattern": item.url_pattern,
                "allowedModules": [
                    module.name for module in definitions.allowed_modules(item.name)
                ],
                "moduleGroups": [group.name for group in definitions.groups_of(item.name)],
                "defaultModuleGroup": item.default_module_group,
                "taxonomies": [
                    {"slug": use.slug, "maxSelections": use.max_selections}
                    for use in item.taxonomies
                ],
                "customFieldsSchema": item.custom_fields_schema(),
                **({"steps": describe_steps(item.steps)} if item.steps else {}),
            }
            for item in definitions.post_types
        ],
        "moduleGroups": [
            {
                "name": item.name,
                "label": item.label,
                "description": item.description,
                "postType": item.post_type,
                "modules": [
                    {"type": module.type, "scope": module.scope, "locked": module.locked}
                    for module in item.modules
                ],
            }
            for item in definitions.module_groups
        ],
        "modules": [
            {
                "name": item.name,
                "label": item.label,
                "description": item.description,
                "allowedScopes": list(item.allowed_scopes),
                "allowedPostTypes": list(item.allowed_post_types),
                "propsSchema": item.props_schema(),
                "defaultProps": item.default_props(),
                "aiGuidance": item.ai.as_json(),
            }
            for item in definitions.modules
        ],
        "taxonomies": [
            {
                "slug": item.name,
                "label": item.label,
                "description": item.description,
                "hierarchical": item.hierarchical,
                "freeTagging": item.free_tagging,
            }
            for item in definitions.taxonomies
        ],
        "tools": [
            {
                "name": item.name,
                "title": item.title,
                "description": item.description,
                "kind": item.kind,
                "group": item.group,
                "permission": item.permission,
                "inputSchema": lean_schema(item.arguments),
                "outputSchema": None if item.result is None else result_schema(item.result),
            }
            for item in all_tools()
        ],
    }


def context_text(context: JsonObject) -> str:
    """Return the context as the text of a file, byte for byte reproducible."""
    return json.dumps(context, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


class Command(BaseCommand):
    help = (
        "Write post types, module schemas, taxonomies and tools, as the code defines them, as JSON."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--out", required=True, help="file to write, or - for standard output")
        parser.add_argument("--table", help="a Markdown page whose table of tools to update")

    def handle(self, *args: Any, **options: Any) -> None:
        path, page = Path(options["out"]), options["table"]
        context = build_context()
        if options["out"] == "-":
            self.stdout.write(context_text(context), ending="")
            return
        try:
            path.write_text(context_text(context), encoding="utf-8")
            if page:
                path = Path(page)
                path.write_text(replace_tool_table(path.read_text("utf-8")), encoding="utf-8")
        except OSError as error:
            raise CommandError(f"Cannot write {path}: {error.strerror}") from error
        except ValueError as error:
            raise CommandError(f"Cannot write {path}: {error}") from error
        counts = ", ".join(f"{len(v)} {k}" for k, v in context.items() if isinstance(v, list))
        self.stderr.write(f"Wrote {options['out']}: {counts}")
