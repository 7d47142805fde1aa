"""The demo for developers: every process starts again when its code changes, and errors show traces."""

from __future__ import annotations

import shlex

from django.conf import settings

from proofroom.core.management.commands import demo
from proofroom.core.process_runner import Program


class Command(demo.Command):
    help = "Run the demo with reload and DEBUG."
    is_forking = False  # what a watcher starts again has to load the code anew

    def environ(self) -> dict[str, str]:
        return {**super().environ(), "DEBUG": "1"}

    def programs(self) -> list[Program]:
        """The demo's programs, each under a watcher of the project's folders."""
        ignored = {"var", "tests", "docs", "frontend", "node_modules"}
        folders = [
            str(folder)
            for folder in sorted(settings.BASE_DIR.iterdir())
            if folder.is_dir() and not folder.name.startswith(".") and folder.name not in ignored
        ]
        return [
            Program(
                program.name,
                "watchfiles",
                ("--filter", "python", shlex.join(program.command), *folders),
            )
            for program in super().programs()
        ]
