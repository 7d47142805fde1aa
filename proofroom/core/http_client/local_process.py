"""Asking a process of our own on this machine. Nobody can send this elsewhere: it takes a port, not an address."""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from typing import Final

SECONDS: Final = 1.0
_HOST: Final = "127.0.0.1"


def own_status(port: int, path: str, *, headers: Mapping[str, str] | None = None) -> int | None:
    """The status that a GET is answered with; None where nobody answers in time. The body is not read."""
    line = http.client.HTTPConnection(_HOST, port, timeout=SECONDS)
    try:
        line.request("GET", path, headers=dict(headers or {}))
        return line.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        line.close()
