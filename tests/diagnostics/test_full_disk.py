"""A full disk counts as an outage, and so does a missing media folder: for readiness, and for the doctor."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from proofroom.core.diagnostics import availability
from proofroom.core.diagnostics.doctor import folders
from tests import make

pytestmark = pytest.mark.django_db
MEBIBYTE = 2**20


def give_disk(monkeypatch: pytest.MonkeyPatch, *, free: int, blocks: int = 10**6) -> None:
    disk = SimpleNamespace(f_blocks=blocks, f_bavail=free // 4096, f_frsize=4096, f_bfree=10**6)
    monkeypatch.setattr(os, "statvfs", lambda folder: disk)


@pytest.mark.parametrize(
    ("free", "blocks", "is_there"),
    [
        (0, 10**6, False),
        (16 * MEBIBYTE - 4096, 10**6, False),
        (16 * MEBIBYTE, 10**6, True),
        (0, 0, True),  # a file system that does not tell
    ],
)
def test_storage_and_queue_need_room(
    free: int,
    blocks: int,
    is_there: bool,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    tmp_path: Any,
) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "queue").mkdir()
    give_disk(monkeypatch, free=free, blocks=blocks)

    assert availability._check_storage() is is_there
    assert availability._check_queue() is is_there


def test_a_folder_that_held_files_is_missed_and_one_that_is_new_is_not(
    settings: Any, tmp_path: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    assert availability._check_folder()

    make.image()
    assert availability._check_folder()
    (tmp_path / "media").rename(tmp_path / "elsewhere")

    assert not availability._check_folder()


def test_a_link_that_leads_nowhere_is_no_folder_for_files(settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    (tmp_path / "media").symlink_to(tmp_path / "volume")

    assert not availability._check_folder()


def test_the_doctor_says_that_a_disk_is_full(
    monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Any
) -> None:
    settings.DATA_DIR, settings.MEDIA_ROOT = tmp_path, tmp_path / "media"
    assert [one.level for one in folders()] == ["ok", "ok"]

    give_disk(monkeypatch, free=MEBIBYTE)

    assert [(one.level, one.found) for one in folders()] == [
        ("fail", f"the disk of {tmp_path} has less than 16 MB left"),
        ("fail", f"the disk of {tmp_path}/media has less than 16 MB left"),
    ]
