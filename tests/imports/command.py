"""The command `import`."""

from __future__ import annotations

from typing import Any

from django.core.management import CommandError, call_command

INCOMPLETE = 3


def call_import(*arguments: str, **options: Any) -> None:
    """Run the command. Items that failed are for the caller to find in the report, unless no post came in."""
    try:
        call_command("import", *arguments, **options)
    except CommandError as error:
        if error.returncode != INCOMPLETE:
            raise
