"""The command `proofroom`: makes a project for a site of one's own."""

from __future__ import annotations

import argparse
import stat
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

TEMPLATE = Path(__file__).parent / "starter" / "project"
EXECUTABLES = ("manage.py", "run")


def create_project(name: str, folder: Path) -> None:
    """Write a new project. Raises `CommandError` where the name or the folder is none that can be used."""
    from django.core.management import CommandError
    from django.core.management.templates import TemplateCommand

    if folder.exists() and any(folder.iterdir()):
        raise CommandError(f"{folder} is there already and is not empty. Name another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        TemplateCommand().handle(
            "project",
            name,
            str(folder),
            template=str(TEMPLATE),
            extensions=("py", "md", "toml", "txt", "yaml", "yml"),
            files=("Containerfile", "run"),
            exclude=None,
            verbosity=0,
            product_version=version("proofroom"),
        )
    except CommandError:
        # The name is refused before anything is written.
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
    new.add_argument("name", help="its package: letters, digits and underscores")
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
