"""System checks: a broken workflow file is an error that names file, field and reason."""

from __future__ import annotations

from collections.abc import Sequence

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, register

from webhooks.automation import definitions


@register("definitions")
def check_workflows(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: object
) -> list[CheckMessage]:
    """Every problem of every workflow file."""
    # A check looks at the files of now, not at what was read when the process started.
    definitions.reload()
    return [
        Error(
            f"{problem.file}: {problem.field}: {problem.reason}",
            hint="Mend the file. Until then its workflow is left out.",
            id="webhooks.E001",
        )
        for problem in definitions.catalogue().problems
    ]
