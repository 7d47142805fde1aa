"""Tools of content for agents and AI clients: thin functions over the services. They stage in AI Review only."""

from content.tools import (
    context,
    creating,
    global_modules,
    groups,
    layout,
    listing,
    previews,
    reading,
    revisions,
    staging,
    submitting,
    taxonomies,
    translating,
    validating,
)

__all__ = [
    "context",
    "creating",
    "global_modules",
    "groups",
    "layout",
    "listing",
    "previews",
    "reading",
    "revisions",
    "staging",
    "submitting",
    "taxonomies",
    "translating",
    "validating",
]
