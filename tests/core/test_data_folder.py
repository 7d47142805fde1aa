"""Data of the embedded default is readable by its owner only."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from cms_project.security import close_to_others
from tests.served import prepare

WORK = """
import logging
from django.core.management import call_command
call_command("migrate", verbosity=0)
from proofroom.core.tasks import sweep_events
sweep_events.delay()
logging.getLogger("cms").error("something for the log")
from django.db import connection
connection.cursor().execute("CREATE TABLE own (id integer)")
print("done")
"""


@pytest.fixture(autouse=True)
def usual_umask():
    """Set the usual umask of a user's shell."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    """Return the permissions of other users for all files that are not public."""
    found = {".": folder, **{str(path.relative_to(folder)): path for path in folder.rglob("*")}}
    return {
        name: oct(path.stat().st_mode & 0o077)
        for name, path in found.items()
        if not name.startswith(("static", "media"))
    }


def test_a_new_folder_and_all_that_comes_into_it_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "data"

    assert prepare(folder, WORK) == "done"

    found = modes(folder)
    assert {"cms.sqlite3", "logs/cms.log", "queue"} <= set(found)
    assert any(name.startswith("queue/") and name.endswith(".msg") for name in found)
    assert set(found.values()) == {"0o0"}, found


def test_a_folder_of_an_earlier_version_is_closed_at_the_start(tmp_path: Path) -> None:
    names = ("cms.sqlite3", "cms.sqlite3-wal", "cms.sqlite3-shm", "logs/cms.log", "queue/1.msg")
    for name in (*names, "media/picture.webp"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch(0o644)
    assert modes(tmp_path)["cms.sqlite3"] == "0o44"

    close_to_others(tmp_path, tmp_path / "cms.sqlite3")

    assert set(modes(tmp_path).values()) == {"0o0"}
    # Inside a private folder, and written by a storage with its own modes.
    assert (tmp_path / "media/picture.webp").stat().st_mode & 0o777 == 0o644


def test_a_folder_that_others_share_stays_open(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)

    close_to_others(tmp_path, tmp_path / "cms.sqlite3")

    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o1777
