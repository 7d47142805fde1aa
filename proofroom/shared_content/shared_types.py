"""Kinds of shared content, which many pages show. Each app registers its own."""

from __future__ import annotations

from typing import Final, Protocol
from uuid import UUID

from django.db.models import Model
from django.utils.functional import Promise

from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.json import JsonObject

GLOBAL_MODULE: Final = "global-module"
MENU: Final = "menu"
TERM: Final = "term"


class SharedRow(Protocol):
    """A row of shared content. `version` counts its changes."""

    @property
    def pk(self) -> UUID: ...

    @property
    def version(self) -> int: ...

    def save(self, *, force_update: bool = ...) -> None: ...


class SharedKind(Protocol):
    """A kind of shared content."""

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> Promise:
        """Label of the kind, in the plural."""

    @property
    def permission(self) -> str:
        """The permission to edit rows of the kind."""

    @property
    def model(self) -> type[Model]: ...

    def find(self, row_id: UUID) -> SharedRow | None:
        """Return the row with this id, or None."""

    def with_document(self, row: SharedRow, document: JsonObject) -> SharedRow:
        """Return an unsaved copy of the row with the document's values, for display."""

    def document_of(self, row: SharedRow) -> JsonObject:
        """Return the editable values of the row as JSON. Revisions store this document."""

    def portable(self, document: JsonObject) -> JsonObject:
        """Return the document for an archive, without values that depend on other content of this site."""

    def write(
        self,
        *,
        row_id: UUID,
        document: JsonObject,
        actor: Actor,
        expected_version: int | None,
        reason: str,
    ) -> SharedRow:
        """Write the document to the live row through the app's service, with all its rules."""


shared_kinds: ExtensionPoint[SharedKind] = ExtensionPoint()
"""Registered kinds, by name."""


def find_kind(name: str) -> SharedKind:
    """Return the kind with this name. Raises `NotFound`."""
    kind = shared_kinds.get(name)
    if kind is None:
        raise NotFound(f"There is no kind of shared content {name[:40]!r}.")
    return kind
