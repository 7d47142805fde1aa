"""An archive of SQLite, imported into PostgreSQL and exported again, has the same bytes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from content.models import Post
from proofroom.archive.services import import_archive
from tests import make
from tests.archive import site
from tests.commands import run_command
from tests.migrated import give_database

pytestmark = [pytest.mark.django_db, pytest.mark.services]


class SqliteSite:
    """A separate installation on SQLite, driven by its commands."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        give_database(folder)
        self._environment = {
            **os.environ,
            "CMS_DATA_DIR": str(folder),
            "DATABASE_URL": "",
            "REDIS_URL": "",
        }

    def run(self, *command: str) -> None:
        done = run_command(
            [sys.executable, "manage.py", *command], env=self._environment, timeout=240
        )
        assert done.returncode == 0, done.stderr


def test_sample_content_of_sqlite_has_the_same_bytes_on_postgresql(
    tmp_path: Path, variants_later: None
) -> None:
    first = SqliteSite(tmp_path / "first")
    first.run("seed")
    first.run("export", str(tmp_path / "first.zip"), "--revisions")
    archive = (tmp_path / "first.zip").read_bytes()

    with (tmp_path / "first.zip").open("rb") as source:
        report = import_archive(source=source, actor=make.actor("admin"))

    assert report.counts["posts"]["created"] == Post.objects.count() > 30
    assert report.counts["drafts"]["created"] > 0
    assert site.export(revisions=True) == archive
