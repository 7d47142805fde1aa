"""Content as the wire has it. The one place where names turn into camelCase."""

from content.presenters.layers import layer_changes, plain, submitted
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
    "layer_changes",
    "layer_states",
    "layered_modules",
    "listed_post",
    "live_module",
    "module_schema",
    "plain",
    "post_fields",
    "submitted",
    "translations",
]
