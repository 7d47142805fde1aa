"""Who wants to know of a layer before somebody's proposal changes it, in the same transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from content.layers.state import LayerView
from content.models import Post
from core.actor import Actor

Told = Callable[[LayerView, Post, Actor, Sequence[str]], None]
_told: Final[list[Told]] = []


def subscribe_before(told: Told) -> None:
    """Have `told(view, post, actor, paths)` called before each proposal is stored, which changes these paths.

    What it raises undoes the proposal.
    """
    if told not in _told:
        _told.append(told)


def tell_before(view: LayerView, post: Post, actor: Actor, paths: Sequence[str]) -> None:
    for told in _told:
        told(view, post, actor, paths)
