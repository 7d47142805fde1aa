"""Definitions in files: `<id>` with a suffix, in a folder of each installed app and in one further folder.

A later folder overrides a definition with the same id. A file that cannot be read is skipped and reported by a system
check; it never takes the site down.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final, Generic, TypeVar

import yaml
from django.apps import apps
from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from proofroom.core.validation.errors import list_errors, reason_of

ID_PATTERN: Final = r"^[a-z0-9]+(?:-[a-z0-9]+)*$"
ID_MAX: Final = 80
_SIZE_MAX: Final = 200_000
_QUOTED: Final = re.compile(r"'(?!<)[^']{4,}'")
"""Quoted parts of a file in an error message. Names like '<block end>' belong to the format and stay."""


class DefinitionPart(BaseModel):
    """A part of a definition file: keys in camelCase, unknown keys refused."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        # Only camelCase: a snake_case key in a file is an error to report.
        populate_by_name=False,
        hide_input_in_errors=True,
    )


class FileDefinition(DefinitionPart):
    """The content of a whole file."""

    id: str = Field(pattern=ID_PATTERN, max_length=ID_MAX)


D = TypeVar("D", bound=FileDefinition)
Reader = Callable[[str], object]
"""A function that parses the text of a file into values."""


@dataclass(frozen=True, slots=True)
class Problem:
    """The reason why a file or one of its fields is invalid."""

    file: Path
    field: str
    reason: str


@dataclass(frozen=True, slots=True)
class Catalogue(Generic[D]):
    """The content of the folders at one time. `stamps` are the files with their modification times."""

    definitions: Mapping[str, D]
    files: Mapping[str, Path]
    problems: tuple[Problem, ...]
    stamps: tuple[tuple[Path, int], ...]


class Unreadable(Exception):
    """The problems of a file as pairs of field and reason."""

    def __init__(self, *problems: tuple[str, str]) -> None:
        super().__init__(problems)
        self.problems = problems


class DefinitionFiles(Generic[D]):
    """The definitions of one kind.

    `folder` is the folder's name in apps, `further` returns an additional folder, `readers` has a parser per suffix.
    """

    def __init__(
        self,
        folder: str,
        shape: type[D],
        readers: Mapping[str, Reader],
        further: Callable[[], Path | None],
    ) -> None:
        self.folder = folder
        self.shape = shape
        self.readers = readers
        self.further = further
        self._lock = Lock()
        self._catalogue: Catalogue[D] | None = None

    def all(self) -> list[D]:
        """Return all readable definitions by id, including disabled ones."""
        return list(self.catalogue().definitions.values())

    def get(self, id_: str) -> D | None:
        return self.catalogue().definitions.get(id_)

    def catalogue(self) -> Catalogue[D]:
        """Return the content of the folders. Read once; in DEBUG again after a file changed."""
        with self._lock:
            found = self._catalogue
            if found is None or (settings.DEBUG and found.stamps != self._stamps()):
                found = self._catalogue = self._read()
            return found

    def reload(self) -> None:
        """Drop the cached content; the next access reads the folders again."""
        with self._lock:
            self._catalogue = None

    def folders(self) -> list[Path]:
        """Return the existing folders. Later ones take precedence."""
        found = [Path(app.path) / self.folder for app in apps.get_app_configs()]
        further = self.further()
        if further is not None:
            found.append(further)
        return [folder for folder in found if folder.is_dir()]

    def read_file(self, path: Path) -> D:
        """Return the definition in a file. Raises `Unreadable`."""
        values = self._values(path)
        values.setdefault("id", path.stem)
        if values["id"] != path.stem:
            raise Unreadable(("id", f"it is {values['id']!r}, but the file is named {path.name}"))
        try:
            return self.shape.model_validate(values)
        except ValidationError as error:
            raise Unreadable(*list_errors(error, reason_of, root="")) from None

    def _paths(self) -> Iterator[Path]:
        for folder in self.folders():
            for path in sorted(folder.iterdir()):
                if path.suffix in self.readers and not path.name.startswith(("_", ".")):
                    yield path

    def _stamps(self) -> tuple[tuple[Path, int], ...]:
        return tuple((path, _changed_at(path)) for path in self._paths())

    def _read(self) -> Catalogue[D]:
        definitions: dict[str, D] = {}
        files: dict[str, Path] = {}
        problems: list[Problem] = []
        stamps = self._stamps()
        for path, _ in stamps:
            id_ = path.stem
            if files.get(id_, path).parent == path.parent and id_ in files:
                twice = f"{files[id_].name} in the same folder defines {id_!r} too"
                problems.append(Problem(path, "id", twice))
                continue
            files[id_] = path
            try:
                definitions[id_] = self.read_file(path)
            except Unreadable as error:
                # The broken file was meant to override the earlier one, so don't fall back to that.
                definitions.pop(id_, None)
                problems += [Problem(path, field, reason) for field, reason in error.problems]
        return Catalogue(dict(sorted(definitions.items())), files, tuple(problems), stamps)

    def _values(self, path: Path) -> dict[str, object]:
        try:
            if path.stat().st_size > _SIZE_MAX:
                raise Unreadable(("file", f"it is larger than {_SIZE_MAX:,} bytes"))
            values = self.readers[path.suffix](path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise Unreadable(("file", f"it cannot be read: {error}")) from None
        if not isinstance(values, dict):
            raise Unreadable(("file", "it must hold fields by name"))
        return values


def _changed_at(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:  # a broken link; reading it reports the problem
        return 0


def from_json(text: str) -> object:
    """Parse JSON. Raises `Unreadable`."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(("file", f"it is no JSON: {error}")) from None


def from_yaml(text: str, field: str = "file") -> object:
    """Parse YAML. Raises `Unreadable` for `field`."""
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise Unreadable((field, f"it is no YAML: {_yaml_fault(error)}")) from None


def _yaml_fault(error: Exception) -> str:
    """Return the error and its position, without the text of the line, which may contain a key."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return " ".join(str(error).split())
    mark = error.problem_mark or error.context_mark
    message = ", ".join(part for part in (error.context, error.problem) if part)
    where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    return _QUOTED.sub("'…'", " ".join(message.split())) + where
