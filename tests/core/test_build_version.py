"""Packages with different content have different versions."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from runpy import run_path
from typing import Final

import pytest

from proofroom.version import RELEASE

ROOT: Final = Path(__file__).resolve().parents[2]
version = run_path(str(ROOT / "build_version.py"))["version"]


def git(folder: Path, *words: str) -> str:
    names = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
    command = ["git", "-C", str(folder), *names, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "proofroom").mkdir()
    shutil.copy(ROOT / "proofroom/version.py", tmp_path / "proofroom")
    return tmp_path


@pytest.fixture
def checkout(source: Path) -> Path:
    git(source, "init", "--quiet")
    git(source, "add", ".")
    git(source, "commit", "--quiet", "--message", "First")
    return source


def test_only_the_tagged_commit_has_the_version_of_the_release(checkout: Path) -> None:
    commit = git(checkout, "rev-parse", "--short=12", "HEAD")
    assert version(checkout) == f"{RELEASE}+g{commit}"

    git(checkout, "tag", "v0.0.1")
    assert version(checkout) == f"{RELEASE}+g{commit}"
    git(checkout, "tag", f"v{RELEASE}")
    assert version(checkout) == RELEASE

    git(checkout, "commit", "--quiet", "--allow-empty", "--message", "Second")
    assert version(checkout).startswith(f"{RELEASE}+g")
    assert commit not in version(checkout)


def test_each_change_without_a_commit_has_its_own_version(checkout: Path) -> None:
    git(checkout, "tag", f"v{RELEASE}")
    file, added = checkout / "proofroom/version.py", checkout / "proofroom/added.py"
    found = [version(checkout)]
    for text in ("one", "two"):
        added.write_text(text)
        found.append(version(checkout))
    file.write_text(file.read_text() + "# changed\n")
    found.append(version(checkout))

    assert len(set(found)) == 4
    assert all(one.startswith(f"{RELEASE}+g") for one in found[1:])


def test_source_without_git_is_told_apart_by_its_content(source: Path) -> None:
    before = version(source)
    (source / "proofroom/added.py").write_text("one")

    assert before.startswith(f"{RELEASE}+s")
    assert version(source) not in (before, RELEASE)
