"""The types of posts, for apps that stand below the one that defines them."""

from __future__ import annotations

from collections.abc import Mapping

from proofroom.core.hooks import Hook

post_type_sources: Hook[[], Mapping[str, str]] = Hook()
"""Asked for the types that an app defines: their labels by name."""


def post_type_labels() -> dict[str, str]:
    """Every type by name, with what people call it."""
    return dict(sorted(item for labels in post_type_sources() for item in labels.items()))
