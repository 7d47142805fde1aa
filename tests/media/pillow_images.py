"""Pillow's decoder test images, downloaded once with its source, as its license allows."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Final

import PIL

from tests.migrated import ROOT

_FOLDER: Final = ROOT / "var" / "pillow-images"
_SECONDS: Final = 300


def downloaded() -> Path:
    """Return the folder of the images. The first process downloads; others wait."""
    folder = _FOLDER / PIL.__version__
    _FOLDER.mkdir(parents=True, exist_ok=True)
    with (_FOLDER / ".downloading").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _download(_FOLDER / "new")
            (_FOLDER / "new" / "pictures").rename(folder)
            shutil.rmtree(_FOLDER / "new")
    return folder


def _download(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    # The environment of the tests has no pip; the machine's own Python does.
    subprocess.run(
        [
            _python_with_pip(), "-m", "pip", "download", "--quiet",
            "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:",
            f"pillow=={PIL.__version__}", "--dest", str(folder),
        ],
        check=True,
        timeout=_SECONDS,
    )  # fmt: skip
    (archive,) = folder.glob("pillow-*.tar.gz")
    with tarfile.open(archive) as source:
        wanted = [
            member
            for member in source.getmembers()
            if member.isfile() and "/Tests/images/" in f"/{member.name}"
        ]
        source.extractall(folder / "source", members=wanted, filter="data")
    (images,) = (folder / "source").glob("*/Tests/images")
    images.rename(folder / "pictures")


def _python_with_pip() -> str:
    for name in ("python3", "/usr/bin/python3", "/usr/local/bin/python3"):
        found = shutil.which(name, path=_path_without_environment())
        done = found and subprocess.run(
            [found, "-m", "pip", "--version"], capture_output=True, check=False
        )
        if found and done and done.returncode == 0:
            return found
    raise RuntimeError("No Python with pip was found.")


def _path_without_environment() -> str:
    parts = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(part for part in parts if ".venv" not in part)
