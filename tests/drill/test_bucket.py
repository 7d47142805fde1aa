"""The backup of a bucket in docs/how-to/store-media-in-a-bucket.md, word for word, with an S3 server here."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.deployment.test_bucket import bucket
from tests.deployment.written import DOCS, ROOT, script
from tests.drill.site_record import ADD_APP, SampleSite, upload
from tests.make import PASSWORD
from tests.migrated import give_database
from tests.receiver import serving
from tests.served import environ, prepare, served

pytestmark = [
    pytest.mark.drill,
    pytest.mark.skipif(shutil.which("aws") is None, reason="awscli is not installed"),
]
PAGE: Final = DOCS / "how-to/store-media-in-a-bucket.md"
MAKE_PEOPLE: Final = (
    f'from tests import make\nmake.user("admin"), make.user("translator")\n{ADD_APP}'
)
DELETE_DUE_FILES: Final = "from media.file_store import delete_due_files\nassert delete_due_files()"


@dataclass
class BucketSite:
    folder: Path
    data: Path
    bucket: Any

    def run(self, commands: str) -> str:
        """Return the output of commands, which must succeed, in a folder with `manage.py`."""
        done = subprocess.run(
            ["/bin/sh", "-euc", commands], cwd=self.folder, env=environ(self.data),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, f"{commands}\n{done.stdout}"
        return done.stdout

    def files(self) -> dict[str, tuple[bytes, str, str]]:
        """Return content, type and caching of each file."""
        found = {}
        for item in self.bucket.objects.all():
            answer = item.get()
            content = answer["Body"].read()
            found[item.key] = (content, answer["ContentType"], answer["CacheControl"])
        return found


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BucketSite]:
    with bucket() as (address, made):
        variables = {
            "MEDIA_STORAGE": "s3",
            "MEDIA_S3_BUCKET": "pictures",
            "MEDIA_S3_PUBLIC_URL": f"{address}/pictures",
            "MEDIA_S3_ENDPOINT": address,
            "MEDIA_S3_REGION": "us-east-1",
            "MEDIA_S3_ACCESS_KEY_ID": "id",
            "MEDIA_S3_SECRET_ACCESS_KEY": "key",
            # The command `aws` has its own.
            "AWS_ENDPOINT_URL": address,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "id",
            "AWS_SECRET_ACCESS_KEY": "key",
            "BACKUP_BUCKET": "copies",
            "OUTGOING_ALLOWED_HOSTS": "127.0.0.1",
        }
        made.meta.client.create_bucket(Bucket="copies")
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        folder, data = tmp_path / "proofroom", tmp_path / "data"
        folder.mkdir()
        data.mkdir()
        (folder / "manage.py").symlink_to(ROOT / "manage.py")
        give_database(data)
        prepare(data, MAKE_PEOPLE)
        yield BucketSite(folder, data, made)


def copy_database(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(source)) as read, closing(sqlite3.connect(target)) as written:
        read.backup(written)


def test_files_of_a_bucket_come_back(site: BucketSite) -> None:
    site.run(script(PAGE, "## Back up"))
    with serving() as receiver, served(site.data) as origin:
        sample = SampleSite(origin, PASSWORD, has_worker=False)
        sample.fill(receiver)
        person = sample.person()
        asset = upload(person, 3, "WEBP")
        before = site.files()
        copy_database(site.data / "cms.sqlite3", site.data.parent / "before.sqlite3")
        site.run(script(PAGE, "## Back up", 1))
        with sample.program() as program:
            assert program.delete(f"/api/media/{asset}").is_success
    prepare(site.data, DELETE_DUE_FILES)
    assert len(site.files()) < len(before)
    copy_database(site.data.parent / "before.sqlite3", site.data / "cms.sqlite3")

    assert "No problems found." in site.run(script(PAGE, "## Bring back deleted files"))
    assert site.files() == before

    site.bucket.object_versions.delete()
    site.bucket.delete()
    site.bucket.create()
    said = site.run(script(PAGE, "## Bring back deleted files", 1))
    assert "No problems found." in said
    assert site.files() == before
