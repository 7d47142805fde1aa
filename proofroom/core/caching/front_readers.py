"""Reads that are answered before Django where nothing kept does, as long as nothing about a call is unusual.

An app registers one for its addresses; `front_reads` asks it. What a reader does not answer goes on to Django.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from proofroom.core.caching.answer_cache import CachedAnswer
from proofroom.core.caching.version_lease import LiveState
from proofroom.core.hooks import ExtensionPoint

if TYPE_CHECKING:
    from proofroom.core.caching.front_cache import FrontRequest, Kind


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """An answer as it is at a state. Its headers are those of its `kind` (`keep_in_front`) and its own.

    One that is not `is_for_all` is kept for nobody else. `shows_limit`: its headers say how many calls are left.
    """

    state: LiveState
    answer: CachedAnswer
    kind: Kind
    is_for_all: bool = True
    shows_limit: bool = True


class FrontReader(Protocol):
    """Answers visitors, of whom nothing is known. `scope` names the limit of its calls, if they are counted.

    `route` is what its calls are measured as; readers of one route share it.
    """

    scope: str
    route: str

    def takes(self, path: str) -> bool:
        """Whether the address is one of its own."""

    def read(self, asked: FrontRequest) -> ReadAnswer | None:
        """The answer; None where Django must give it."""


front_readers: Final[ExtensionPoint[FrontReader]] = ExtensionPoint()
"""Registered by the name of their route."""
