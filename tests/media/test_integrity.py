"""Comparison of rows and storage: missing, unknown, and pending files."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.utils import timezone

from media import file_store, integrity, tasks
from media.integrity import check
from media.models import Asset, FileCheck, StoredFile
from proofroom.core.progress import CallCancelled, follow_progress
from tests import make
from tests.conftest import RunOnCommit
from tests.media.pictures import on_disk, picture, store

pytestmark = pytest.mark.django_db


def path(name: object) -> Path:
    return Path(django_settings.MEDIA_ROOT) / str(name)


def put(name: str) -> None:
    path(name).parent.mkdir(parents=True, exist_ok=True)
    path(name).write_bytes(b"x")


def told(*arguments: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("check_media", *arguments, stdout=out)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue()
    return 0, out.getvalue()


def test_an_empty_storage_is_whole() -> None:
    assert (check().checked, check().is_whole) == (0, True)
    assert told()[0] == 0


def test_what_is_whole_is_counted() -> None:
    store(picture("PNG", (9, 9)))
    store(b"%PDF-1.7 x %%EOF")

    found = check()

    assert (found.checked, found.missing, found.orphaned) == (5, [], [])
    code, text = told()
    assert code == 0
    assert "checked:  5\n" in text
    assert "No problems found." in text


def test_missing_files_and_sizes_are_named() -> None:
    asset, other = store(picture("PNG", (9, 9))), store(b"%PDF-1.7 x %%EOF")
    for name in (asset.variants["small"], other.file.name):
        path(name).unlink()

    found = check()

    wanted = sorted(
        [(str(asset.pk), asset.variants["small"]), (str(other.pk), str(other.file.name))]
    )
    assert sorted(found.missing) == wanted
    assert (found.missing_count, found.orphaned_count, found.checked) == (2, 0, 5)
    only = check(asset.pk)
    assert (only.checked, only.missing) == (4, [(str(asset.pk), asset.variants["small"])])
    code, text = told("--id", str(asset.pk))
    assert code == 1
    assert f"missing:  {asset.variants['small']} (of {asset.pk})" in text


def test_files_without_a_row_are_named_however_deep() -> None:
    asset = store(picture("PNG", (9, 9)))
    beside = str(asset.file.name).replace(".png", "-x.png")
    for name in (beside, "loose.jpg", "a/b/c.txt"):
        put(name)

    found = check()

    assert sorted(found.orphaned) == sorted([beside, "loose.jpg", "a/b/c.txt"])
    code, text = told("--json")
    assert code == 1
    assert json.loads(text)["isWhole"] is False
    assert sorted(json.loads(text)["orphaned"]) == sorted(found.orphaned)
    assert told("--missing")[0] == 0
    path(asset.file.name).unlink()
    code, text = told("--missing")
    assert (code, "orphaned" in text, "missing" in text) == (1, False, True)


@pytest.mark.usefixtures("variants_later")
def test_a_folder_that_cannot_be_listed_hides_no_other_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    closed, gone = store(picture("PNG", (9, 9))), store(picture("PNG", (8, 8)))
    path(gone.file.name).unlink()
    put("lost/and.txt")
    put("orphan/of.txt")
    listdir = default_storage.listdir
    folder = str(closed.file.name).partition("/")[0]

    def failing(name: str) -> tuple[list[str], list[str]]:
        if name in (folder, "lost"):
            raise PermissionError(13, "Permission denied")
        return listdir(name)

    monkeypatch.setattr(default_storage, "listdir", failing)

    found = check()

    assert found.missing == [(str(gone.pk), str(gone.file.name))]
    assert found.orphaned == ["orphan/of.txt"]
    assert found.checked == 2
    assert "cannot list folder 'lost' of the storage" in caplog.text


def test_what_is_on_its_way_or_kept_for_a_while_is_neither() -> None:
    store(picture("PNG", (9, 9)))  # its sizes are still to be made
    file_store.reserve(["zz/being-written.png"])
    put("zz/being-written.png")
    file_store.reserve(["zz/not-yet-written.png"])

    assert check().is_whole


@pytest.mark.usefixtures("variants_later")
def test_a_process_killed_between_file_and_row_leaves_a_known_file(monkeypatch) -> None:
    def killed(*given: object, **more: object) -> None:
        raise SystemExit

    monkeypatch.setattr(Asset, "save", killed)
    monkeypatch.setattr(
        file_store, "discard", lambda name: None
    )  # nothing runs in a killed process
    with pytest.raises(SystemExit):
        store(picture("PNG", (9, 9)))

    (file,) = on_disk()
    assert not Asset.objects.exists()
    row = StoredFile.objects.get()
    assert path(row.name) == file
    assert row.due_at is not None
    assert check().is_whole
    assert file_store.delete_due_files() == 0  # not while it may still be written
    StoredFile.objects.update(due_at=timezone.now())
    assert tasks.delete_files() == 1
    assert on_disk() == []
    assert not StoredFile.objects.exists()


def test_only_the_first_findings_are_kept(monkeypatch) -> None:
    monkeypatch.setattr(integrity, "MAX_FILES_LISTED", 3)
    for number in range(5):
        put(f"{number}.jpg")

    found = check()

    assert (len(found.orphaned), found.orphaned_count) == (3, 5)
    assert "and 2 more" in told()[1]


def test_what_is_no_id_is_said() -> None:
    with pytest.raises(CommandError, match="'x' is not the ID of a file"):
        call_command("check_media", "--id", "x")


def test_a_check_is_done_by_a_worker_and_kept(run_on_commit: RunOnCommit) -> None:
    put("loose.jpg")

    with run_on_commit():
        integrity.request_check(actor=make.actor("editor"))
        assert integrity.request_check(actor=make.actor("editor")) == FileCheck.objects.get()
        assert FileCheck.objects.get().finished_at is None

    done = FileCheck.objects.get()
    assert done.finished_at is not None
    assert (done.orphaned_count, done.orphaned, done.missing) == (1, ["loose.jpg"], [])
    assert tasks.check_files() == 0
    for _ in range(30):
        integrity.request_check(actor=make.actor("editor"))
        tasks.check_files()
    assert FileCheck.objects.count() <= 21


class _Following:
    """A follower that cancels a check after some folders."""

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self.told: list[tuple[float, float | None, str]] = []

    def report(self, done: float, total: float | None, message: str) -> None:
        self.told.append((done, total, message))

    def check(self) -> None:
        self.patience -= 1
        if self.patience < 0:
            raise CallCancelled


def test_a_check_tells_how_far_it_has_come_and_stops_when_it_is_cancelled() -> None:
    for name in ("aa/x.bin", "bb/y.bin"):
        put(name)
    whole, hasty = _Following(patience=100), _Following(patience=2)

    with follow_progress(whole):
        assert check().orphaned == ["aa/x.bin", "bb/y.bin"]
    with follow_progress(hasty), pytest.raises(CallCancelled):
        check()

    assert whole.told == [(number, 3, "0 files checked") for number in range(3)]
    assert hasty.told == whole.told[:2]
