"""What the table of endpoints is made of: who may call an address, and a call for every outcome."""

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
"""The ids of a scene, by the names that stand in `<…>` in addresses and bodies."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one address.

    `<name>` in the address, the query and in texts of bodies is filled from the names of its area's scene.
    """

    address: str
    """Like `PUT /api/posts/<post_id>`."""
    who: frozenset[Any]
    """Who gets past the question of rights; None is a visitor. Agents have no session: they come by MCP."""
    answers: int | None = 200
    """The status of the call that succeeds; None where it cannot succeed here (the secret, a wrong password)."""
    body: Any = None
    query: str = ""
    invalid: tuple[Any, str] | None = None
    """A body (of a GET: a query) that is 422, and the key of `details` that says so."""
    stale: Any = None
    """A body that is 409, where that can happen."""
    refused: frozenset[str] = frozenset()
    """Roles that pass the question of rights and are 403 for the thing of the scene."""
    is_missing_404: bool = True
    """Whether an unknown id in the address is 404."""
    is_multipart: bool = False
    """The body is a form with files: of each field a text, or the bytes of a file."""
    grow: Callable[[int], None] | None = None
    """Of a list: makes so many more of its rows."""

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
    """The endpoints of one file of `tests/contract/endpoints/`, and the scene that they are called in."""

    name: str
    endpoints: tuple[Endpoint, ...]
    scene: Callable[[], Names]


def areas() -> list[Area]:
    """Every file in the folder has `ENDPOINTS` and `scene() -> Names`."""
    folder = Path(__file__).parent / "endpoints"
    found = []
    for file in sorted(folder.glob("[a-z]*.py")):
        module = import_module(f"tests.contract.endpoints.{file.stem}")
        found.append(Area(file.stem, tuple(module.ENDPOINTS), module.scene))
    return found


def filled(value: Any, names: Names) -> Any:
    """A body, path or query with the names of the scene in its gaps; a gap that is a whole text takes any value."""
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
