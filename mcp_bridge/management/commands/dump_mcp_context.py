"""Writes the code-derived MCP context to a file, or prints it."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from mcp_bridge.management.commands.dump_mcp_context import (
    build_context,
    context_text,
    replace_tool_table,
)


class Command(BaseCommand):
    help = (
        "Write post types, module schemas, taxonomies and tools, as the code defines them, as JSON."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--out", required=True, help="file to write, or - for the output")
        parser.add_argument("--table", help="a Markdown page whose table of tools to renew as well")

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
