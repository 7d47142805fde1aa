"""Tags of what cached answers depend on. A change names the same tags to invalidate them.

The names of kinds are declared here. `cache_tags` turns these tags into the ones that CDNs and frontends see, which
have ids with hyphens; here ids have none, so that more of them fit into the list of recent changes.

An answer without tags depends on everything, and a change without tags changes everything: a forgotten tag
invalidates too much, never too little.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2s
from typing import Final
from uuid import UUID

POST: Final = "post"
MEDIA: Final = "media"
LIST: Final = "list"
EVERYTHING: Final = "*"
"""The tag of every answer, and of changes whose effects are unknown."""
INCOMPLETE: Final = "!"
"""The tag of an answer with a failed part. No cache stores it."""
ANY_TYPE: Final = "any"
"""The type of lists that show posts of all types."""
_collected: ContextVar[set[str] | None] = ContextVar("collected", default=None)


@contextmanager
def collect_tags() -> Iterator[set[str]]:
    """Collect the tags passed to `depend_on` in the block."""
    tags: set[str] = set()
    token = _collected.set(tags)
    try:
        yield tags
    finally:
        _collected.reset(token)


def depend_on(*tags: str) -> None:
    """Add dependencies to the answer that is being built, if there is one."""
    collected = _collected.get()
    if collected is not None:
        collected.update(tags)


def tag_of_post(post_id: UUID | str) -> str:
    return f"{POST}:{str(post_id).replace('-', '')}"


def tag_of_group(translation_group: UUID | str) -> str:
    """Return the tag of the set of posts that are translations of each other."""
    return f"group:{str(translation_group).replace('-', '')}"


def tag_of_path(path: str) -> str:
    """Return the tag of the post at a path."""
    return f"path:{blake2s(path.encode(), digest_size=8).hexdigest()}"


def tag_of_list(post_type: str) -> str:
    """Return the tag of the published posts of a type and the content of their cards."""
    return f"{LIST}:{post_type}"


def tag_of_media(asset_id: UUID | str) -> str:
    return f"{MEDIA}:{str(asset_id).replace('-', '')}"
