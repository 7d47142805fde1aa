"""The `proofroom` command, which creates a project for a site."""

from __future__ import annotations

import argparse
import keyword
import re
import stat
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

TEMPLATE = Path(__file__).parent / "project"
EXECUTABLES = ("manage.py", "run")
# Container names are made from it, and they allow only lowercase letters.
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_OWN_FILES: Final = frozenset({"manage", "run", "tests"})
"""Files and folders next to the site's package."""
PRODUCT_LABELS: Final = frozenset(
    {
        "account", "admin", "auth", "contenttypes", "messages", "mfa", "openid_connect", "product_files", "saml",
        "sessions", "socialaccount", "staticfiles", "usersessions",
    }
)  # fmt: skip
"""App labels that a site's package cannot use: Django needs unique labels."""


def name_problem(name: str) -> str:
    """Return the reason a site's package cannot have this name, or "" if it can."""
    if not _NAME.fullmatch(name):
        return f"{name!r} is no name for a site: take small letters, digits and underscores, and begin with a letter."
    if keyword.iskeyword(name):
        return f"{name!r} is a word of Python's own, which no package can be imported by. Take another name."
    if name in _OWN_FILES:
        return f"{name!r} is a file or folder of every project. Take another name."
    if name in PRODUCT_LABELS or name.startswith("proofroom_"):
        return f"{name!r} is the label of an app of the product. Take another name."
    return ""


def create_project(name: str, folder: Path) -> None:
    """Write a new project. Raises `CommandError` if the name or the folder cannot be used."""
    from django.core.management import CommandError
    from django.core.management.templates import TemplateCommand

    if problem := name_problem(name):
        raise CommandError(problem)
    if folder.exists() and any(folder.iterdir()):
        raise CommandError(f"{folder} is there already and is not empty. Name another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        TemplateCommand().handle(
            "project",
            name,
            str(folder),
            template=str(TEMPLATE),
            # Agent files are Markdown with their own placeholders, so only the README is rendered.
            extensions=("py", "toml", "txt", "yaml", "yml"),
            files=("Containerfile", "README.md", "run"),
            exclude=None,
            verbosity=0,
            product_version=version("proofroom"),
        )
    except CommandError:
        # Nothing was written yet, so the folder is empty.
        folder.rmdir()
        raise
    for path in EXECUTABLES:
        file = folder / path
        file.chmod(file.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="proofroom", description="Proofroom, the CMS.")
    parser.add_argument("--version", action="version", version=version("proofroom"))
    commands = parser.add_subparsers(dest="command", required=True)
    new = commands.add_parser("new", help="make a project for a site of your own")
    new.add_argument("name", help="its package: small letters, digits and underscores")
    new.add_argument("folder", nargs="?", type=Path, help="where to write it; ./NAME unless given")
    given = parser.parse_args(arguments)

    from django.core.management import CommandError

    folder = given.folder or Path.cwd() / given.name
    try:
        create_project(given.name, folder)
    except CommandError as error:
        print(error, file=sys.stderr)  # noqa: T201  # a command line answers on its own streams
        return 1
    print(f"Made {folder}. Next: cd {folder} && ./run")  # noqa: T201
    return 0
