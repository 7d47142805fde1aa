"""The fields a run is limited to: `onlyFields` of its context, a list of paths of the document.

The prompt names them, and the limit is enforced: an answer that changes another path is refused,
and such a run has only reading tools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from django.utils.translation import gettext as _

from content.document.changes import diff
from content.document.document import AGENT_FIELD_NAMES, CUSTOM_PREFIX, PostDocument
from content.layers import open_layers
from content.models import Post
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import find_post_type, modules, props_of

ONLY_FIELDS: Final = "onlyFields"
MAX_ONLY_FIELDS: Final = 500
Edit = Callable[[PostDocument], PostDocument]


def only_fields(context: Mapping[str, Json]) -> frozenset[str]:
    """Return the paths a run with this context may change; empty for no limit."""
    paths = context.get(ONLY_FIELDS)
    return frozenset(str(path) for path in paths) if isinstance(paths, list) else frozenset()


def check_only_fields(post: Post | None, context: JsonObject | None) -> None:
    """Raise `RuleViolation` on `context` unless each path is a field of the post that agents may propose."""
    if not context or ONLY_FIELDS not in context:
        return
    paths = context[ONLY_FIELDS]
    if post is None:
        raise invalid("context", _("onlyFields needs a post."))
    if not isinstance(paths, list) or not 1 <= len(paths) <= MAX_ONLY_FIELDS:
        message = _("onlyFields must be a list of 1 to %(most)s paths.") % {"most": MAX_ONLY_FIELDS}
        raise invalid("context", message)
    document = open_layers(post).ai_review.document
    for path in paths:
        if not isinstance(path, str) or not _is_field(document, path):
            message = _("onlyFields: %(path)s is not a field of this post that agents can change.")
            raise invalid("context", message % {"path": str(path)[:200]}, code="unknown_path")


def _is_field(document: PostDocument, path: str) -> bool:
    kind, _dot, rest = path.partition(".")
    if kind == "post":
        if rest.startswith(CUSTOM_PREFIX):
            known = props_of(find_post_type(document.type).CustomFields)
            return rest.removeprefix(CUSTOM_PREFIX) in known
        return rest in AGENT_FIELD_NAMES
    parts = path.split(".")
    if kind != "modules" or len(parts) != 4:
        return False
    module = document.module(parts[1])
    definition = modules.get(module.type) if module else None
    if module is None or definition is None:
        return False
    part = "props" if module.scope == "local" else "overrides"
    return parts[2] == part and parts[3] in props_of(definition.Props)


def limit_edit(edit: Edit, context: Mapping[str, Json]) -> Edit:
    """Return the edit, raising `RuleViolation` if it changes other fields than the run's."""
    allowed = only_fields(context)
    if not allowed:
        return edit

    def limited(document: PostDocument) -> PostDocument:
        after = edit(document)
        outside = [path for path in diff(document, after).paths if path not in allowed]
        if outside:
            message = f"Only these fields were asked for: {', '.join(sorted(allowed))}."
            raise RuleViolation(
                f"{message} Leave out {outside[0]}.",
                code="not_asked_for",
                details={path: ["Not asked for: leave it as it is."] for path in outside},
            )
        return after

    return limited
