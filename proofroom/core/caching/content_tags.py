"""The names of what cached answers depend on: what changes names the same.

An answer that does not say what it depends on depends on everything, and so does a change that does not say what it
changed: forgetting a tag makes an answer old too early, never too late.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2s
from typing import Final
from uuid import UUID

EVERYTHING: Final = "*"
"""The tag of every answer, and of changes that reach no one knows where."""
INCOMPLETE: Final = "!"
"""The tag of an answer of which a part failed. No cache keeps it."""
ANY_TYPE: Final = "any"
"""The type of lists that show posts of every type."""
_collected: ContextVar[set[str] | None] = ContextVar("collected", default=None)


@contextmanager
def collect_tags() -> Iterator[set[str]]:
    """Collect what the queries in the block say with `depend_on`."""
    tags: set[str] = set()
    token = _collected.set(tags)
    try:
        yield tags
    finally:
        _collected.reset(token)


def depend_on(*tags: str) -> None:
    """Say that the answer that is being made, if one is, shows what these tags name."""
    collected = _collected.get()
    if collected is not None:
        collected.update(tags)


def tag_of_post(post_id: UUID | str) -> str:
    return f"post:{str(post_id).replace('-', '')}"


def tag_of_group(translation_group: UUID | str) -> str:
    """Which posts are translations of one another."""
    return f"group:{str(translation_group).replace('-', '')}"


def tag_of_path(path: str) -> str:
    """Which post stands at a path."""
    return f"path:{blake2s(path.encode(), digest_size=8).hexdigest()}"


def tag_of_list(post_type: str) -> str:
    """Which posts of a type are published, and what cards of them show."""
    return f"list:{post_type}"


def tag_of_media(asset_id: UUID | str) -> str:
    return f"media:{str(asset_id).replace('-', '')}"
