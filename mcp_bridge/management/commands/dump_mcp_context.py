"""Writes the code-derived MCP context to a file."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from mcp_bridge.context import code_context


class Command(BaseCommand):
    help = (
        "Write post types, module schemas, taxonomies and tools, as the code defines them, as JSON."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--out", required=True, help="file to write; its folder must exist")

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["out"])
        context = code_context()
        text = json.dumps(context, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"Cannot write {path}: {error.strerror}") from error
        counts = ", ".join(f"{len(v)} {k}" for k, v in context.items() if isinstance(v, list))
        self.stderr.write(f"Wrote {path}: {counts}")
