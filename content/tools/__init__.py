"""Tools of content for agents and AI clients: thin functions over the services. They stage in AI Review only."""

from content.tools import (
    create_post,
    definitions,
    global_modules,
    layout_suggestions,
    list_posts,
    module_groups,
    previews,
    read_post,
    revisions,
    stage_changes,
    submit,
    taxonomies,
    translations,
    validate,
)

__all__ = [
    "create_post",
    "definitions",
    "global_modules",
    "layout_suggestions",
    "list_posts",
    "module_groups",
    "previews",
    "read_post",
    "revisions",
    "stage_changes",
    "submit",
    "taxonomies",
    "translations",
    "validate",
]
