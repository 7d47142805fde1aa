"""Exports that repeat: when they are due, where archives go, how many stay, and what happens when one fails."""

from __future__ import annotations

import os
import zipfile
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from proofroom.core.background_jobs.models import JobState
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.models import Event
from proofroom.notifications.models import Notification
from proofroom.notifications.queries import describe
from proofroom.notifications.services import add_notifications
from proofroom_apps.imports.export_runs import open_export
from proofroom_apps.imports.export_schedules import (
    delete_schedule,
    next_time,
    save_schedule,
    start_due_exports,
)
from proofroom_apps.imports.models import ExportSchedule, ImportChunk, ImportRun
from proofroom_apps.imports.runs import IMPORT_RUNS, delete_expired_files
from tests import make

pytestmark = pytest.mark.django_db
ZONE = ZoneInfo("Europe/Berlin")


def schedule(role: str = "admin", **values: Any) -> ExportSchedule:
    return save_schedule(actor=make.actor(role), values={"name": "Nightly", **values})


def make_due(row: ExportSchedule) -> None:
    ExportSchedule.objects.filter(pk=row.pk).update(next_at=timezone.now() - timedelta(minutes=1))


def export_now(row: ExportSchedule) -> ImportRun:
    """Let the schedule be due, and do what the worker does."""
    make_due(row)
    assert start_due_exports() == 1
    run = row.runs.latest("created_at")
    IMPORT_RUNS.execute(run.pk)
    run.refresh_from_db()
    return run


@pytest.fixture
def folder(settings: Any, tmp_path: Path) -> Path:
    path = tmp_path / "exports"
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"export_folder": path})
    return path


@pytest.mark.parametrize(
    ("values", "after", "expected"),
    [
        ({"hour": 3}, (2026, 5, 6, 2, 59), (2026, 5, 6, 3)),
        ({"hour": 3}, (2026, 5, 6, 3, 0), (2026, 5, 7, 3)),
        ({"every": "week", "weekday": 0, "hour": 3}, (2026, 5, 6, 12, 0), (2026, 5, 11, 3)),
        ({"every": "week", "weekday": 2, "hour": 13}, (2026, 5, 6, 12, 0), (2026, 5, 6, 13)),
        ({"every": "week", "weekday": 2, "hour": 3}, (2026, 5, 6, 12, 0), (2026, 5, 13, 3)),
        # The clocks change in the night of 29 March 2026.
        ({"hour": 5}, (2026, 3, 28, 12, 0), (2026, 3, 29, 5)),
    ],
)
def test_the_next_time_is_by_the_clock_of_the_site(
    values: dict[str, Any], after: tuple[int, ...], expected: tuple[int, ...], settings: Any
) -> None:
    settings.TIME_ZONE = str(ZONE)
    # The time zone of the person who saves it does not count.
    with timezone.override("Asia/Tokyo"):
        found = next_time(ExportSchedule(**values), datetime(*after, tzinfo=ZONE))  # type: ignore[misc]  # parts

    assert (*found.timetuple()[:4],) == expected


def test_a_due_export_is_made_once_and_can_be_downloaded() -> None:
    post = make.post("Brewing")
    row = schedule()
    assert start_due_exports() == 0

    run = export_now(row)

    assert run.state == JobState.DONE
    content = b"".join(open_export(run, make.actor("admin")))
    assert str(post.pk) in zipfile.ZipFile(BytesIO(content)).read("posts.jsonl").decode()
    row.refresh_from_db()
    assert row.next_at is not None
    assert row.next_at > timezone.now()
    assert start_due_exports() == 0


def test_older_archives_of_the_schedule_are_deleted(
    django_capture_on_commit_callbacks: Any,
) -> None:
    row, other = schedule(keep=2), schedule(name="Other", keep=1)
    with django_capture_on_commit_callbacks(execute=True):
        kept = export_now(other)
        runs = [export_now(row) for _number in range(3)]
    delete_expired_files()

    assert not ImportChunk.objects.filter(run=runs[0]).exists()
    assert all(ImportChunk.objects.filter(run=one).exists() for one in (*runs[1:], kept))


def test_archives_of_a_schedule_outlive_those_of_a_person() -> None:
    row = schedule()
    run = export_now(row)
    ImportRun.objects.filter(pk=run.pk).update(ended_at=timezone.now() - timedelta(days=30))
    delete_expired_files()
    assert ImportChunk.objects.filter(run=run).exists()

    delete_schedule(schedule_id=row.pk, actor=make.actor("admin"))
    delete_expired_files()
    assert not ImportChunk.objects.filter(run=run).exists()


def test_archives_go_to_the_folder_and_only_own_files_are_deleted(
    folder: Path, django_capture_on_commit_callbacks: Any
) -> None:
    row = schedule(target="folder", keep=2)
    folder.mkdir()
    stem = f"export-{row.pk.hex[:12]}"
    old = [folder / f"{stem}-2020-01-0{day}-0300.zip" for day in (1, 2)]
    foreign = [folder / "backup.zip", folder / "export-aaaaaaaaaaaa-2020-01-01-0300.zip"]
    for path in (*old, *foreign):
        path.write_bytes(b"old")

    with django_capture_on_commit_callbacks(execute=True):
        run = export_now(row)

    assert run.state == JobState.DONE
    assert zipfile.is_zipfile(folder / run.name)
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [*(path.name for path in foreign), old[1].name, run.name]
    )
    assert not ImportChunk.objects.exists()


def test_unfinished_files_of_killed_workers_are_removed(folder: Path) -> None:
    row = schedule(target="folder")
    folder.mkdir()
    old, new, foreign = (folder / name for name in (".export-old", ".export-new", "export-old"))
    for path in (old, new, foreign):
        path.write_bytes(b"part")
    long_ago = (timezone.now() - timedelta(days=2)).timestamp()
    for path in (old, foreign):
        os.utime(path, (long_ago, long_ago))

    run = export_now(row)

    assert run.state == JobState.DONE
    assert {path.name for path in folder.iterdir()} == {new.name, foreign.name, run.name}


def test_a_failure_is_recorded_for_administrators(folder: Path) -> None:
    row = schedule(target="folder")
    folder.write_text("a file in its place")
    make_due(row)

    assert start_due_exports() == 0

    event = Event.objects.get(name="archive.export-failed")
    add_notifications([event])
    [told] = Notification.objects.filter(kind="archive.export-failed")
    assert told.user == make.user("admin")
    [line] = describe([told], make.actor("admin"))
    assert line.text.text == "The scheduled export “Nightly” failed"
    assert event.payload["name"] == "Nightly"
    assert "folder for exports" in event.payload["why"]
    row.refresh_from_db()
    assert row.next_at is not None
    assert row.next_at > timezone.now()


def test_a_schedule_that_cannot_be_read_blocks_no_other() -> None:
    broken, other = schedule(), schedule(name="Other")
    ExportSchedule.objects.filter(pk=broken.pk).update(options={"unknown": 1})
    make_due(broken)
    make_due(other)

    assert start_due_exports() == 1

    event = Event.objects.get(name="archive.export-failed")
    assert event.payload["name"] == "Nightly"
    assert other.runs.count() == 1
    broken.refresh_from_db()
    assert broken.next_at is not None
    assert broken.next_at > timezone.now()


def test_a_run_that_fails_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    row = schedule()
    monkeypatch.setattr("proofroom_apps.imports.export_runs.MAX_BYTES", 1)

    run = export_now(row)

    assert run.state == JobState.FAILED
    event = Event.objects.get(name="archive.export-failed")
    assert event.payload["runId"] == str(run.pk)


def test_it_runs_with_the_rights_that_its_owner_has_then() -> None:
    row = schedule()
    user = make.user("admin")
    user.role = "editor"
    user.save()
    make_due(row)

    assert start_due_exports() == 0
    assert Event.objects.filter(name="archive.export-failed").exists()
    assert not ImportRun.objects.exists()


def test_one_that_is_off_or_running_starts_none() -> None:
    row = schedule(is_active=False)
    assert row.next_at is None
    row = save_schedule(actor=make.actor("admin"), values={"is_active": True}, schedule_id=row.pk)
    make_due(row)
    assert start_due_exports() == 1
    make_due(row)
    assert start_due_exports() == 0


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"hour": 24}, "hour"),
        ({"weekday": 7}, "weekday"),
        ({"keep": 0}, "keep"),
        ({"keep": 13}, "keep"),
        ({"every": "hour"}, "every"),
        ({"target": "cloud"}, "target"),
        ({"target": "folder"}, "target"),
        ({"name": ""}, "name"),
    ],
)
def test_wrong_values_are_refused(values: dict[str, Any], field: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        schedule(**values)

    assert set(refused.value.details) == {field}
    assert not ExportSchedule.objects.exists()


def test_names_are_unique_and_only_administrators_may() -> None:
    schedule()
    with pytest.raises(RuleViolation, match="has this name"):
        schedule()
    with pytest.raises(NotAllowed):
        schedule("editor", name="Mine")
    with pytest.raises(NotAllowed):
        delete_schedule(schedule_id=ExportSchedule.objects.get().pk, actor=make.actor())


def test_the_admin_creates_and_changes_one(signed_in: Any) -> None:
    client = signed_in("admin")
    place = "/admin/proofroom_imports/exportschedule/"
    form = {
        "name": "Weekly", "every": "week", "weekday": "4", "hour": "22", "target": "site", "keep": "5",
        "is_active": "on", "locales": ["en"],
    }  # fmt: skip

    assert client.post(f"{place}add/", form).status_code == 302
    row = ExportSchedule.objects.get()
    assert (row.every, row.weekday, row.hour, row.keep) == ("week", 4, 22, 5)
    assert row.options["locales"] == ["en"]
    assert "Friday, 22:00" in client.get(place).content.decode()

    del form["is_active"]
    assert client.post(f"{place}{row.pk}/change/", form).status_code == 302
    row.refresh_from_db()
    assert row.next_at is None
    assert client.post(f"{place}{row.pk}/delete/").status_code == 302
    assert not ExportSchedule.objects.exists()
    assert signed_in("editor").get(place).status_code == 403
