"""Types of posts, for apps that cannot import the app that defines them."""

from __future__ import annotations

from collections.abc import Mapping

from proofroom.core.hooks import Hook

post_type_sources: Hook[[], Mapping[str, str]] = Hook()
"""Returns the types an app defines: labels by name."""


def post_type_labels() -> dict[str, str]:
    """Return the labels of all types by name."""
    return dict(sorted(item for labels in post_type_sources() for item in labels.items()))
