"""The command finds import sources in all apps, and explains why it cannot start."""

from __future__ import annotations

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
