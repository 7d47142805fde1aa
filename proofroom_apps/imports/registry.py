"""The sources of imports: one class a file in the folder `importers` of any installed app."""

from __future__ import annotations

from abc import ABC, abstractmethod
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol

from django.utils.functional import Promise

from proofroom.core.actor import Actor
from proofroom.core.registry import Registry


class Output(Protocol):
    """Where a command writes its lines."""

    def write(self, line: str, /) -> object: ...


class Importer(ABC):
    """A source of imports: `manage.py import <name> PATH` runs it.

    Subclass `proofroom_apps.imports.content_importer.ContentImporter` for what is posts, terms, files and menus: it
    brings dry run, report, resuming and the page in the admin. Subclass this one for what writes in its own way.
    """

    name: ClassVar[str]
    label: ClassVar[str | Promise]
    description: ClassVar[str | Promise]

    def add_arguments(self, parser: ArgumentParser) -> None:  # noqa: B027  # most have none
        """Add the options of the command beside `path`, `--as` and `--dry-run`."""

    @abstractmethod
    def run_command(
        self, *, path: Path, actor: Actor, options: Mapping[str, Any], out: Output, err: Output
    ) -> None:
        """Import the file or folder. Raises `CmsError` with a sentence where nothing, or not all, came in."""


importers: Final[Registry[Importer]] = Registry("importers", Importer)  # type: ignore[type-abstract]  # never made
