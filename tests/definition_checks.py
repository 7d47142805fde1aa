"""The messages of `manage.py check` about definitions."""

from __future__ import annotations

from django.core.checks import run_checks


def definition_errors() -> list[str]:
    """Return the messages of all errors in definitions."""
    return [error.msg for error in run_checks(tags=["definitions"])]
