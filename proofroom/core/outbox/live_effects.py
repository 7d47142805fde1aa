"""The effects of events on what visitors can get: stale tags, changed and gone addresses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from proofroom.core.caching.cache_tags import SITE
from proofroom.core.json import Json, JsonObject


@dataclass(frozen=True, slots=True)
class LiveEffect:
    """What an event changed for visitors.

    `tags` are the tags of `Cache-Tag`. `paths` and `gone` are addresses of the first tag. With `is_gone` the thing of
    the first tag was deleted. `was_live` is False if the payload does not say whether visitors saw the post before.
    """

    cause: str
    tags: tuple[str, ...]
    paths: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    is_gone: bool = False
    was_live: bool = True


Effect = Callable[[JsonObject], LiveEffect | None]
"""Returns the effect of an event with this payload; None if visitors see no difference."""


def site_effect(payload: JsonObject) -> LiveEffect:
    """Return the effect of a setting that any page may depend on."""
    return LiveEffect("settings", (SITE,))


def text_of(payload: Mapping[str, Json], name: str) -> str:
    """Return a text of a payload; "" if it is missing, as after the payload was forgotten."""
    value = payload.get(name)
    return value if isinstance(value, str) else ""
