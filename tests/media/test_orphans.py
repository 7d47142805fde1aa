"""Unknown files are deleted on request, and only if unchanged since the check."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.test import Client

from media import file_store, integrity
from media.integrity import check
from media.models import FileCheck, StoredFile
from media.services import orphans
from media.services.orphans import delete_orphans
from proofroom.core.errors import Conflict, NotAllowed, RuleViolation
from proofroom.core.models import Event
from tests import make
from tests.conftest import RunOnCommit
from tests.media.pictures import on_disk, picture, store

pytestmark = pytest.mark.django_db


def path(name: object) -> Path:
    return Path(django_settings.MEDIA_ROOT) / str(name)


def put(*names: str) -> None:
    """Store old files."""
    for name in names:
        path(name).parent.mkdir(exist_ok=True)
        path(name).write_bytes(b"x")
        os.utime(path(name), (1_700_000_000, 1_700_000_000))


def checked() -> None:
    FileCheck.objects.create()
    integrity.run_checks()


def test_files_that_nothing_knows_are_deleted_on_request_and_looked_at_again(
    client: Client, run_on_commit: RunOnCommit
) -> None:
    store(picture("PNG", (9, 9)))
    put("loose.jpg", "known.jpg", "other.jpg")
    put("\udcff.jpg", "\udcff/deep.jpg")  # bytes that are no text
    path("young.jpg").write_bytes(b"x")
    checked()
    file_store.reserve(["known.jpg"])  # it is being written by now
    client.force_login(make.user("editor"))

    page = client.get("/admin/media/asset/check/orphans/").content.decode()
    listed = [f'name="names" value="{name}"' in page for name in ("loose.jpg", "young.jpg")]
    assert "?/deep.jpg" in client.get("/admin/media/asset/check/").content.decode()
    with run_on_commit():
        names = ["loose.jpg", "young.jpg", "known.jpg"]
        client.post("/admin/media/asset/check/orphans/", {"names": names})

    assert listed == [True, False]
    assert (path("loose.jpg").exists(), path("other.jpg").exists()) == (False, True)
    assert path("young.jpg").exists()
    assert path("known.jpg").exists()
    event = Event.objects.get(name="media.orphans.deleted")
    assert (event.actor_name, event.payload) == ("editor", {"names": ["loose.jpg"]})
    left = FileCheck.objects.get()
    assert path("\udcff.jpg").exists()
    assert (left.orphaned_count, "loose.jpg" in left.orphaned) == (5, False)
    assert check().missing_count == 0


def test_only_what_the_check_lists_is_deleted_and_by_a_person_who_may() -> None:
    asset = store(picture("PNG", (9, 9)))
    put("loose.jpg")
    checked()
    before = on_disk()

    for names, by, error in (
        (["loose.jpg"], make.actor("translator"), NotAllowed),
        (["loose.jpg"], make.mcp_actor("admin"), NotAllowed),
        (["loose.jpg", str(asset.file.name)], make.actor("editor"), Conflict),
        (["../loose.jpg"], make.actor("editor"), Conflict),
        (["loose.jpg\x00"], make.actor("editor"), Conflict),
        ([], make.actor("editor"), RuleViolation),
        ([f"{number}.jpg" for number in range(51)], make.actor("editor"), RuleViolation),
    ):
        with pytest.raises(error):
            delete_orphans(names=names, actor=by)

    assert on_disk() == before
    assert FileCheck.objects.get().orphaned == ["loose.jpg"]
    assert not StoredFile.objects.filter(name="loose.jpg").exists()


def test_what_came_into_use_while_it_was_looked_at_stays(
    monkeypatch: pytest.MonkeyPatch, run_on_commit: RunOnCommit
) -> None:
    asset = store(picture("PNG", (9, 9)))
    put("loose.jpg")
    checked()
    look = orphans._look

    def taken_meanwhile(name: str) -> orphans.Orphan:
        StoredFile.objects.create(name=name, asset=asset)
        return look(name)

    monkeypatch.setattr(orphans, "_look", taken_meanwhile)
    with run_on_commit():
        delete_orphans(names=["loose.jpg"], actor=make.actor("editor"))

    assert path("loose.jpg").exists()
    assert StoredFile.objects.get(name="loose.jpg").due_at is None
