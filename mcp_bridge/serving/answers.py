"""What the HTTP face answers itself, before anything reaches the protocol."""

from __future__ import annotations

from typing import Final

from starlette.responses import JSONResponse

from core.availability import RETRY_AFTER_SECONDS, UNAVAILABLE
from mcp_bridge.access.credentials import NO_ACCOUNT

ENDED: Final = "The credential was revoked, has expired, or its account was changed."
_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="mcp", error="invalid_token"'}


def refusal(
    status: int, error: str, code: str, headers: dict[str, str] | None = None
) -> JSONResponse:
    """An error of the HTTP face in the shape that every endpoint of the product uses."""
    return JSONResponse({"error": error, "code": code, "details": {}}, status, headers)


def unauthenticated() -> JSONResponse:
    """The answer to no and to wrong credentials."""
    return refusal(
        401,
        "No valid credential: send `Authorization: Bearer <token>` or the configured header.",
        "not_authenticated",
        _CHALLENGE,
    )


def nobody_behind() -> JSONResponse:
    """The answer to a right credential that no active account stands behind."""
    return refusal(401, NO_ACCOUNT, "no_account", _CHALLENGE)


def nobody_to_ask() -> JSONResponse:
    """The answer while nobody knows who may come in."""
    return refusal(
        503,
        "Credentials cannot be checked just now. Try again in a moment.",
        UNAVAILABLE,
        {"Retry-After": str(RETRY_AFTER_SECONDS)},
    )


def too_many_tries(seconds: int) -> JSONResponse:
    return refusal(
        429,
        f"Too many wrong credentials from this address. Wait {seconds} seconds.",
        "too_many_tries",
        {"Retry-After": str(seconds)},
    )
