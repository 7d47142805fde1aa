"""Code that a test runs in separate processes on one database; some of them are killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.commands import run_command


def run_script(code: str, database: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Return the output of a process that ran the code after Django's start, with the data folder `folder`."""
    return run_command(
        [sys.executable, "-c", f"import django\ndjango.setup()\n{code}"],
        env={
            **os.environ,
            "CMS_DATA_DIR": str(folder),
            "DATABASE_URL": database,
            "DJANGO_SETTINGS_MODULE": "cms_project.settings",
        },
        timeout=300,
    )
