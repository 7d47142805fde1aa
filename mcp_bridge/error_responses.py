"""Errors answered by the HTTP application before the protocol."""

from __future__ import annotations

from typing import Final

from starlette.responses import JSONResponse

CREDENTIAL_ENDED: Final = "The credential was revoked, has expired, or its account was changed."


def refusal(
    status: int, error: str, code: str, headers: dict[str, str] | None = None
) -> JSONResponse:
    """Return an error in the format of all endpoints of the product."""
    return JSONResponse({"error": error, "code": code, "details": {}}, status, headers)
