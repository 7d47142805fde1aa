"""A file from a stranger is refused with a sentence, and leaves nothing behind."""

from __future__ import annotations

import hashlib
import json
from io import BytesIO
from pathlib import Path
from unittest.mock import patch
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from django.conf import settings

from content.models import Post
from media.models import Asset, StoredFile
from proofroom.archive.container import ArchiveError
from proofroom.core.errors import NotAllowed
from proofroom.core.models import Event
from tests import make
from tests.archive import site

pytestmark = pytest.mark.django_db


@pytest.fixture
def archive() -> bytes:
    site.fill()
    made = site.export()
    site.empty()
    Event.objects.all().delete()
    return made


def files() -> set[Path]:
    root = Path(settings.MEDIA_ROOT)
    return {path for path in root.rglob("*") if path.is_file()} if root.exists() else set()


def refuses(archive: bytes, sentence: str) -> None:
    before = files()
    with pytest.raises(ArchiveError, match=sentence):
        site.bring(archive)
    assert not Post.objects.exists()
    assert not Asset.objects.exists()
    assert not StoredFile.objects.exists()
    assert not Event.objects.filter(name__startswith="post.").exists()
    assert files() == before


def with_rows(archive: bytes, name: str, *changes) -> bytes:
    """The archive with rows that were changed, and a manifest that agrees."""
    with ZipFile(BytesIO(archive)) as file:
        rows = [json.loads(line) for line in file.read(name).splitlines()]
        manifest = json.loads(file.read("manifest.json"))
    for change in changes:
        change(rows)
    content = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    manifest["files"][name] = {
        "rows": len(rows),
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    return site.rewrite(
        archive,
        **{name.replace(".", "_"): content, "manifest_json": json.dumps(manifest).encode()},
    )


def manifest_with(archive: bytes, **values: object) -> bytes:
    with ZipFile(BytesIO(archive)) as file:
        manifest = json.loads(file.read("manifest.json"))
    return site.rewrite(archive, manifest_json=json.dumps(manifest | values).encode())


def test_what_is_no_archive(archive):
    refuses(b"no zip at all", "cannot be read as a ZIP")
    refuses(archive[: len(archive) // 2], "cannot be read as a ZIP")
    refuses(site.rewrite(archive, manifest_json=None), "no manifest")
    refuses(site.rewrite(archive, manifest_json=b"{"), "manifest of the archive is damaged")
    refuses(manifest_with(archive, format="other"), "not a Proofroom archive")
    refuses(manifest_with(archive, version=99), "format version 99")


def test_paths_doubles_and_bombs(archive):
    outside = BytesIO(archive)
    with ZipFile(outside, "a") as file:
        file.writestr("../../etc/passwd", b"x")
    refuses(outside.getvalue(), "unexpected file: '../../etc/passwd'")
    twice = BytesIO(archive)
    with ZipFile(twice, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("posts.jsonl", b"")
    refuses(twice.getvalue(), "'posts.jsonl' twice")
    bomb = BytesIO(archive)
    with ZipFile(bomb, "a", ZIP_DEFLATED) as file:
        file.writestr("bomb.jsonl", b"0" * 20_000_000)
    refuses(bomb.getvalue(), "compression ratio")


def test_checksums_and_counts(archive):
    refuses(site.rewrite(archive, posts_jsonl=b""), "checksum of posts.jsonl")
    with ZipFile(BytesIO(archive)) as file:
        media = next(name for name in file.namelist() if name.startswith("media/"))
        other = BytesIO()
        with ZipFile(other, "w") as new:
            for name in file.namelist():
                new.writestr(name, b"changed" if name == media else file.read(name))
    refuses(other.getvalue(), "checksum of")
    unknown = BytesIO(archive)
    with ZipFile(unknown, "a") as file:
        file.writestr("spells.jsonl", b"")
    refuses(unknown.getvalue(), "do not match: spells.jsonl")


def edit_post(**values: object):
    return lambda rows: rows[0].update(values)


def edit_field(name: str, value: object):
    def change(rows):
        rows[0]["document"]["post"][name] = value

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (edit_post(id="../etc"), "is not valid: id"),
        (edit_post(extra=1), "is not valid: extra"),
        (edit_post(version="1"), "is not valid: version"),
        (edit_post(locale="xx"), "not a language|another type or language"),
        (edit_post(createdAt="yesterday"), "is not valid: createdAt"),
        (edit_field("title", ""), "title is required"),
        (edit_field("title", "\u0000"), "NUL"),
        (edit_field("spell", 1), "no post field named 'spell'"),
        (edit_field("slug", "../admin"), "slug"),
        (edit_field("canonicalUrl", "javascript:alert(1)"), "canonicalUrl"),
        (lambda rows: rows.append(rows[0]), "conflicts with itself"),
        (
            lambda rows: rows[-1].update(variationOf="9f0d7c2e-0000-4000-8000-000000000000"),
            "original",
        ),
    ],
)
def test_rows_of_posts(archive, change, sentence):
    refuses(with_rows(archive, "posts.jsonl", change), sentence)


def test_a_global_module_that_is_nowhere(archive):
    refuses(with_rows(archive, "global-modules.jsonl", list.clear), "global module 'newsletter'")


def test_an_address_in_a_menu_is_checked_as_in_the_admin(archive):
    def change(rows):
        rows[0]["items"] = [{"label": "x", "type": "custom", "url": "javascript:alert(1)"}]

    refuses(with_rows(archive, "menus.jsonl", change), "items.0.url")


def test_files_go_away_again_where_the_database_fails(archive):
    with patch("proofroom.archive.imports._store", side_effect=RuntimeError("gone")):
        before = files()
        with pytest.raises(RuntimeError):
            site.bring(archive)
    assert files() == before
    assert not StoredFile.objects.exists()


def test_only_who_manages_settings_may(archive):
    from proofroom.archive.export import export_archive
    from proofroom.archive.imports import import_archive

    for actor in (make.actor("editor"), make.agent_actor()):
        with pytest.raises(NotAllowed):
            import_archive(source=BytesIO(archive), actor=actor)
        with pytest.raises(NotAllowed):
            export_archive(target=BytesIO(), actor=actor)
    assert not Post.objects.exists()


def test_a_parent_that_is_nowhere_is_refused_in_every_row(archive):
    with ZipFile(BytesIO(archive)) as file:
        number = len(file.read("posts.jsonl").splitlines())
    assert number > 3
    for at in range(number):

        def change(rows, at=at):
            rows[at]["document"]["post"]["parentId"] = "9f0d7c2e-0000-4000-8000-000000000000"

        refuses(with_rows(archive, "posts.jsonl", change), "parentId: No post has the id")
