"""What becomes of a call. No text here holds more of an address than its host: paths and queries hold secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proofroom.core.errors import CmsError


@dataclass(frozen=True, slots=True)
class HttpResult:
    """Somebody answered. `headers` have names in lower case.

    `body` is what came of it, up to the limit; `note` says why it is not whole, where it is not.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    ms: int
    note: str = ""


class CallRefused(CmsError):
    """The rules forbid this call, now and later."""

    status = 422
    code = "outgoing_refused"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Unreachable(CmsError):
    """Nobody answered: the network, TLS, or the time. Another try may go better."""

    status = 502
    code = "unreachable"

    def __init__(self, reason: str, *, ms: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.ms = ms
