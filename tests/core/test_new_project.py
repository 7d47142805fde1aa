"""What `proofroom new` writes. `tests/deployment/test_own_project.py` tries all of it with a wheel."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

from proofroom.command_line import create_project

ROOT = Path(__file__).resolve().parents[2]
MODEL = """
from django.db import models


class StockItem(models.Model):
    sku = models.CharField(max_length=40)
"""


def test_the_check_of_a_new_project_sees_models_without_migrations(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    with patch("proofroom.command_line.version", return_value="0.1.0"):
        create_project("shop", folder)
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "CMS_DATA_DIR": str(tmp_path / "data")}
    variables["DJANGO_SETTINGS_MODULE"] = "shop.settings"
    words = [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"]

    def check() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=folder,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    assert check().returncode == 0
    (folder / "shop/models.py").write_text(MODEL)
    said = check()
    assert said.returncode == 1
    assert "StockItem" in said.stdout
