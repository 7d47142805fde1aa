"""Offer to have an agent try again at a change on a review card: first the agent that made it."""

from __future__ import annotations

from content.document import PostDocument
from content.layers.marks import Mark
from content.models import Layer
from content.review.references import kind_at
from proofroom.editorial.posts.panels import FieldAction, FieldActions, FieldPlace


def retry_action(
    path: str,
    kind: str,
    mark: Mark | None,
    *,
    layer: Layer,
    document: PostDocument,
    actions: FieldActions,
) -> FieldAction | None:
    """The link that asks again for what an agent or AI client proposed at `path`; None where nobody can be asked.

    `kind` is that of the change, `document` what AI Review holds: a new proposal goes there, whatever `layer` it is
    asked from.
    """
    if mark is None or not mark.is_ai or kind != "changed":
        return None
    place = _place(path, document, layer, mark.agent_id)
    offered = actions(place) if place is not None else ()
    return next(iter(offered), None)


def _place(path: str, document: PostDocument, layer: Layer, made_by: str) -> FieldPlace | None:
    kind, _nested = kind_at(path, document)
    if path.startswith("post."):
        return FieldPlace(path, kind, retried_in=layer.value, made_by=made_by)
    _, module_id, *rest = path.split(".", 3)
    module = document.module(module_id)
    if module is None or len(rest) < 2:
        return None
    key = f"module.{module.type}.{rest[1]}"
    return FieldPlace(key, kind, module_id, retried_in=layer.value, made_by=made_by)
