"""A source whose file people upload in the admin, and that a worker imports."""

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
    """What a run needs of its source.

    `takes` is what it reads: a file, a folder (in the admin: a ZIP archive of one), or either. `suffixes` are those
    of the files that the admin takes for it; without any it takes every file.
    """

    name: ClassVar[str]
    label: ClassVar[str | Promise]
    takes: ClassVar[Literal["file", "folder", "either"]] = "file"
    suffixes: ClassVar[tuple[str, ...]] = ()
    has_mapping: ClassVar[bool] = False

    @abstractmethod
    def check_options(self, values: Mapping[str, Any]) -> BaseModel:
        """The options with their defaults. Raises `RuleViolation` by field."""

    @abstractmethod
    def require_rights(self, actor: Actor, options: Mapping[str, Any]) -> None:
        """Raise `NotAllowed` unless the actor may import with these options."""

    @abstractmethod
    def execute(self, run: ImportRun, path: Path, actor: Actor, *, ends: float) -> None:
        """Carry out the run, or a part of it: after `ends` on the monotonic clock another turn goes on."""
