"""Headings of level 1 in pasted and imported texts. A page shows its own title as its only `h1`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from proofroom.core.json import Json, JsonObject


def lower_title_headings(node: Mapping[str, Json]) -> JsonObject:
    """Return a rich-text document whose headings of level 1 have level 2.

    For texts that are pasted or imported. Stored documents and those of the API stay as they are.
    """
    lowered = dict(node)
    attrs = node.get("attrs")
    if node.get("type") == "heading" and isinstance(attrs, Mapping) and attrs.get("level") == 1:
        lowered["attrs"] = {**attrs, "level": 2}
    content = node.get("content")
    if isinstance(content, list):
        lowered["content"] = [
            lower_title_headings(cast("Mapping[str, Json]", child))
            if isinstance(child, Mapping)
            else child
            for child in content
        ]
    return lowered
