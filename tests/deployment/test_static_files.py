"""Static files after `collectstatic`: hashed, compressed, importing each other by hashed names."""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles.finders import get_finders

from proofroom.core.diagnostics.doctor import static_files
from tests.commands import run_command

IMPORT = re.compile(
    r"""(?m)^(?:import|export)\b(?:[^;"']*\bfrom)?\s*["'](\.[^"']+)["']|\bimport\(["'](\.[^"']+)"""
)
URL = re.compile(r"""url\(["']?(?!data:|#)([^"')]+)""")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("data")
    manage(data, "collectstatic", "--noinput")
    return data / "static"


def manage(data: Path, *command: str) -> str:
    done = run_command(
        [sys.executable, "manage.py", *command],
        env={**os.environ, "CMS_DATA_DIR": str(data), "DATABASE_URL": "", "REDIS_URL": ""},
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def names(folder: Path) -> dict[str, str]:
    """Return the hashed name of every file."""
    paths: dict[str, str] = json.loads((folder / "staticfiles.json").read_text())["paths"]
    return paths


def test_every_file_has_a_hashed_name_and_a_compressed_copy(
    folder: Path, names: dict[str, str]
) -> None:
    found = {path for finder in get_finders() for path, _ in finder.list([])}
    assert names.keys() == found
    assert all(re.search(r"\.[0-9a-f]{12}\.\w+$|\.[0-9a-f]{12}$", name) for name in names.values())
    script = folder / names["cms/editor/editor.js"]
    assert (
        gzip.decompress(script.with_name(f"{script.name}.gz").read_bytes()) == script.read_bytes()
    )
    assert script.with_name(f"{script.name}.br").exists()


def test_files_lead_to_each_other_by_their_hashed_names(
    folder: Path, names: dict[str, str]
) -> None:
    hashed = set(names.values())
    followed = 0
    for name, made in names.items():
        if not name.endswith((".js", ".css")) or name.startswith("rest_framework/"):
            continue
        text = (folder / made).read_text()
        pattern = IMPORT if name.endswith(".js") else URL
        # Code in comments is not executed.
        lines = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
        for found in pattern.finditer(lines):
            target = next(group for group in found.groups() if group).partition("#")[0]
            path = os.path.normpath(Path(made).parent / target)
            assert path in hashed, f"{name} leads to {target}"
            followed += 1
    assert followed > 80


def test_pages_name_the_hashed_files_once_they_are_collected(
    folder: Path, names: dict[str, str]
) -> None:
    script = "from django.templatetags.static import static; print(static('cms/track.js'), static('cms/newer.js'))"

    said = manage(folder.parent, "shell", "-v", "0", "-c", script)

    assert said.split() == [f"/static/{names['cms/track.js']}", "/static/cms/newer.js"]


def test_the_doctor_knows_whether_they_were_collected(folder: Path, settings: Any) -> None:
    settings.STATIC_ROOT = folder
    (found,) = static_files()
    assert (found.level, found.found) == ("ok", "collected, with hashed names")

    with (folder / "cms/track.js").open("a") as script:
        script.write("// older")
    (found,) = static_files()
    assert (found.level, found.found) == (
        "warn",
        "1 changed since they were collected, such as cms/track.js",
    )

    settings.STATIC_ROOT = folder / "nowhere"
    (found,) = static_files()
    assert (found.level, found.found) == ("ok", "served from where they lie")
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"database_url": "postgresql://h/n"})
    (found,) = static_files()
    assert (found.level, found.found[:14]) == ("warn", "not collected:")


def test_files_have_their_own_names_where_nothing_was_collected(tmp_path: Path) -> None:
    script = "from django.templatetags.static import static; print(static('cms/track.js'))"

    assert manage(tmp_path, "shell", "-v", "0", "-c", script).strip() == "/static/cms/track.js"
