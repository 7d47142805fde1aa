"""All processes work with a read-only root file system, as deploy/compose.yaml and deploy/kubernetes run them.

They may write to the data folder and to an empty `/tmp`. It needs root and Linux.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import ROOT
from tests.migrated import give_database
from tests.ports import free_port

pytestmark = [
    pytest.mark.drill,
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("unshare") is None, reason="it takes root and unshare"
    ),
]
SEALED = """
mount --bind "$DATA" /mnt
mount -o remount,ro,bind /
mount -t tmpfs none /tmp
for folder in . / "$HOME" /var/tmp; do
    ! touch "$folder/written" 2>/dev/null || { echo "$folder is not read-only"; exit 1; }
done
exec "$0" manage.py demo
"""


def test_the_processes_write_only_to_the_data_folder_and_tmp(tmp_path: Path) -> None:
    give_database(tmp_path)
    environ = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DATABASE_URL", "REDIS_URL")
    }
    environ |= {
        "DATA": str(tmp_path),
        "CMS_DATA_DIR": "/mnt",
        "PORT": str(free_port()),
        "MCP_PORT": str(free_port()),
    }
    process = subprocess.Popen(
        ["unshare", "--mount", "sh", "-ec", SEALED, sys.executable],
        cwd=ROOT,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    lines: list[str] = []
    try:
        for line in process.stdout:
            lines.append(line)
            if "Ready in" in line:
                break
    finally:
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=120)

    said = "".join(lines) + rest
    assert "Ready in" in said, said
    assert "Read-only file system" not in said
    assert process.returncode == 0, said
    assert list((tmp_path / "media").rglob("*.jpg"))
