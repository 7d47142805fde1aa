"""Who wants to know how the layers of a post stand once they, or what is below them, were written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from content.models import Post

if TYPE_CHECKING:
    from content.layers.state import LayerView

Told = Callable[[Post, Sequence["LayerView"]], None]
_told: Final[list[Told]] = []


def subscribe_after(told: Told) -> None:
    """Have `told(post, views)` called in the transaction of each write, with the layers that may differ now."""
    if told not in _told:
        _told.append(told)


def tell_after(post: Post, views: Sequence[LayerView]) -> None:
    for told in _told:
        told(post, views)
