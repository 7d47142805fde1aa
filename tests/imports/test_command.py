"""The command finds import sources in all apps, and explains why it cannot start."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from content.models import Post
from proofroom_apps.imports.registry import importers
from tests import make

pytestmark = pytest.mark.django_db


def test_a_source_is_named(tmp_path):
    make.user("admin")
    (tmp_path / "one.md").write_text("# One")

    call_command("import", "markdown", str(tmp_path))

    assert Post.objects.get().title == "One"
    assert "markdown" in importers


def test_an_unknown_source_or_person_is_refused(tmp_path):
    with pytest.raises(CommandError, match="invalid choice: 'paper'"):
        call_command("import", "paper", str(tmp_path))
    with pytest.raises(CommandError, match="No active account has the email address"):
        call_command("import", "markdown", str(tmp_path), email="no@example.com")


@pytest.mark.parametrize("is_dry_run", [False, True])
def test_the_exit_status_says_whether_all_was_imported(tmp_path: Path, is_dry_run: bool) -> None:
    make.user("admin")
    path, out, err = tmp_path / "posts.json", StringIO(), StringIO()
    body: dict[str, object] = {"type": "text", "text": "x"}
    for _level in range(100):
        body = {"type": "paragraph", "children": [body]}
    good, bad = {"id": 1, "title": "Good"}, {"id": 2, "title": "Bad", "body": body}

    def status(*records: dict[str, object]) -> int:
        path.write_text(json.dumps(records))
        try:
            call_command("import", "json", str(path), dry_run=is_dry_run, stdout=out, stderr=err)
        except CommandError as error:
            err.write(str(error))
            return error.returncode
        return 0

    assert status(good) == 0
    assert err.getvalue() == ""
    assert status(good, bad) == 3
    assert "failed    Bad (2)" in err.getvalue()
    assert err.getvalue().endswith("1 item could not be imported. See the entries above.")
    assert status(bad) == 1
    assert err.getvalue().endswith("No posts could be imported. See the entries above.")
