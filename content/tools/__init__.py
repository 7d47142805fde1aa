"""Tools of content for agents and AI clients: thin functions over the services. They stage in AI Review only."""

from content.tools import (
    create_post,
    definitions,
    global_modules,
    list_posts,
    module_layouts,
    post_terms,
    read_post,
    revisions,
    stage_changes,
    translations,
    validate,
)

__all__ = [
    "create_post",
    "definitions",
    "global_modules",
    "list_posts",
    "module_layouts",
    "post_terms",
    "read_post",
    "revisions",
    "stage_changes",
    "translations",
    "validate",
]
