"""Files written by `proofroom new`. `tests/deployment/test_own_project.py` tries all of them with a wheel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

import pytest
from django.apps import apps
from django.core.management import CommandError

from proofroom_apps.starter import command_line
from proofroom_apps.starter.command_line import PRODUCT_LABELS, TEMPLATE, create_project
from tests.commands import run_command

ROOT = Path(__file__).resolve().parents[2]
MODEL = """
from django.db import models


class StockItem(models.Model):
    sku = models.CharField(max_length=40)
"""


def new_project(folder: Path, name: str = "shop") -> None:
    with patch("proofroom_apps.starter.command_line.product_version", return_value="0.1.0"):
        create_project(name, folder)


def test_only_the_name_and_the_version_are_filled_in(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    new_project(folder)

    def expected(file: Path) -> str:
        text = file.read_text(encoding="utf-8")
        return text.replace("{{ project_name }}", "shop").replace("{{ product_version }}", "0.1.0")

    files = {
        str(file.relative_to(TEMPLATE))
        .replace("project_name", "shop")
        .replace(".py-tpl", ".py"): expected(file)
        for file in TEMPLATE.rglob("*")
        if file.is_file()
    }
    written = {
        str(file.relative_to(folder)): file.read_text(encoding="utf-8")
        for file in folder.rglob("*")
        if file.is_file()
    }
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert written.pop("requirements.lock") == lock
    assert written == files
    assert "You are {{agent}}." in written["shop/agents/headline-writer.md"]


def test_the_wheel_that_the_command_came_from_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / "proofroom-0.1.0+g12-py3-none-any.whl"
    wheel.touch()
    record = json.dumps({"url": wheel.as_uri(), "archive_info": {}})
    monkeypatch.setattr(command_line, "distribution", lambda name: Installed(record))
    new_project(tmp_path / "site")
    monkeypatch.setattr(command_line, "distribution", lambda name: Installed(None))
    new_project(tmp_path / "other")

    assert (tmp_path / "site/wheels" / wheel.name).exists()
    assert [file.name for file in (tmp_path / "other/wheels").iterdir()] == ["README.md"]


@dataclass
class Installed:
    """An installed distribution with this direct_url.json."""

    record: str | None

    def read_text(self, name: str) -> str | None:
        return self.record if name == "direct_url.json" else None


@pytest.mark.parametrize("folder", [TEMPLATE, ROOT])
def test_images_hold_nothing_that_git_ignores(folder: Path) -> None:
    def names(file: str) -> set[str]:
        lines = (folder / file).read_text().splitlines()
        return {line.strip("/*!") for line in lines if line and not line.startswith("#")}

    assert {".env", ".git", ".venv", "var"} <= names(".dockerignore")
    assert names(".gitignore") <= names(".dockerignore")


@pytest.mark.parametrize(
    "name",
    ["class", "None", "My_Hotel", "my-hotel", "2day", "hôtel", "_site", "tests", "run", "manage", "media",
     "auth", "account", "proofroom_menus", "json", ""],
)  # fmt: skip
def test_a_name_that_no_site_can_have_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError):
        new_project(tmp_path / "site", name)
    assert not (tmp_path / "site").exists()


def test_labels_of_apps_that_no_package_is_called_by_are_known() -> None:
    labels = {config.label for config in apps.get_app_configs()}
    not_importable = {label for label in labels if find_spec(label) is None}
    assert not_importable - PRODUCT_LABELS == {
        label for label in labels if label.startswith("proofroom_")
    }


def test_the_check_of_a_new_project_sees_models_without_migrations(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    new_project(folder)
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "CMS_DATA_DIR": str(tmp_path / "data")}
    variables["DJANGO_SETTINGS_MODULE"] = "shop.settings"
    words = [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"]

    def check() -> subprocess.CompletedProcess[str]:
        return run_command(words, cwd=folder, env=variables, timeout=120)

    assert check().returncode == 0
    (folder / "shop/models.py").write_text(MODEL)
    said = check()
    assert said.returncode == 1
    assert "StockItem" in said.stdout
