"""An archive has the same bytes on SQLite and on PostgreSQL, whichever of the two had the content first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from content.models import Post
from proofroom.archive.imports import import_archive
from proofroom.shared_content.models import SharedProposal
from proofroom.shared_content.proposals import propose_change
from proofroom.taxonomies.models import Term
from proofroom.taxonomies.services import edited_term
from proofroom.taxonomies.shared_kind import TermKind
from tests import make
from tests.archive import site
from tests.migrated import ROOT, give_database

pytestmark = [pytest.mark.django_db, pytest.mark.services]


class SqliteSite:
    """An installation of its own on SQLite, whose commands are run as an operator runs them."""

    def __init__(self, folder: Path, factory: pytest.TempPathFactory) -> None:
        folder.mkdir()
        give_database(folder, factory)
        self._environment = {
            **os.environ,
            "CMS_DATA_DIR": str(folder),
            "DATABASE_URL": "",
            "REDIS_URL": "",
            "DJANGO_SUPERUSER_PASSWORD": "correct horse battery",
        }

    def run(self, *command: str) -> None:
        done = subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=ROOT,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_sample_content_goes_from_sqlite_to_postgresql_and_back(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, variants_later: None
) -> None:
    first = SqliteSite(tmp_path / "first", tmp_path_factory)
    first.run("seed")
    first.run("export", str(tmp_path / "first.zip"), "--revisions")
    archive = (tmp_path / "first.zip").read_bytes()

    with (tmp_path / "first.zip").open("rb") as source:
        report = import_archive(source=source, actor=make.actor("admin"))

    assert report.counts["posts"]["created"] == Post.objects.count() > 30
    assert report.counts["drafts"]["created"] > 0
    assert site.export(revisions=True) == archive

    (tmp_path / "second.zip").write_bytes(site.export(revisions=True))
    back = SqliteSite(tmp_path / "back", tmp_path_factory)
    back.run("createsuperuser", "--noinput", "--username", "admin", "--email", "admin@example.com")
    back.run("import", "archive", str(tmp_path / "second.zip"))
    back.run("export", str(tmp_path / "back.zip"), "--revisions")
    assert (tmp_path / "back.zip").read_bytes() == archive


def test_content_of_postgresql_goes_to_sqlite_and_comes_back(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    site.fill()
    term = Term.objects.get()
    make.post("Zürich – straße, İstanbul", excerpt="Ä\u2028ö \U0001f600 \u00e9 e\u0301")
    propose_change(
        kind=TermKind(),
        row_id=term.pk,
        document=edited_term(term, name="Kaffee & Röstung"),
        actor=make.actor("editor"),
        expected_version=None,
        expected_proposal=None,
    )
    archive = site.export(revisions=True)
    (tmp_path / "site.zip").write_bytes(archive)

    other = SqliteSite(tmp_path / "other", tmp_path_factory)
    other.run("createsuperuser", "--noinput", "--username", "admin", "--email", "admin@example.com")
    other.run("import", "archive", str(tmp_path / "site.zip"))
    other.run("export", str(tmp_path / "other.zip"), "--revisions")
    assert (tmp_path / "other.zip").read_bytes() == archive

    site.empty()
    assert not SharedProposal.objects.exists()
    with (tmp_path / "other.zip").open("rb") as source:
        import_archive(source=source, actor=make.actor("admin"))
    assert site.export(revisions=True) == archive
