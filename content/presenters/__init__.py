"""Content as the wire has it. The one place where names turn into camelCase."""

from content.presenters.copies import (
    preview_link,
    standing,
    tested,
    translation,
    trashed,
    variation,
)
from content.presenters.definitions import (
    module_definition,
    module_group,
    static_module,
    whole_definition,
)
from content.presenters.globals import global_module, global_usage, module_revision
from content.presenters.history import provenance, revision
from content.presenters.layers import changes, layer_changes, plain, submitted
from content.presenters.modules import Wire, layered_modules, live_module, module_schema
from content.presenters.posts import (
    canonical,
    layer_states,
    listed_post,
    post_fields,
    translations,
)

__all__ = [
    "Wire",
    "canonical",
    "changes",
    "global_module",
    "global_usage",
    "layer_changes",
    "layer_states",
    "layered_modules",
    "listed_post",
    "live_module",
    "module_definition",
    "module_group",
    "module_revision",
    "module_schema",
    "plain",
    "post_fields",
    "preview_link",
    "provenance",
    "revision",
    "standing",
    "static_module",
    "submitted",
    "tested",
    "translation",
    "translations",
    "trashed",
    "variation",
    "whole_definition",
]
