"""Global modules as a kind of shared content with revisions and proposals."""

from __future__ import annotations

from copy import copy
from uuid import UUID

from django.utils.translation import gettext_lazy

from content.models import ModuleInstance
from content.modules.global_modules import global_document, write_global
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject
from proofroom.shared_content.shared_types import GLOBAL_MODULE, SharedRow


class GlobalModuleKind:
    name = GLOBAL_MODULE
    label = gettext_lazy("Global modules")
    permission = "globals.edit"
    model = ModuleInstance

    def find(self, row_id: UUID) -> ModuleInstance | None:
        return ModuleInstance.objects.globals().filter(pk=row_id).first()

    def with_document(self, row: SharedRow, document: JsonObject) -> ModuleInstance:
        if not isinstance(row, ModuleInstance):
            raise TypeError(row)
        changed = copy(row)
        changed.label, changed.props = str(document["label"]), document["props"]
        return changed

    def document_of(self, row: SharedRow) -> JsonObject:
        if not isinstance(row, ModuleInstance):
            raise TypeError(row)
        return global_document(row)

    def portable(self, document: JsonObject) -> JsonObject:
        return document

    def write(
        self,
        *,
        row_id: UUID,
        document: JsonObject,
        actor: Actor,
        expected_version: int | None,
        reason: str,
    ) -> ModuleInstance:
        return write_global(
            row_id=row_id,
            document=document,
            actor=actor,
            expected_version=expected_version,
            reason=reason,
        )
