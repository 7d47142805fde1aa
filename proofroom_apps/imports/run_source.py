"""A source whose file is uploaded in the admin and imported by a worker."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from django.utils.functional import Promise
from pydantic import BaseModel

from proofroom.core.actor import Actor
from proofroom_apps.imports.models import ImportRun


class RunSource(ABC):
    """The interface that a run needs of its source.

    `takes` is its input: a file, a folder (in the admin: as a ZIP archive), or either (in the admin, a ZIP archive is
    a folder). `suffixes` are the file suffixes that the admin accepts; empty accepts every file.
    """

    name: ClassVar[str]
    label: ClassVar[str | Promise]
    takes: ClassVar[Literal["file", "folder", "either"]] = "file"
    suffixes: ClassVar[tuple[str, ...]] = ()
    has_mapping: ClassVar[bool] = False

    @abstractmethod
    def check_options(self, values: Mapping[str, Any]) -> BaseModel:
        """Return the options with defaults. Raises `RuleViolation` by field."""

    @abstractmethod
    def require_rights(self, actor: Actor, options: Mapping[str, Any]) -> None:
        """Raise `NotAllowed` unless the actor may import with these options."""

    @abstractmethod
    def execute(self, run: ImportRun, path: Path, actor: Actor, *, ends: float) -> None:
        """Execute the run or a part of it. After `ends` on the monotonic clock, another turn continues."""
