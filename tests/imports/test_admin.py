"""Imports in the admin: a dry run first, then the import, cancelled by its starter."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from content.models import Post, PostTerm
from proofroom.core.background_jobs.models import JobState
from proofroom.core.errors import Conflict
from proofroom.taxonomies.models import Term
from proofroom_apps.imports.content_importer import ContentImporter
from proofroom_apps.imports.content_source import ImportOptions, Reader
from proofroom_apps.imports.items import Item, PostItem, TermItem
from proofroom_apps.imports.media_files import MediaFiles
from proofroom_apps.imports.models import ImportChunk, ImportRun
from proofroom_apps.imports.registry import importers
from proofroom_apps.imports.runs import IMPORT_RUNS, cancel_run
from tests import make
from tests.imports.test_wordpress import HEAD, TAIL, item

pytestmark = pytest.mark.django_db(transaction=True)
START = "admin:proofroom_imports_importrun_add"


def client(role: str = "editor") -> Client:
    found = Client()
    found.force_login(make.user(role))
    return found


def upload(name: str, content: bytes, **values: Any) -> dict[str, Any]:
    file = SimpleUploadedFile(name, content)
    return {"source": "wordpress", "file": file, "locale": "en", "fetch": "on", **values}


def page_of(run: ImportRun) -> str:
    return reverse("admin:proofroom_imports_importrun_change", args=[run.pk])


class LinesImporter(ContentImporter):
    """Like in the recipe: without file names."""

    name = "lines"
    label = "Lines"
    description = "A post a line."

    def open(self, path: Path, options: ImportOptions) -> Reader:
        return LinesReader(path, options)


class LinesReader(Reader):
    def __init__(self, path: Path, options: ImportOptions) -> None:
        self.path, self.options = path, options
        self.scope = options.name or path.name
        self.files = MediaFiles(fetch=options.fetch)

    def items(self, wanted: Collection[str] = ()) -> Iterator[Item]:
        yield TermItem("winter", "tags", "Winter")
        for line in self.path.read_text("utf-8").splitlines():
            yield PostItem(
                source_id=line, place=line, type=self.options.type, locale="en", title=line, slug="",
                terms=(("tags", "winter"),),
            )  # fmt: skip


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {**dict(zip(importers.names(), importers, strict=True)), "lines": LinesImporter}
    monkeypatch.setattr(importers, "_found", found)


@pytest.mark.usefixtures("lines")
def test_an_importer_without_names_of_files_is_offered_and_takes_any() -> None:
    browser = client()
    winter = make.term("Winter", "tags")
    assert ">Lines<" in browser.get(reverse(START)).content.decode()

    browser.post(reverse(START), upload("rates.txt", b"One\nTwo", source="lines", type="blog"))
    tried = ImportRun.objects.get()
    IMPORT_RUNS.execute(tried.pk)
    browser.post(page_of(tried), {"action": "import"})
    IMPORT_RUNS.execute(ImportRun.objects.exclude(pk=tried.pk).get().pk)

    assert sorted(Post.objects.values_list("title", flat=True)) == ["One", "Two"]
    # A term of every language is the term of this one.
    assert set(PostTerm.objects.values_list("term", flat=True)) == {winter.pk}
    assert Term.objects.count() == 1


def test_a_file_is_tried_first_and_then_imported() -> None:
    browser = client()
    content = (HEAD + item(1, "One", "Text [odd]") + TAIL).encode()

    answer = browser.post(reverse(START), upload("export.xml", content))

    tried = ImportRun.objects.get()
    assert answer.headers["location"] == page_of(tried)
    IMPORT_RUNS.execute(tried.pk)
    tried.refresh_from_db()
    assert (tried.state, tried.is_dry_run, tried.counts["posts"]) == ("done", True, {"created": 1})
    assert Post.objects.count() == 0
    page = browser.get(page_of(tried)).content.decode()
    assert "shortcode [odd] (1)" in page

    browser.post(page_of(tried), {"action": "import"})

    run = ImportRun.objects.get(is_dry_run=False)
    IMPORT_RUNS.execute(run.pk)
    IMPORT_RUNS.execute(run.pk)
    run.refresh_from_db()
    assert (run.state, run.done) == (JobState.DONE, run.planned)
    assert Post.objects.get().status == "draft"
    assert ImportChunk.objects.count() == 0
    assert "Open post" in browser.get(page_of(run)).content.decode()


@pytest.fixture
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drop messages to workers."""
    monkeypatch.setattr(IMPORT_RUNS, "send_later", lambda job_id: None)


def test_an_archive_of_a_folder_follows_no_link_out_of_it() -> None:
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr("docs/one.md", "# One")
        archive.writestr("../evil.md", "# Evil")
        archive.writestr("/abs.md", "# Abs")

    client().post(
        reverse(START), upload("docs.zip", packed.getvalue(), source="markdown", type="page")
    )
    run = ImportRun.objects.get()
    IMPORT_RUNS.execute(run.pk)

    run.refresh_from_db()
    assert run.state == JobState.DONE
    assert run.counts["posts"] == {"created": 1}


@pytest.mark.parametrize(
    ("name", "content", "values"),
    [
        ("export.zip", b"x", {}),
        ("export.xml", b"", {}),
        ("export.xml", b"x", {"locale": "fr"}),
        ("export.xml", b"x", {"source": "paper"}),
    ],
)
def test_a_form_that_does_not_fit_starts_nothing(
    name: str, content: bytes, values: dict[str, str]
) -> None:
    answer = client().post(reverse(START), upload(name, content, **values))

    assert answer.status_code == 422
    assert ImportRun.objects.count() == 0


def test_a_broken_file_ends_the_run_with_the_reason() -> None:
    browser = client()
    browser.post(reverse(START), upload("export.xml", b"no xml"))
    run = ImportRun.objects.get()
    IMPORT_RUNS.execute(run.pk)

    run.refresh_from_db()
    assert run.state == JobState.FAILED
    assert "not a WordPress export" in run.why
    assert "not a WordPress export" in browser.get(page_of(run)).content.decode()


def test_only_its_starter_or_an_admin_cancels_an_import(no_worker: None) -> None:
    browser = client()
    browser.post(reverse(START), upload("export.xml", (HEAD + TAIL).encode()))
    run = ImportRun.objects.get()
    other = Client()
    other.force_login(make.user("editor", "another"))

    other.post(page_of(run), {"action": "cancel"})
    run.refresh_from_db()
    assert run.is_running

    browser.post(page_of(run), {"action": "cancel"})
    run.refresh_from_db()
    assert run.state == JobState.CANCELLED
    IMPORT_RUNS.execute(run.pk)
    assert Post.objects.count() == 0
    with pytest.raises(Conflict):
        cancel_run(run_id=run.pk, actor=make.actor("admin"))


def test_a_run_goes_on_where_a_worker_stopped(
    monkeypatch: pytest.MonkeyPatch, no_worker: None
) -> None:
    monkeypatch.setattr(IMPORT_RUNS, "turn_seconds", 0.0)
    browser = client()
    content = HEAD + "".join(item(n, f"Post {n}", "Text") for n in range(1, 4)) + TAIL
    browser.post(reverse(START), upload("export.xml", content.encode()))
    run = ImportRun.objects.get()
    ImportRun.objects.update(is_dry_run=False)

    IMPORT_RUNS.execute(run.pk)

    run.refresh_from_db()
    assert (run.is_running, run.done) == (True, 1)
    for _turn in range(20):
        IMPORT_RUNS.execute(run.pk)
    run.refresh_from_db()
    # Three terms, three posts, three redirects: each once.
    assert (run.state, run.done, run.planned) == (JobState.DONE, 9, 9)
    assert run.counts["posts"] == {"created": 3}
    assert Post.objects.count() == 3


def test_the_sweep_goes_on_with_what_was_lost(no_worker: None) -> None:
    client().post(reverse(START), upload("export.xml", (HEAD + TAIL).encode()))
    assert IMPORT_RUNS.resume_late() == 0

    ImportRun.objects.update(touched_at=timezone.now() - timedelta(hours=1))

    assert IMPORT_RUNS.resume_late() == 1


def test_a_translator_cannot_import() -> None:
    assert client("translator").get(reverse(START)).status_code == 403


def as_zip(folder: Path) -> bytes:
    out = BytesIO()
    with ZipFile(out, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, f"export/{path.relative_to(folder)}")
    return out.getvalue()


@pytest.mark.parametrize("is_folder", [True, False])
def test_a_source_of_files_or_folders_takes_both(is_folder: bool, no_worker: None) -> None:
    export = Path(__file__).parent / "exports" / "ghost"
    [file] = export.glob("*.json")
    name, content = ("ghost.zip", as_zip(export)) if is_folder else (file.name, file.read_bytes())
    values = {"source": "ghost", "site": "http://127.0.0.1:2369", "fetch": ""}

    assert client().post(reverse(START), upload(name, content, **values)).status_code == 302
    run = ImportRun.objects.get()
    IMPORT_RUNS.execute(run.pk)

    run.refresh_from_db()
    assert (run.state, run.counts["posts"]) == (JobState.DONE, {"created": 4})
    assert run.counts["redirects"]["created"] == (4 if is_folder else 2)
    assert run.counts["files"] == {"created" if is_folder else "failed": 3}
