"""The entries of the table of endpoints: permissions, and a call for every outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

ROLES: Final = (None, "admin", "editor", "translator", "ai_agent")
PEOPLE: Final = frozenset({"admin", "editor", "translator"})
EDITORS: Final = frozenset({"admin", "editor"})
ADMIN: Final = frozenset({"admin"})
ALL: Final[frozenset[str | None]] = frozenset(ROLES)
SECRETS: Final[frozenset[str | None]] = frozenset()

NOBODY: Final = "00000000-0000-4000-8000-000000000000"
Names = dict[str, Any]
"""Ids of a scene, by the names in `<…>` in URLs and bodies."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one URL.

    `<name>` in the URL, the query and texts of bodies is filled from the names of its area's scene.
    """

    address: str
    """For example `PUT /api/posts/<post_id>`."""
    who: frozenset[Any]
    """Roles that pass the permission check; None is a visitor. Agents have no session: they use MCP."""
    answers: int | None = 200
    """Status of a successful call; None if it cannot succeed here (the secret, a wrong password)."""
    body: Any = None
    query: str = ""
    invalid: tuple[Any, str] | None = None
    """A body (for GET: a query) that is 422, and the expected key of `details`."""
    stale: Any = None
    """A body that is 409, if possible."""
    refused: frozenset[str] = frozenset()
    """Roles that pass the permission check and are 403 for the object of the scene."""
    is_missing_404: bool = True
    """True if an unknown id in the URL is 404."""
    is_multipart: bool = False
    """True if the body is a form with files: a text or a file's bytes per field."""
    grow: Callable[[int], None] | None = None
    """For a list: creates more rows."""

    @property
    def method(self) -> str:
        return self.address.partition(" ")[0]

    @property
    def path(self) -> str:
        return self.address.partition(" ")[2]

    @property
    def has_gaps(self) -> bool:
        return "<" in self.path


@dataclass(frozen=True, slots=True)
class Area:
    """The endpoints of one file of `tests/contract/endpoints/`, and their scene."""

    name: str
    endpoints: tuple[Endpoint, ...]
    scene: Callable[[], Names]


def areas() -> list[Area]:
    """Return all areas. Every file in the folder has `ENDPOINTS` and `scene() -> Names`."""
    folder = Path(__file__).parent / "endpoints"
    found = []
    for file in sorted(folder.glob("[a-z]*.py")):
        module = import_module(f"tests.contract.endpoints.{file.stem}")
        found.append(Area(file.stem, tuple(module.ENDPOINTS), module.scene))
    return found


def filled(value: Any, names: Names) -> Any:
    """Fill a body, path or query with names of the scene. A placeholder that is a whole text takes any value."""
    if isinstance(value, dict):
        return {key: filled(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, names) for item in value]
    if not isinstance(value, str):
        return value
    for name, given in names.items():
        if value == f"<{name}>":
            return given
        value = value.replace(f"<{name}>", str(given))
    return value
