"""The import command, called in this process."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

from tests.imports.command import call_import


def run(source: str, path: Path, **options: Any) -> str:
    """Return the output of `manage.py import`."""
    out = StringIO()
    call_import(source, str(path), stdout=out, stderr=out, **options)
    return out.getvalue()
