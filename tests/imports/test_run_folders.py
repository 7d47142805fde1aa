"""Uploads are unpacked once for all turns of a run, and deleted afterwards."""

from __future__ import annotations

import shutil
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from content.models import Post
from proofroom.core.background_jobs.models import JobState
from proofroom_apps.imports import run_folders
from proofroom_apps.imports.archives import unpack
from proofroom_apps.imports.content_source import ImportOptions, Reader
from proofroom_apps.imports.importers.json_file import JsonImporter
from proofroom_apps.imports.importers.markdown import MarkdownImporter
from proofroom_apps.imports.models import ImportRun
from proofroom_apps.imports.run_source import RunSource
from proofroom_apps.imports.runs import IMPORT_RUNS, cancel_run, start_run
from proofroom_apps.imports.tasks import sweep_imports
from tests import make

pytestmark = pytest.mark.django_db(transaction=True)
PAGES = 4


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide a data folder, turns of one item, and no worker messages. Return the folder of runs."""
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(IMPORT_RUNS, "turn_seconds", 0.0)
    monkeypatch.setattr(IMPORT_RUNS, "send_later", lambda job_id: None)
    return tmp_path / "imports"


@pytest.fixture
def unpacked(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the folder of each unpacked archive."""
    found: list[Path] = []

    def counted(archive: Path, folder: Path) -> None:
        found.append(folder)
        unpack(archive, folder)

    monkeypatch.setattr(run_folders, "unpack", counted)
    return found


def started(importer: RunSource, upload: bytes, *, is_dry_run: bool = False) -> ImportRun:
    return start_run(
        actor=make.actor("editor"), importer=importer, name="docs.zip", options=importer.check_options({}),
        is_dry_run=is_dry_run, upload=iter([upload]),
    )  # fmt: skip


def archive() -> bytes:
    packed = BytesIO()
    with ZipFile(packed, "w") as opened:
        for number in range(PAGES):
            opened.writestr(f"docs/page-{number}.md", f"# Page {number}\n\nText")
    return packed.getvalue()


def take_turn(run: ImportRun) -> ImportRun:
    IMPORT_RUNS.execute(run.pk)
    run.refresh_from_db()
    return run


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_an_archive_is_unpacked_once_for_all_turns(folders: Path, unpacked: list[Path]) -> None:
    run = started(MarkdownImporter(), archive())

    left: list[list[str]] = []
    while run.is_running:
        take_turn(run)
        left.append(left_in(folders))

    assert (run.state, run.counts["posts"]) == (JobState.DONE, {"created": PAGES})
    assert len(left) > PAGES
    assert left == [*[[str(run.pk)]] * (len(left) - 1), []]
    assert len(unpacked) == 1


def test_a_worker_without_the_folder_makes_it_again(folders: Path, unpacked: list[Path]) -> None:
    run = started(MarkdownImporter(), archive())
    take_turn(run)

    shutil.rmtree(folders)
    while run.is_running:
        take_turn(run)

    assert (run.state, run.counts["posts"]) == (JobState.DONE, {"created": PAGES})
    assert len(unpacked) == 2
    assert left_in(folders) == []


def test_a_file_is_written_once_for_all_turns(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Path] = []
    make_folder = run_folders._make_folder

    def counted(folder: Path, run: ImportRun, importer: RunSource) -> None:
        written.append(folder)
        make_folder(folder, run, importer)

    monkeypatch.setattr(run_folders, "_make_folder", counted)
    run = started(JsonImporter(), b'[{"id": 1, "title": "One"}, {"id": 2, "title": "Two"}]')
    while run.is_running:
        take_turn(run)

    assert run.counts["posts"] == {"created": 2}
    assert written == [folders / str(run.pk)]
    assert left_in(folders) == []


def test_two_workers_unpack_at_once_and_read_one_folder(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = started(MarkdownImporter(), archive())
    others: list[Path] = []

    def overtaken(packed: Path, folder: Path) -> None:
        monkeypatch.setattr(run_folders, "unpack", unpack)
        others.append(run_folders.unpacked_upload(run, MarkdownImporter()))
        unpack(packed, folder)

    monkeypatch.setattr(run_folders, "unpack", overtaken)
    own = run_folders.unpacked_upload(run, MarkdownImporter())

    assert [own] == others
    assert len(list(own.iterdir())) == PAGES
    assert left_in(folders) == [str(run.pk)]


def test_nothing_is_left_of_a_cancelled_run(folders: Path) -> None:
    run = started(MarkdownImporter(), archive())
    take_turn(run)
    assert left_in(folders) == [str(run.pk)]

    cancel_run(run_id=run.pk, actor=make.actor("admin"))

    assert left_in(folders) == []
    take_turn(run)
    assert left_in(folders) == []


def test_a_run_that_is_cancelled_in_a_turn_ends_without_a_defect(
    folders: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run = started(MarkdownImporter(), archive())
    open_folder = MarkdownImporter.open

    def cancelled(self: MarkdownImporter, path: Path, options: ImportOptions) -> Reader:
        cancel_run(run_id=run.pk, actor=make.actor("admin"))
        (path / "page-1.md").read_text("utf-8")
        return open_folder(self, path, options)

    monkeypatch.setattr(MarkdownImporter, "open", cancelled)
    take_turn(run)

    assert (run.state, run.why) == (JobState.CANCELLED, "")
    assert not Post.objects.exists()
    assert left_in(folders) == []
    assert caplog.text == ""


def test_a_run_that_is_cancelled_while_it_is_unpacked_leaves_nothing(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = started(MarkdownImporter(), archive())

    def cancelled(packed: Path, folder: Path) -> None:
        content = packed.read_bytes()
        cancel_run(run_id=run.pk, actor=make.actor("admin"))
        # The worker continues to write where the folder was removed.
        folder.parent.mkdir()
        packed.write_bytes(content)
        unpack(packed, folder)

    monkeypatch.setattr(run_folders, "unpack", cancelled)
    take_turn(run)

    assert run.state == JobState.CANCELLED
    assert left_in(folders) == []


@pytest.mark.parametrize("content", [b"no archive", archive()[:-30]])
def test_nothing_is_left_of_a_damaged_archive(folders: Path, content: bytes) -> None:
    run = take_turn(started(MarkdownImporter(), content))

    assert run.state == JobState.FAILED
    assert "The archive cannot be read" in run.why
    assert left_in(folders) == []


def test_nothing_is_left_of_a_dry_run(folders: Path) -> None:
    run = started(MarkdownImporter(), archive(), is_dry_run=True)
    while run.is_running:
        take_turn(run)

    assert run.state == JobState.DONE
    assert run.chunks.exists()
    assert left_in(folders) == []


def test_the_sweep_removes_what_runs_left_on_this_machine(folders: Path) -> None:
    going_on, over, deleted = (started(MarkdownImporter(), archive()) for _number in range(3))
    for run in (going_on, over, deleted):
        take_turn(run)
    # Ended on another machine, or deleted; and a worker was killed while it unpacked.
    ImportRun.objects.filter(pk=over.pk).update(state=JobState.CANCELLED)
    deleted.delete()
    (folders / f"{over.pk}.killed").mkdir()
    (folders / f"{going_on.pk}.others").mkdir()
    (folders / "notes").mkdir()

    assert sweep_imports() == 2

    assert left_in(folders) == sorted([str(going_on.pk), f"{going_on.pk}.others", "notes"])
    assert sweep_imports() == 0
