"""Endpoints that are answered before Django, as long as nothing about a call is unusual.

An app registers one for a path; `front_posts` asks it. What an endpoint does not take goes on to Django, which knows
why and says it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from proofroom.core.hooks import ExtensionPoint

if TYPE_CHECKING:
    from proofroom.core.caching.front_posts import FrontCall


class FrontEndpoint(Protocol):
    """Takes the posts of a path. `scope` names the limit of its calls."""

    path: str
    scope: str
    max_body_bytes: int

    def answer(self, call: FrontCall) -> bytes | None:
        """The JSON to answer with 200; None where Django must judge. Then nothing may have been kept."""


front_endpoints: Final[ExtensionPoint[FrontEndpoint]] = ExtensionPoint()
"""Registered by the name of their path."""
