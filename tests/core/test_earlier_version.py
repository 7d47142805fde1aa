"""A database of an earlier version is left unchanged, and the start fails with instructions."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.core.management.base import SystemCheckError
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.migrations.recorder import MigrationRecorder

from proofroom.core.database.migrate import earlier_version_message
from proofroom.core.diagnostics import doctor
from proofroom.core.management.commands.demo import Command

pytestmark = pytest.mark.django_db


def _make_it_an_earlier_one() -> None:
    MigrationRecorder(connection).record_applied("core", "0003_outbox")


def test_a_database_of_this_version_is_taken() -> None:
    assert earlier_version_message(DEFAULT_DB_ALIAS) == ""


def test_migrate_stops_before_it_changes_anything() -> None:
    _make_it_an_earlier_one()

    with pytest.raises(
        SystemCheckError, match=r"tables of an earlier version.*start again; nothing"
    ):
        call_command("migrate", skip_checks=False, stdout=StringIO())


def test_the_demo_says_in_one_sentence_how_to_begin() -> None:
    _make_it_an_earlier_one()
    name = str(connection.settings_dict["NAME"])
    said = StringIO()

    with pytest.raises(CommandError) as stopped:
        Command(stdout=said, stderr=said).prepare()

    way = (
        "CMS_DATA_DIR to a new folder" if connection.vendor == "sqlite" else "DATABASE_URL to a new"
    )
    assert name in str(stopped.value)
    assert way in str(stopped.value)
    assert str(stopped.value).count(". ") == 0
    assert "Preparing" not in said.getvalue()


def test_the_doctor_says_so_too() -> None:
    _make_it_an_earlier_one()

    (found,) = doctor.migrations()

    assert (found.level, found.found) == ("fail", "tables of an earlier version")
