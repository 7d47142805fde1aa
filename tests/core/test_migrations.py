"""Every migration can be reversed, with sample content in the tables, and applied again."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.commands import run_command
from tests.faults.processes import own_database
from tests.migrated import give_database
from tests.served import environ

WALK: Final = """
import json
import django
django.setup()
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from cms_project.urls import APPS
from content.models import Post, QueuedChange

own = [app.label for app in apps.get_app_configs() if app.name in APPS and app.models]

def tables():
    names = connection.introspection.table_names()
    return sorted(name for name in names if name.startswith(tuple(f"{label}_" for label in own)))

def applied():
    rows = MigrationRecorder(connection).migration_qs.filter(app__in=own)
    return sorted(rows.values_list("app", "name"))

def forward():
    call_command("migrate", verbosity=0)
    return {"tables": tables(), "applied": applied()}

found = {"before": forward(), "left": []}
call_command("seed", verbosity=0)
found["posts"] = Post.objects.count()
rows = QueuedChange.objects.order_by("pk").values_list("risk", "risk_live", "weight")
found["waiting"] = list(rows)
for label, name in (("content", "0001"), ("proofroom_core", "0001")):
    call_command("migrate", label, name, verbosity=0)
forward()
found["waiting_after"] = list(rows.all())
# Dependencies go last, so that each app still has its rows.
for label in reversed(own):
    call_command("migrate", label, "zero", verbosity=0)
    found["left"] += [row for row in applied() if row[0] == label]
found["zero"] = {"tables": tables(), "applied": applied()}
found["after"] = forward()
print(json.dumps(found))
"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Return the database URL: the tests' services, otherwise the embedded one."""
    if not os.environ.get("DATABASE_URL"):
        give_database(tmp_path)
        yield ""
        return
    with own_database() as url:
        yield url


def walked(folder: Path, address: str) -> Any:
    done = run_command(
        [sys.executable, "-c", WALK], env={**environ(folder), "DATABASE_URL": address}, timeout=300
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_every_app_goes_back_to_nothing_and_comes_again(tmp_path: Path, address: str) -> None:
    found = walked(tmp_path, address)

    assert found["posts"] > 30
    assert found["waiting_after"] == found["waiting"]
    assert {row[2] in row[:2] for row in found["waiting"]} == {True}
    assert len(found["before"]["applied"]) > 10
    assert found["left"] == []
    assert found["zero"] == {"tables": [], "applied": []}
    assert found["after"] == found["before"]
