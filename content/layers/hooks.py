"""Hooks of the layers of a post: apps above content follow what is proposed and what was written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from content.models import Post
from proofroom.core.actor import Actor
from proofroom.core.hooks import Hook

if TYPE_CHECKING:
    from content.layers.state import LayerView

before_layer_staged: Hook[[LayerView, Post, Actor, Sequence[str]], None] = Hook()
"""Called in the transaction before a proposal is stored, with the paths that it changes.

What is raised undoes the proposal.
"""

layers_written: Hook[[Post, Sequence[LayerView]], None] = Hook()
"""Called in the transaction after a layer was written, with the layers that may have changed."""
