"""Refusals that the HTTP application answers before anything reaches the protocol."""

from __future__ import annotations

from typing import Final

from starlette.responses import JSONResponse

CREDENTIAL_ENDED: Final = "The credential was revoked, has expired, or its account was changed."


def refusal(
    status: int, error: str, code: str, headers: dict[str, str] | None = None
) -> JSONResponse:
    """An error of the HTTP face in the shape that every endpoint of the product uses."""
    return JSONResponse({"error": error, "code": code, "details": {}}, status, headers)
