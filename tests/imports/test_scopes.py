"""Imports by users with a content scope: nothing outside is written, and the run continues."""

from __future__ import annotations

import json
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from content.models import Draft, Post
from proofroom.accounts.roles import GRANTS, PERMISSIONS
from proofroom.archive.imports import Mode
from proofroom.archive.services import require_mode
from proofroom.core.content_scope import WHOLE_SITE, ContentScope
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from proofroom_apps.imports.item_runs import run_command
from proofroom_apps.imports.models import ImportLine, ImportRun
from proofroom_apps.imports.registry import IncompleteImport
from proofroom_apps.imports.runs import find_importer, repeat_run
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db(transaction=True)
LIMITABLE = sorted(PERMISSIONS & GRANTS["admin"] - WHOLE_SITE)


@pytest.fixture(autouse=True)
def roles() -> None:
    scope = ContentScope(types=frozenset({"page"}), locales=frozenset({"en"}))
    make.site_role("pages", *LIMITABLE, scope=scope)
    make.site_role(
        "reader", *LIMITABLE, scope=ContentScope(types=frozenset({"page"}), reads_all=True)
    )


def run(path: Path, *records: dict[str, Any], role: str = "pages", **options: Any) -> ImportRun:
    file = path / "a.json"
    file.write_text(json.dumps([{"id": n, **record} for n, record in enumerate(records, 1)]))
    out = StringIO()
    # Items outside the scope are lines of the report.
    with suppress(IncompleteImport):
        run_command(
            find_importer("json"),
            path=file,
            actor=make.actor(role, via="command"),
            options={"fetch": False, "locale": "en", **options},
            out=out,
            err=out,
        )
    return ImportRun.objects.order_by("-pk").latest("created_at")


def outcomes() -> dict[str, str]:
    return dict(ImportLine.objects.filter(kind="posts").values_list("outcome", "message"))


def test_what_would_be_outside_is_a_line_of_the_report(tmp_path: Path) -> None:
    run(
        tmp_path,
        {"title": "Eine Seite", "locale": "de"},
        {"title": "A page"},
        type="page",
    )

    assert list(Post.objects.values_list("title", "type")) == [("A page", "page")]
    assert set(outcomes()) == {"failed", "created"}


@pytest.mark.parametrize("role", ["pages", "reader"])
@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("is_dry", [False, True])
def test_what_others_imported_outside_is_neither_changed_nor_compared(
    tmp_path: Path, role: str, live: bool, is_dry: bool
) -> None:
    run(tmp_path, {"title": "Secret"}, role="admin", type="blog")
    ImportLine.objects.all().delete()
    before = list(Post.objects.values())

    with suppress(RuleViolation):  # no item could be imported
        run(
            tmp_path,
            {"title": "Taken over"},
            {"title": "Other", "slug": "other"},
            role=role,
            type="blog",
            live=live,
            dry_run=is_dry,
        )

    assert list(Post.objects.values()) == before
    assert ImportRun.objects.latest("created_at").counts["posts"] == {"failed": 2}
    assert not Draft.objects.filter(is_empty=False).exists()
    failed = ImportLine.objects.filter(outcome="failed").values_list("message", flat=True)
    assert failed
    assert not any("Secret" in message or "secret" in message for message in failed)


def test_runs_of_others_are_not_seen(tmp_path: Path) -> None:
    theirs = run(tmp_path, {"title": "Secret"}, role="admin", type="blog")
    own = run(tmp_path, {"title": "Mine"}, type="page")
    client, base = ApiClient("pages"), "/admin/proofroom_imports/importrun/"

    assert client.get(f"{base}{theirs.pk}/change/").status_code == 404
    assert client.get(f"{base}{own.pk}/change/").status_code == 200
    assert str(theirs.pk) not in client.get(base).content.decode()
    assert ApiClient("reader").get(f"{base}{theirs.pk}/change/").status_code == 200
    with pytest.raises(NotFound):
        repeat_run(run_id=theirs.pk, actor=make.actor("pages", via="admin"))


@pytest.mark.parametrize("mode", list(Mode))
def test_archives_are_for_who_is_not_limited(mode: Mode) -> None:
    with pytest.raises(NotAllowed):
        require_mode(make.actor("pages"), mode)
    require_mode(make.actor("admin"), mode)


@pytest.mark.parametrize("is_dry", [False, True])
def test_a_dry_run_says_what_would_be_outside_as_the_import_does(
    tmp_path: Path, is_dry: bool
) -> None:
    guide = make.post("Guide", type="page", slug="guide")
    make.site_role("desk", *LIMITABLE, scope=ContentScope(sections=frozenset({guide.pk})))

    run(
        tmp_path,
        {"title": "Guide", "slug": "guide"},
        {"title": "Below", "parent": "1"},
        {"title": "Beside"},
        role="desk",
        type="page",
        dry_run=is_dry,
    )

    lines = ImportLine.objects.filter(kind="posts", outcome__in=["created", "failed"])
    assert sorted(line.outcome for line in lines) == ["created", "failed"]
    assert "does not cover" in lines.get(outcome="failed").message


def test_a_report_names_no_hidden_post_whose_slug_was_guessed(tmp_path: Path) -> None:
    hidden = make.post("By hand", type="blog", slug="by-hand")

    def told(slug: str) -> str:
        ImportLine.objects.all().delete()
        with suppress(RuleViolation):
            run(tmp_path, {"title": "x", "slug": slug}, type="blog", dry_run=True)
        return " ".join(ImportLine.objects.filter(kind="posts").values_list("message", flat=True))

    assert told("by-hand") == told("nothing-here")
    assert str(hidden.pk) not in told("by-hand")
