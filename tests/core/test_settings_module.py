"""Servers of the product in the folder of a project."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cms_project.settings_module import find_project_settings
from tests.commands import run_command
from tests.core.test_new_project import ROOT, new_project

ENTRY_POINTS = {
    "wsgi": ["-c", "import cms_project.wsgi"],
    "asgi": ["-c", "import cms_project.asgi"],
    "celery": ["-m", "celery", "-A", "cms_project", "report"],
    "manage": [str(ROOT / "manage.py"), "check"],
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("projects") / "site"
    new_project(folder)
    return folder


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_the_product_alone_is_not_served_in_the_folder_of_a_project(
    entry_point: str, project: Path, tmp_path: Path
) -> None:
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "CMS_DATA_DIR": str(tmp_path)}
    variables.pop("DJANGO_SETTINGS_MODULE", None)
    words = [sys.executable, *ENTRY_POINTS[entry_point]]

    refused = run_command(words, cwd=project, env=variables, timeout=120)

    assert refused.returncode != 0
    assert "Set DJANGO_SETTINGS_MODULE=shop.settings" in refused.stdout + refused.stderr


def test_the_product_is_served_there_when_it_is_named(project: Path, tmp_path: Path) -> None:
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "CMS_DATA_DIR": str(tmp_path)}
    for name in ("cms_project.settings", "shop.settings"):
        code = "import cms_project.wsgi; from django.conf import settings; print(settings.ROOT_URLCONF)"
        done = run_command(
            [sys.executable, "-c", code],
            cwd=project,
            env={**variables, "DJANGO_SETTINGS_MODULE": name},
            timeout=120,
        )
        assert done.stdout.strip() == name.replace("settings", "urls"), done.stderr


def test_a_project_is_found_by_its_settings(project: Path, tmp_path: Path) -> None:
    assert find_project_settings(project) == "shop.settings"
    assert find_project_settings(ROOT) is None
    assert find_project_settings(tmp_path) is None


def test_a_project_without_manage_py_is_found_by_pyproject(tmp_path: Path) -> None:
    new_project(tmp_path / "site")
    (tmp_path / "site" / "manage.py").unlink()
    assert find_project_settings(tmp_path / "site") == "shop.settings"


def test_another_django_project_is_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / "manage.py").write_text(
        'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "blog.settings")'
    )
    (tmp_path / "blog").mkdir()
    (tmp_path / "blog" / "settings.py").write_text("DEBUG = False\n")
    assert find_project_settings(tmp_path) is None
