"""Labels of the groups of tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

_LABELS: Final[Mapping[str, Promise]] = {
    "agents": gettext_lazy("Agents"),
    "comments": gettext_lazy("Comments"),
    "context": gettext_lazy("Context"),
    "diagnostics": gettext_lazy("Diagnostics"),
    "layout": gettext_lazy("Layout"),
    "media": gettext_lazy("Media"),
    "posts": gettext_lazy("Posts"),
    "previews": gettext_lazy("Previews"),
    "taxonomies": gettext_lazy("Taxonomies"),
    "translations": gettext_lazy("Translations"),
}


def tool_group_label(name: str) -> str:
    return str(_LABELS.get(name, name.capitalize()))
