"""The command shows what an import will do, asks, and groups its report; `--json` is for programs."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from content.models import Post
from proofroom_apps.imports.models import ImportLine, ImportRun
from proofroom_apps.imports.run_report import EXAMPLES, reason_of, report_of
from tests import make
from tests.imports.command import call_import
from tests.imports.test_wordpress import attachment, export, item

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def admin() -> None:
    make.user("admin")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return export(
        tmp_path,
        item(1, "One", "<p>[odd] a</p>"),
        item(2, "Two", "<p>[odd] b</p>", status="future"),
        item(3, "Three", "<p>c</p>", type="page"),
        attachment(20, "one.jpg"),
    )


def run(path: Path, *arguments: str, **options: Any) -> str:
    out = StringIO()
    call_import("wordpress", str(path), *arguments, stdout=out, stderr=out, **options)
    return out.getvalue()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Answer the question of the command as on a terminal, with the last of these words."""
    answers: list[str] = []

    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

        def readline(self, size: int = -1) -> str:  # type: ignore[override]  # `input` calls it so
            return f"{answers[-1]}\n"

    monkeypatch.setattr("sys.stdin", Terminal())
    return answers


def test_on_a_terminal_it_shows_what_will_happen_and_asks(
    source: Path, terminal: list[str]
) -> None:
    terminal.append("n")
    said = run(source)

    assert "Posts: 3 created" in said
    assert "1 × created: Will be fetched from old.example." in said
    assert "2 × note: Not recognised and kept as text." in said
    assert "Nothing was imported." in said
    assert not Post.objects.exists()

    terminal.append("y")
    run(source, fetch=False)
    assert Post.objects.count() == 3


def test_yes_asks_nothing(source: Path, terminal: list[str]) -> None:
    said = run(source, "--yes", fetch=False)

    assert Post.objects.count() == 3
    assert ImportRun.objects.count() == 1
    assert "Dry run" not in said


def test_without_a_terminal_it_imports_at_once(source: Path) -> None:
    run(source, fetch=False)

    assert Post.objects.count() == 3
    assert ImportRun.objects.count() == 1


def test_the_report_as_json_is_all_that_is_printed(source: Path) -> None:
    found = json.loads(run(source, "--dry-run", "--json"))

    assert (found["source"], found["dryRun"], found["state"]) == ("wordpress", True, "done")
    assert found["counts"]["posts"] == {"created": 3}
    groups = {(one["kind"], one["outcome"], one["reason"]): one for one in found["groups"]}
    noted = groups["posts", "note", "Not recognised and kept as text."]
    assert (noted["count"], noted["severity"]) == (2, "warning")
    assert noted["examples"][0].startswith("One (post 1): ")
    assert not Post.objects.exists()


def test_conflicts_are_grouped_by_their_reason(source: Path) -> None:
    run(source, fetch=False)
    changed = export(source.parent, item(1, "One changed", "<p>a</p>", slug="one"))

    found = json.loads(run(changed, "--dry-run", "--json"))

    [group] = [one for one in found["groups"] if one["outcome"] == "staged"]
    assert (group["count"], group["kind"]) == (1, "posts")


def test_an_archive_is_previewed_too(tmp_path: Path, terminal: list[str]) -> None:
    make.post("Brewing")
    archive = tmp_path / "site.zip"
    call_command("export", str(archive), stderr=StringIO())
    Post.objects.update(title="Other")
    terminal.append("no")
    out = StringIO()

    call_command("import", "archive", str(archive), "--update", stdout=out, stderr=out)

    assert "Nothing was imported." in out.getvalue()
    assert Post.objects.get().title == "Other"
    call_command(
        "import", "archive", str(archive), "--dry-run", "--json", stdout=(out := StringIO())
    )
    found = json.loads(out.getvalue())
    assert found["dryRun"] is True
    assert {"Brewing", "Other"} & {one["after"].strip('"') for one in found["differences"]}


def test_a_failed_import_prints_json_and_fails(tmp_path: Path) -> None:
    path = export(tmp_path, "<item><title>No ID</title></item>")
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("import", "wordpress", str(path), "--json", stdout=out)
    assert json.loads(out.getvalue())["counts"]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Left out: a (1), b (2).", "Left out."),
        ("Comments are not imported: 12 left out.", "Comments are not imported."),
        ("The file is larger than 20 MB.", "The file is larger than … MB."),
        ("", ""),
    ],
)
def test_reasons_are_what_messages_share(message: str, reason: str) -> None:
    assert reason_of(message) == reason


def test_a_group_has_few_examples_and_a_whole_number() -> None:
    run = ImportRun.objects.create(source="wordpress", name="x", counts={"posts": {"failed": 9}})
    lines = [
        ImportLine(run=run, severity="error", kind="posts", outcome="failed", place=f"Post {n}", message="Too deep.")
        for n in range(9)
    ]  # fmt: skip
    ImportLine.objects.bulk_create(lines)

    with CaptureQueriesContext(connection) as queries:
        [group] = report_of(run).groups

    assert len(queries) == 1

    assert (group.number, len(group.examples)) == (9, EXAMPLES)


def test_the_page_of_a_run_groups_it(source: Path, signed_in: Any) -> None:
    run(source, "--dry-run")
    client: Client = signed_in("admin")
    page = client.get(f"/admin/proofroom_imports/importrun/{ImportRun.objects.get().pk}/change/")

    text = page.content.decode()
    assert '<h2 id="import-groups">Summary</h2>' in text
    assert "Not recognised and kept as text." in text
