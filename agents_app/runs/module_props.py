"""The props of modules as their pages show them."""

from __future__ import annotations

from content.document.document import ModuleDocument, PostDocument
from content.models import ModuleInstance
from proofroom.core.json import JsonObject


def shared_props(document: PostDocument) -> dict[str, JsonObject]:
    """Return the props of the global modules of a document, by instance id. One query, none without them."""
    ids = [module.instance_id for module in document.modules if module.scope == "global"]
    if not ids:
        return {}
    rows = ModuleInstance.objects.filter(pk__in=ids).values_list("pk", "props")
    return {str(pk): props for pk, props in rows}


def current_props(document: PostDocument, module: ModuleDocument) -> JsonObject:
    """Return the props of a module with its overrides. One query for a global module."""
    shared = shared_props(document) if module.scope == "global" else {}
    return {**shared.get(module.instance_id, {}), **module.props, **module.overrides}
