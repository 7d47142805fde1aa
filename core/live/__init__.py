"""Open admin pages hear over a websocket what happens, each person of what they may know.

A message names an event and never what it holds: pages fetch what they show with their own rights. Nothing is kept
for a page that is away for long; it is told to load again. An app that knows who may see the thing of an event says
so with `register`.
"""

from __future__ import annotations

from core.live.presence import Here, register_presence
from core.live.rights import MayHear, Rule, register
from core.live.told import Told

__all__ = ["Here", "MayHear", "Rule", "Told", "register", "register_presence"]
