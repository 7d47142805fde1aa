"""The base class of importers of posts, terms, files and menus, for the command and the admin."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proofroom.core.actor import Actor
from proofroom_apps.imports.content_source import ContentSource
from proofroom_apps.imports.item_runs import execute_items, run_command
from proofroom_apps.imports.models import ImportRun
from proofroom_apps.imports.registry import Importer, Output


class ContentImporter(ContentSource, Importer):
    """An importer of posts, terms, files and menus with dry run, report, resuming and an admin page."""

    has_preview = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--type", default="", help=f"The post type (default: {self.default_type})."
        )
        parser.add_argument("--locale", default="", help="The language of the posts.")
        parser.add_argument(
            "--name", default="", help="A name for the source, to distinguish several of one kind."
        )
        parser.add_argument(
            "--site", default="", help="The address where the source was published."
        )
        parser.add_argument("--media", default="", metavar="DIR", help="The folder with the files.")
        parser.add_argument(
            "--no-fetch",
            dest="fetch",
            action="store_false",
            default=True,
            help="Do not fetch files from other sites.",
        )
        parser.add_argument(
            "--live",
            action="store_true",
            help="Change existing posts live instead of in Review.",
        )
        if self.has_mapping:
            parser.add_argument(
                "--mapping",
                default="",
                metavar="FILE",
                help="A JSON file that maps fields to columns.",
            )

    def run_command(
        self, *, path: Path, actor: Actor, options: Mapping[str, Any], out: Output, err: Output
    ) -> None:
        run_command(self, path=path, actor=actor, options=options, out=out, err=err)

    def require_rights(self, actor: Actor, options: Mapping[str, Any]) -> None:
        actor.require("posts.create")
        if options.get("live"):
            actor.require("posts.edit")

    def execute(self, run: ImportRun, path: Path, actor: Actor, *, ends: float) -> None:
        execute_items(run, self, path, actor, tell=None, ends=ends)
