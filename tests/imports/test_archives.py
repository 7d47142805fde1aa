"""Archives in the admin: compared, then proposed or published; exported, downloaded, and deleted after a day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from content.layers import open_layers
from content.models import Layer, ModuleInstance, Post, PostModule
from proofroom.archive.imports import ArchiveImport
from proofroom.archive.services import export_archive
from proofroom.core.background_jobs.models import JobState
from proofroom.core.models import Event
from proofroom_apps.imports import run_watch
from proofroom_apps.imports.export_runs import ExportOptions
from proofroom_apps.imports.models import ExportRun, ImportChunk, ImportLine, ImportRun
from proofroom_apps.imports.runs import IMPORT_RUNS, cancel_run, delete_expired_files, start_export
from tests import make
from tests.archive import site

pytestmark = pytest.mark.django_db(transaction=True)
IMPORT = "admin:proofroom_imports_importrun"
EXPORT = "admin:proofroom_imports_exportrun"


def client(role: str = "admin") -> Client:
    found = Client()
    found.force_login(make.user(role))
    return found


def files() -> set[Path]:
    return {path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()}


def compared(browser: Client, archive: bytes) -> ImportRun:
    file = SimpleUploadedFile("site.zip", archive)
    browser.post(f"{reverse(f'{IMPORT}_add')}?source=archive", {"file": file})
    run = ImportRun.objects.get()
    IMPORT_RUNS.execute(run.pk)
    run.refresh_from_db()
    return run


def page_of(run: ImportRun, kind: str = IMPORT) -> str:
    return reverse(f"{kind}_change", args=[run.pk])


def test_an_archive_is_compared_and_then_proposed() -> None:
    post = site.fill()
    make.post("Gone")
    archive = site.export()
    Post.objects.filter(title="Gone").delete()
    placed = PostModule.objects.values("instance")
    ModuleInstance.objects.filter(scope="local").exclude(pk__in=placed).delete()
    make.edited(post, {"excerpt": "Fast."})
    before = make.live_hash()
    browser = client()

    tried = compared(browser, archive)

    assert (tried.state, tried.why) == (JobState.DONE, "")
    assert tried.counts["posts"] == {"created": 1, "unchanged": 4, "updated": 1, "conflict": 1}
    assert make.live_hash() == before
    page = browser.get(page_of(tried)).content.decode()
    for text in (
        "Fast.",
        "Slowly.",
        "Excerpt",
        "is newer than the one in the archive",
        "Propose changes in Review",
    ):
        assert text in page
    assert "Gone" in browser.get(f"{page_of(tried)}?severity=created").content.decode()
    assert "Fast." not in browser.get(f"{page_of(tried)}?severity=created").content.decode()

    browser.post(page_of(tried), {"action": "propose"})
    run = ImportRun.objects.get(is_dry_run=False)
    IMPORT_RUNS.execute(run.pk)

    run.refresh_from_db()
    assert run.counts["posts"]["proposed"] == 1
    assert Post.objects.get(pk=post.pk).excerpt == "Fast."
    layers = open_layers(Post.objects.get(pk=post.pk))
    assert layers.review.document.fields["excerpt"] == "Slowly."
    assert Post.objects.get(title="Gone").status == "draft"
    assert ImportChunk.objects.count() == 0
    assert Event.objects.filter(name="archive.imported").count() == 1
    assert not Event.objects.filter(name="content.imported").exists()


def test_or_published() -> None:
    post = site.fill()
    archive = site.export()
    make.edited(post, {"excerpt": "Fast."})
    browser = client()
    tried = compared(browser, archive)

    browser.post(page_of(tried), {"action": "update"})
    IMPORT_RUNS.execute(ImportRun.objects.get(is_dry_run=False).pk)

    assert Post.objects.get(pk=post.pk).excerpt == "Slowly."


def test_existing_staged_changes_stay() -> None:
    post = site.fill()
    archive = site.export()
    make.edited(post, {"excerpt": "Fast.", "metaTitle": "Live"})
    make.staged(post, {"excerpt": "By an editor"}, layer=Layer.REVIEW)
    browser = client()
    tried = compared(browser, archive)
    assert "are waiting in Review" in ImportLine.objects.get(is_conflict=True).message

    browser.post(page_of(tried), {"action": "propose"})
    IMPORT_RUNS.execute(ImportRun.objects.get(is_dry_run=False).pk)

    fields = open_layers(Post.objects.get(pk=post.pk)).review.document.fields
    assert fields["excerpt"] == "By an editor"
    assert fields["metaTitle"] != "Live"


def test_a_damaged_archive_and_a_wrong_choice_store_nothing() -> None:
    site.fill()
    archive = site.export()
    site.empty()
    browser = client()
    tried = compared(browser, archive[: len(archive) // 2])
    assert tried.state == JobState.FAILED
    assert "cannot be read as a ZIP" in browser.get(page_of(tried)).content.decode()
    assert ImportChunk.objects.count() == 0
    ImportRun.objects.all().delete()

    tried = compared(browser, archive)
    browser.post(page_of(tried), {"action": "destroy"})
    assert ImportRun.objects.count() == 1
    answer = browser.post(
        f"{reverse(f'{IMPORT}_add')}?source=archive", {"file": SimpleUploadedFile("a.xml", b"x")}
    )
    assert answer.status_code == 422
    assert not Post.objects.exists()


def test_a_cancelled_import_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    site.fill()
    archive = site.export()
    site.empty()
    browser = client()
    monkeypatch.setattr(IMPORT_RUNS, "send_later", lambda job_id: None)
    tried = compared(browser, archive)
    browser.post(page_of(tried), {"action": "update"})
    run = ImportRun.objects.get(is_dry_run=False)
    monkeypatch.setattr(run_watch, "_INTERVAL", 0.0)
    before = files()
    find_people = ArchiveImport.find_people

    def cancelled(self: ArchiveImport) -> None:
        cancel_run(run_id=run.pk, actor=make.actor("admin"))
        find_people(self)

    monkeypatch.setattr(ArchiveImport, "find_people", cancelled)
    IMPORT_RUNS.execute(run.pk)

    run.refresh_from_db()
    assert run.state == JobState.CANCELLED
    assert not Post.objects.exists()
    assert files() == before


def test_an_export_is_made_downloaded_and_expires() -> None:
    make.post("One", type="page")
    make.post("Two", type="page", status="draft")
    browser = client()

    answer = browser.post(
        reverse(f"{EXPORT}_add"), {"sections": "/one", "published_only": "on", "locales": ["en"]}
    )

    run = ExportRun.objects.get()
    assert answer.headers["location"] == page_of(run, EXPORT)
    IMPORT_RUNS.execute(run.pk)
    run.refresh_from_db()
    assert (run.state, run.counts["posts"]) == (JobState.DONE, {"exported": 1})
    assert "Download archive" in browser.get(page_of(run, EXPORT)).content.decode()
    address = reverse(f"{EXPORT}_download", args=[run.pk])
    file = browser.get(address)
    content = file.getvalue()
    assert len(content) == run.size == int(file.headers["content-length"])
    assert "no-store" in file.headers["cache-control"]
    assert "attachment" in file.headers["content-disposition"]
    for role in ("editor", "translator"):
        assert client(role).get(address).status_code == 403
    assert browser.get(page_of(run)).status_code == 404, "an export is no import"

    ExportRun.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert browser.get(address).status_code == 404
    assert "has expired" in browser.get(page_of(run, EXPORT)).content.decode()
    delete_expired_files()
    assert ImportChunk.objects.count() == 0

    site.empty()
    site.bring(content)
    assert [post.title for post in Post.objects.all()] == ["One"]


def test_an_export_of_what_is_not_there_is_refused_at_its_field() -> None:
    answer = client().post(reverse(f"{EXPORT}_add"), {"posts": "nowhere"})

    assert answer.status_code == 422
    assert "No post has the ID, slug or address" in answer.content.decode()
    assert ExportRun.objects.count() == 0


def test_a_cancelled_export_keeps_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IMPORT_RUNS, "send_later", lambda job_id: None)
    browser = client()
    browser.post(reverse(f"{EXPORT}_add"), {})
    run = ExportRun.objects.get()
    assert "Cancel export" in browser.get(page_of(run, EXPORT)).content.decode()

    browser.post(page_of(run, EXPORT))
    IMPORT_RUNS.execute(run.pk)

    run.refresh_from_db()
    assert run.state == JobState.CANCELLED
    assert ImportChunk.objects.count() == 0


def exported_with(monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[ImportRun], None]) -> int:
    """Execute an export. Another worker does `meanwhile` during the first try. Return the number of tries."""
    monkeypatch.setattr(IMPORT_RUNS, "send_later", lambda job_id: None)
    run = start_export(actor=make.actor("admin"), name="a.zip", options=ExportOptions())
    tries: list[int] = []

    def export(**values: Any) -> Any:
        tries.append(len(tries))
        if len(tries) == 1:
            meanwhile(run)
        return export_archive(**values)

    monkeypatch.setattr("proofroom_apps.imports.export_runs.export_archive", export)
    IMPORT_RUNS.execute(run.pk)
    return len(tries)


def test_a_second_message_does_not_export_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = exported_with(monkeypatch, lambda run: IMPORT_RUNS.execute(run.pk))

    assert tries == 1
    assert ImportRun.objects.get().state == JobState.DONE
    assert ImportChunk.objects.exists()


@pytest.mark.parametrize("is_executed", [True, False])
def test_a_worker_that_was_late_changes_no_file_of_another(
    monkeypatch: pytest.MonkeyPatch, is_executed: bool
) -> None:
    written: list[int] = []

    def other_worker(run: ImportRun) -> None:
        ImportRun.objects.update(touched_at=timezone.now() - timedelta(hours=1))
        assert IMPORT_RUNS.resume_late() == 1
        if is_executed:
            IMPORT_RUNS.execute(run.pk)
        else:
            ImportRun.objects.update(stage=1, position=F("position") + 1)
            ImportChunk.objects.create(run=run, number=0, content=b"part")
        written.extend(ImportChunk.objects.values_list("pk", flat=True))

    exported_with(monkeypatch, other_worker)

    assert ImportRun.objects.get().state == (JobState.DONE if is_executed else JobState.RUNNING)
    assert [*ImportChunk.objects.values_list("pk", flat=True)] == written
    assert written


def test_the_failure_of_a_late_worker_ends_no_run_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def other_worker(run: ImportRun) -> None:
        ImportRun.objects.update(touched_at=timezone.now() - timedelta(hours=1))
        IMPORT_RUNS.resume_late()
        ImportRun.objects.update(stage=1, position=F("position") + 1)
        raise OSError("no space left")

    exported_with(monkeypatch, other_worker)

    assert ImportRun.objects.get().state == JobState.RUNNING


def test_editors_compare_and_propose_an_archive_and_publish_none() -> None:
    post = site.fill()
    make.post("Gone")
    archive = site.export()
    Post.objects.filter(title="Gone").delete()
    placed = PostModule.objects.values("instance")
    ModuleInstance.objects.filter(scope="local").exclude(pk__in=placed).delete()
    make.edited(post, {"excerpt": "Fast."})
    browser = client("editor")
    assert browser.get(reverse(f"{EXPORT}_add")).status_code == 403
    page = browser.get(f"{reverse(f'{IMPORT}_add')}?source=archive").content.decode()
    assert "Proofroom archive" in page

    tried = compared(browser, archive)

    assert tried.options == {"mode": "propose"}
    assert tried.counts["posts"]["proposed"] == 1
    page = browser.get(page_of(tried)).content.decode()
    assert "Propose changes in Review" in page
    assert "Publish all changes" not in page
    browser.post(page_of(tried), {"action": "update"})
    assert ImportRun.objects.count() == 1

    browser.post(page_of(tried), {"action": "propose"})
    run = ImportRun.objects.get(is_dry_run=False)
    IMPORT_RUNS.execute(run.pk)

    run.refresh_from_db()
    assert (run.state, run.why) == (JobState.DONE, "")
    assert Post.objects.get(pk=post.pk).excerpt == "Fast."
    fields = open_layers(Post.objects.get(pk=post.pk)).review.document.fields
    assert fields["excerpt"] == "Slowly."
    assert Post.objects.get(title="Gone").status == "draft"


def test_translators_neither_export_nor_import_archives() -> None:
    browser = client("translator")
    assert browser.get(reverse(f"{EXPORT}_add")).status_code == 403
    file = SimpleUploadedFile("site.zip", BytesIO(b"x").getvalue())
    answer = browser.post(f"{reverse(f'{IMPORT}_add')}?source=archive", {"file": file})
    assert answer.status_code == 403
    assert ImportRun.objects.count() == 0
