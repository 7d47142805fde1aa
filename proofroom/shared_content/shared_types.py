"""The kinds of content that many pages show. Each app registers its own, with how it is read and written."""

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
    """A row of such content; `version` counts its changes."""

    @property
    def pk(self) -> UUID: ...

    @property
    def version(self) -> int: ...


class SharedKind(Protocol):
    """One kind of content that many pages show."""

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> Promise:
        """What people call them, all together."""

    @property
    def permission(self) -> str:
        """What somebody needs who may edit them."""

    @property
    def model(self) -> type[Model]: ...

    def find(self, row_id: UUID) -> SharedRow | None:
        """The row of that id."""

    def with_document(self, row: SharedRow, document: JsonObject) -> SharedRow:
        """A copy of the row as the document has it, to be shown and never stored."""

    def document_of(self, row: SharedRow) -> JsonObject:
        """What people edit of the row, as JSON: what its revisions hold."""

    def portable(self, document: JsonObject) -> JsonObject:
        """The document as an archive holds it: without what follows from other content of this site."""

    def write(
        self,
        *,
        row_id: UUID,
        document: JsonObject,
        actor: Actor,
        expected_version: int | None,
        reason: str,
    ) -> SharedRow:
        """Make the live row what the document says, by the service of the app and its rules."""


shared_kinds: ExtensionPoint[SharedKind] = ExtensionPoint()
"""By the name of the kind."""


def find_kind(name: str) -> SharedKind:
    """The kind of that name. Raises `NotFound`."""
    kind = shared_kinds.get(name)
    if kind is None:
        raise NotFound(f"There is no kind of shared content {name[:40]!r}.")
    return kind
