from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy

from content.posts.markdown_import import import_folder
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from proofroom.imports.registry import Importer, Output


class MarkdownImporter(Importer):
    name = "markdown"
    label = gettext_lazy("Markdown")
    description = gettext_lazy("A folder of Markdown files with front matter.")

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--type", default="page", help="The post type (page).")
        parser.add_argument("--locale", default=settings.CMS_ENV.default_locale)

    def run_command(
        self, *, path: Path, actor: Actor, options: Mapping[str, Any], out: Output, err: Output
    ) -> None:
        if not path.is_dir():
            raise RuleViolation(f"{path} is no folder.")
        counts: Counter[str] = Counter()
        found = import_folder(path, type=options["type"], locale=options["locale"], actor=actor)
        for imported in found:
            counts[imported.outcome] += 1
            to = err if imported.outcome == "failed" else out
            to.write(f"{imported.outcome:8}{imported.file}: {imported.detail}")
