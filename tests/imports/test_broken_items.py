"""A broken item affects no other one, and no run stays open forever."""

from __future__ import annotations

import json
from datetime import timedelta
from io import BytesIO, StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import ZIP_LZMA, ZipFile

import pytest
from django.db import OperationalError
from django.utils import timezone

from content.models import Post
from proofroom.core.background_jobs.models import JobState
from proofroom.core.errors import RuleViolation
from proofroom_apps.imports import item_runs, runs
from proofroom_apps.imports.archives import unpack
from proofroom_apps.imports.importers.json_file import JsonImporter
from proofroom_apps.imports.models import ImportLine, ImportRun
from proofroom_apps.imports.post_writer import write_post
from proofroom_apps.imports.runs import IMPORT_RUNS
from tests import make
from tests.imports.command import call_import
from tests.imports.test_wordpress import export, item

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("admin")]
GOOD = {"id": 2, "title": "Good", "body": "<p>x</p>"}


def run(source: str, path: Path, **options: Any) -> str:
    out = StringIO()
    call_import(source, str(path), stdout=out, stderr=out, fetch=False, **options)
    return out.getvalue()


@pytest.mark.parametrize(
    "bad",
    [
        {"title": "A\ud800b"},
        {"title": "A", "body": "x\ud800y"},
        {"title": "A", "tags": ["x\ud800"]},
        {"title": "A", "oldPath": "/x\ud800"},
    ],
    ids=["title", "body", "tag", "path"],
)
def test_what_cannot_be_stored_is_a_line_of_the_report(tmp_path: Path, bad: dict[str, Any]) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"id": 1, **bad}, GOOD]))

    run("json", path)

    assert Post.objects.filter(slug="good").exists()
    assert ImportRun.objects.get().state == JobState.DONE
    assert ImportLine.objects.filter(severity__in=("error", "warning")).exists()


def test_nul_harms_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(
        json.dumps([{"id": "i\x00", "title": "A\x00", "body": "x\x00y", "tags": ["t\x00"]}, GOOD])
    )

    run("json", path)

    assert Post.objects.filter(slug="good").exists()
    assert ImportRun.objects.get().state == JobState.DONE


def test_addresses_that_are_none_harm_nothing(tmp_path: Path) -> None:
    (tmp_path / "bad.md").write_text(
        "---\ntitle: Bad\nimage: 'http://['\n---\n<img src='http://['> [l](http://[)"
    )
    (tmp_path / "good.md").write_text("# Good\n\nx")

    said = run("markdown", tmp_path)

    assert set(Post.objects.values_list("slug", flat=True)) == {"bad", "good"}
    assert "http://[" in said


@pytest.mark.parametrize("tag", ["div", "b", "font", "blockquote"])
def test_text_in_many_elements_is_imported(tmp_path: Path, tag: str) -> None:
    path = tmp_path / "a.json"
    body = f"<{tag}>" * 3000 + "deep" + f"</{tag}>" * 3000 + "<p>after</p>"
    path.write_text(json.dumps([{"id": 1, "title": "Deep", "body": body}, GOOD]))

    run("json", path)

    live = json.dumps(make.layers(Post.objects.get(slug="deep")).live.to_json())
    assert "deep" in live
    assert "after" in live


def test_content_that_cannot_be_read_names_its_post(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    body: dict[str, Any] = {"type": "text", "text": "x"}
    for _level in range(100):
        body = {"type": "paragraph", "children": [body]}
    path.write_text(json.dumps([{"id": 1, "title": "Deep", "body": body}, GOOD]))

    said = run("json", path)

    assert "failed    Deep (1): The content is nested too deeply." in said
    assert list(Post.objects.values_list("slug", flat=True)) == ["good"]


def test_an_unexpected_error_in_an_item_undoes_that_item_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"id": 1, "title": "Bad", "body": "x"}, GOOD]))

    def broken(writer: Any, item: Any) -> Any:
        written = write_post(writer, item)
        if item.source_id == "1":
            raise ZeroDivisionError("nothing to divide")
        return written

    monkeypatch.setattr(item_runs, "write_post", broken)

    said = run("json", path)

    assert "failed    Bad (1): The content cannot be read: ZeroDivisionError" in said
    assert "posts: 1 failed, 1 created" in said
    assert list(Post.objects.values_list("slug", flat=True)) == ["good"]


def uploaded(records: list[Any]) -> ImportRun:
    importer = JsonImporter()
    return runs.start_run(
        actor=make.actor("admin", via="admin"),
        importer=importer,
        name="a.json",
        options=importer.check_options({}),
        is_dry_run=False,
        upload=iter([json.dumps(records).encode()]),
    )


@pytest.fixture
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IMPORT_RUNS, "send_later", lambda job_id: None)


@pytest.mark.usefixtures("no_worker")
def test_a_run_that_fails_at_once_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    run = uploaded([GOOD])

    def broken(*given: Any, **named: Any) -> None:
        raise ZeroDivisionError("nothing to divide")

    monkeypatch.setattr(JsonImporter, "open", broken)
    IMPORT_RUNS.execute(run.pk)

    run.refresh_from_db()
    assert run.state == JobState.FAILED
    assert "ZeroDivisionError" in run.why
    assert not run.chunks.exists()


@pytest.mark.usefixtures("no_worker")
def test_a_run_waits_where_the_database_was_away(monkeypatch: pytest.MonkeyPatch) -> None:
    run = uploaded([GOOD])

    def away(*given: Any) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(item_runs, "write_post", away)
    with pytest.raises(OperationalError):
        IMPORT_RUNS.execute(run.pk)
    run.refresh_from_db()
    assert run.is_running

    monkeypatch.setattr(item_runs, "write_post", write_post)
    IMPORT_RUNS.execute(run.pk)
    run.refresh_from_db()
    assert (run.state, run.counts["posts"]) == (JobState.DONE, {"created": 1})


@pytest.mark.usefixtures("no_worker")
def test_a_run_that_kills_its_workers_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IMPORT_RUNS, "turn_seconds", 0.0)
    run = uploaded([GOOD, {"id": 3, "title": "Three"}])

    def sweep() -> None:
        with monkeypatch.context() as killed:
            killed.setattr(IMPORT_RUNS, "execute", lambda _run_id: None)
            IMPORT_RUNS.run_turn(run.pk)
        ImportRun.objects.update(touched_at=timezone.now() - timedelta(hours=1))
        IMPORT_RUNS.resume_late()
        run.refresh_from_db()

    sweep()
    sweep()
    assert (run.is_running, run.attempts) == (True, 2)
    IMPORT_RUNS.execute(run.pk)
    run.refresh_from_db()
    assert (run.is_running, run.attempts) == (True, 0)
    for _time in range(3):
        sweep()

    assert run.state == JobState.FAILED
    assert "interrupted 3 times" in run.why


ALIASES = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in pairwise("abcdef")
)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (f"---\n{ALIASES}title: *f\n---\nx", "The front matter has too many values."),
        (f"---\ntitle: 0x{'f' * 6000}\n---\nx", "The front matter has a number that is too large."),
        (
            f"+++\ntitle = 0x{'f' * 6000}\n+++\nx",
            "The front matter has a number that is too large.",
        ),
        (f"+++\ntitle = {'9' * 6000}\n+++\nx", "The front matter is not valid TOML"),
        ("---\ntitle: x\ndate: 0000-01-01\n---\nx", "year 0 is out of range"),
    ],
    ids=["aliases", "hexadecimal", "toml", "digits", "year"],
)
def test_front_matter_that_is_too_much_is_an_error_of_its_file(
    tmp_path: Path, content: str, sentence: str
) -> None:
    (tmp_path / "bad.md").write_text(content)
    (tmp_path / "good.md").write_text("# Good\n\nx")
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "_category_.yml").write_text(f"{ALIASES}label: *f\n")
    (tmp_path / "part" / "page.md").write_text("# Page\n\nx")

    said = run("markdown", tmp_path)

    assert "bad.md: " in said
    assert sentence in said
    assert set(Post.objects.values_list("slug", flat=True)) == {"good", "part", "page"}


@pytest.mark.parametrize("encoding", ["zlib", "rot13", "hex", "idna", "undefined", "nowhere"])
def test_an_encoding_that_is_none_of_text_is_read_as_utf_8(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.xml"
    path.write_text(
        f'<?xml version="1.0" encoding="{encoding}"?><rss xmlns:wp="http://wordpress.org/export/1.2/"><channel>'
        "<item><title>Grün</title><wp:post_id>1</wp:post_id><wp:post_type>post</wp:post_type></item></channel></rss>"
    )

    run("wordpress", path)

    assert Post.objects.get().title == "Grün"


def test_a_reusable_block_that_shows_itself_comes_once(tmp_path: Path) -> None:
    shared = "<!-- wp:paragraph --><p>Round</p><!-- /wp:paragraph -->" + "".join(
        f'<!-- wp:block {{"ref":{number}}} /-->' for number in (60, 61)
    )
    path = export(
        tmp_path,
        item(1, "A", '<!-- wp:block {"ref":60} /-->'),
        item(60, "One", shared, type="wp_block"),
        item(61, "Other", "<!-- wp:paragraph --><p>And</p><!-- /wp:paragraph -->", type="wp_block"),
    )

    said = run("wordpress", path)

    live = json.dumps(make.layers(Post.objects.get()).live.to_json())
    assert (live.count("Round"), live.count("And")) == (1, 1)
    assert "reusable block that is in itself, or one too many (1)" in said


def test_a_damaged_zip_is_refused_without_names_of_this_machine(tmp_path: Path) -> None:
    damaged = BytesIO()
    with ZipFile(damaged, "w", ZIP_LZMA) as file:
        file.writestr("a.md", "hello " * 1000)
    content = bytearray(damaged.getvalue())
    content[45:60] = b"\xff" * 15
    (tmp_path / "damaged.zip").write_bytes(content)
    with ZipFile(tmp_path / "both.zip", "w") as file:
        file.writestr("a", "a file")
        file.writestr("a/b.md", "below it")

    for name in ("damaged", "both"):
        with pytest.raises(RuleViolation, match="The archive cannot be read") as refused:
            unpack(tmp_path / f"{name}.zip", tmp_path / name)
        assert str(tmp_path) not in refused.value.message
        assert not (tmp_path / name).exists()


def test_deep_names_in_an_archive_are_left_out(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "deep.zip", "w") as archive:
        for depth in (30, 31):
            archive.writestr(f"{'d/' * (depth - 1)}{depth}.md", "text")
        archive.writestr("e/" * 31, "")

    unpack(tmp_path / "deep.zip", tmp_path / "deep")

    found = [path for path in (tmp_path / "deep").rglob("*") if path.is_file()]
    assert [path.name for path in found] == ["30.md"]
    assert not (tmp_path / "deep" / "e").exists()
