"""An SQLite file with all tables, created once per test run, because migrating takes longer than most tests."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NAME = "cms.sqlite3"


def give_database(folder: Path, factory: pytest.TempPathFactory) -> None:
    """Copy a freshly migrated database into a data folder without one."""
    base = factory.getbasetemp()
    # Parallel processes have separate folders below the run's folder.
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "migrated"
    shared.mkdir(exist_ok=True)
    with (shared / "making").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "made").exists():
            _migrate(shared)
            (shared / "made").touch()
    shutil.copyfile(shared / NAME, folder / NAME)


def _migrate(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity=0", "--skip-checks"],
        cwd=ROOT,
        env={**os.environ, "CMS_DATA_DIR": str(folder), "DATABASE_URL": "", "REDIS_URL": ""},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not (folder / f"{NAME}-wal").exists(), "the file is not whole yet"
