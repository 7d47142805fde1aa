"""Which types of posts there are, for apps that stand below the one that defines them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Labels = Callable[[], Mapping[str, str]]
_sources: list[Labels] = []


def register(labels: Labels) -> None:
    """Have `labels()` asked for the types that an app defines: their labels by name."""
    if labels not in _sources:
        _sources.append(labels)


def post_type_labels() -> dict[str, str]:
    """Every type by name, with what people call it."""
    return dict(sorted(item for labels in _sources for item in labels().items()))
