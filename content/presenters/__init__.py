"""Content in the format of the API, with camelCase names."""

from content.presenters.layers import layer_changes, present_submitted, value_as_json
from content.presenters.posts import (
    Wire,
    canonical,
    layer_states,
    layered_modules,
    listed_post,
    module_schema,
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
    "module_schema",
    "post_fields",
    "present_submitted",
    "translations",
    "value_as_json",
]
