"""The newest posts of a type, as a module asks for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MOST_LISTED: Final = 48


@dataclass(frozen=True, slots=True)
class PostList:
    """The newest published posts of a type in the language of the page, at most `MOST_LISTED`.

    With `term_ids`, those that carry one of the terms.
    """

    type: str
    limit: int
    term_ids: tuple[str, ...] = ()
