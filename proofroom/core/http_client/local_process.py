"""Requests to a process of this site on the same machine.

Takes a port, not an address, so that it cannot reach others.
"""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from typing import Final

SECONDS: Final = 1.0
_HOST: Final = "127.0.0.1"


def own_status(port: int, path: str, *, headers: Mapping[str, str] | None = None) -> int | None:
    """Return the status of a GET; None if there is no response in time. The body is not read."""
    line = http.client.HTTPConnection(_HOST, port, timeout=SECONDS)
    try:
        line.request("GET", path, headers=dict(headers or {}))
        return line.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        line.close()
