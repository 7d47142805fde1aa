"""The `proofroom` command, which creates a project for a site."""

from __future__ import annotations

import argparse
import json
import keyword
import re
import shutil
import stat
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from proofroom.version import product_version

TEMPLATE = Path(__file__).parent / "project"
LOCK: Final = "requirements.lock"
WHEELS: Final = "wheels"
"""The folder of a project for packages that no index has."""
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


def installed_wheel() -> Path | None:
    """Return the file that this package was installed from, or None if it came from an index or a checkout."""
    try:
        record = distribution("proofroom").read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    address = urlsplit(json.loads(record)["url"] if record else "")
    file = Path(unquote(address.path))
    return file if address.scheme == "file" and file.suffix == ".whl" and file.is_file() else None


def lock_file() -> Path:
    """Return the lock file of this version, which a wheel has in the template."""
    packed = TEMPLATE / LOCK
    return packed if packed.exists() else Path(__file__).parents[2] / LOCK


def create_project(name: str, folder: Path) -> None:
    """Write a new project. Raises `CommandError` if the name or the folder cannot be used.

    Its lock file has the packages that this version was tested with. If this package was installed from a wheel,
    the project gets a copy of it.
    """
    from django.core.management import CommandError
    from django.core.management.templates import TemplateCommand

    if problem := name_problem(name):
        raise CommandError(problem)
    if folder.exists() and any(folder.iterdir()):
        raise CommandError(f"{folder} already exists and is not empty. Choose another folder.")
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
            product_version=product_version(),
        )
    except CommandError:
        # Nothing was written yet, so the folder is empty.
        folder.rmdir()
        raise
    shutil.copyfile(lock_file(), folder / LOCK)
    wheel = installed_wheel()
    if wheel is not None:
        shutil.copy(wheel, folder / WHEELS)
    for path in EXECUTABLES:
        file = folder / path
        file.chmod(file.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="proofroom", description="Proofroom, the CMS.")
    parser.add_argument("--version", action="version", version=product_version())
    commands = parser.add_subparsers(dest="command", required=True)
    new = commands.add_parser("new", help="create a project for your own site")
    new.add_argument("name", help="the package name: lowercase letters, digits and underscores")
    new.add_argument("folder", nargs="?", type=Path, help="the folder to create (default: ./NAME)")
    given = parser.parse_args(arguments)

    from django.core.management import CommandError

    folder = given.folder or Path.cwd() / given.name
    try:
        create_project(given.name, folder)
    except CommandError as error:
        print(error, file=sys.stderr)  # noqa: T201  # a command line answers on its own streams
        return 1
    print(f"Created {folder}. Next: cd {folder} && ./run")  # noqa: T201
    if "+" in product_version() and installed_wheel() is None:
        print(  # noqa: T201
            f"No package index has {product_version()}: put its wheel into {folder / WHEELS} first."
        )
    return 0
