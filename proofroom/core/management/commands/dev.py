"""The demo for developers: processes restart when code changes, and errors show tracebacks."""

from __future__ import annotations

import shlex

from django.conf import settings

from proofroom.core.management.commands import demo
from proofroom.core.process_runner import Program


class Command(demo.Command):
    help = "Run the demo with reload and DEBUG."
    is_forking = False  # a restarted process must import the changed code

    def environ(self) -> dict[str, str]:
        return {**super().environ(), "DEBUG": "1"}

    def programs(self) -> list[Program]:
        """Return the demo's programs, each restarted by a watcher of the project's folders."""
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
