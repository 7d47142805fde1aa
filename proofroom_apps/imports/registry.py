"""The registry of import sources: one class per file in the folder `importers` of any installed app."""

from __future__ import annotations

from abc import ABC, abstractmethod
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol

from django.utils.functional import Promise

from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from proofroom.core.registry import Registry


class IncompleteImport(RuleViolation):
    """Some items failed. The others were imported."""


class Output(Protocol):
    """The output stream of a command."""

    def write(self, line: str, /) -> object: ...


class Importer(ABC):
    """An import source: `manage.py import <name> PATH` runs it.

    Subclass `proofroom_apps.imports.content_importer.ContentImporter` for posts, terms, files and menus: it adds dry
    run, report, resuming and an admin page. Subclass this class for an importer with its own way of writing.
    """

    name: ClassVar[str]
    label: ClassVar[str | Promise]
    description: ClassVar[str | Promise]
    has_preview: ClassVar[bool] = False
    """True if the importer stores nothing with the options `dry_run`, and prints only its report with `preview`.

    The command then shows a preview and asks before it imports."""

    def add_arguments(self, parser: ArgumentParser) -> None:  # noqa: B027  # most have none
        """Add the options of the command besides `path`, `--as` and `--dry-run`."""

    @abstractmethod
    def run_command(
        self, *, path: Path, actor: Actor, options: Mapping[str, Any], out: Output, err: Output
    ) -> None:
        """Import the file or folder.

        Raises `IncompleteImport` if some items failed, and another `CmsError` if nothing was imported.
        """


importers: Final[Registry[Importer]] = Registry("importers", Importer)  # type: ignore[type-abstract]  # never made
