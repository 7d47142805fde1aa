"""The OpenAPI description of refusals and of the headers that every answer carries, declared once."""

from __future__ import annotations

from typing import Any, Final

_SENTENCES: Final = {
    "400": ("BadRequest", "The body is not JSON."),
    "401": ("NotAuthenticated", "No credentials, or wrong ones."),
    "403": ("NotAllowed", "The caller may not do this, or the CSRF token is missing."),
    "404": ("NotFound", "There is no such thing, or the caller may not see it."),
    "409": ("Conflict", "What the caller read has changed since; nothing was written."),
    "413": ("TooLarge", "The body is too large."),
    "415": ("UnsupportedMediaType", "The body is not of a type that is read here."),
    "422": ("Invalid", "Understood, and not valid; `details` says what, by path."),
    "429": ("TooManyRequests", "Too many requests."),
    "default": ("Refused", "Any other error."),
}


def _number(description: str) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "integer", "minimum": 0}}


_HEADERS: Final = {
    "X-RateLimit-Limit": ("RateLimit", _number("Calls that the window allows.")),
    "X-RateLimit-Remaining": ("RateRemaining", _number("Calls that it still allows.")),
    "X-RateLimit-Reset": ("RateReset", _number("When the window ends: seconds of Unix time.")),
    "Retry-After": ("RetryAfter", _number("Seconds to wait.")),
    "ETag": (
        "Version",
        {
            "description": "Of what was answered; send it back in If-None-Match or If-Match.",
            "schema": {"type": "string"},
        },
    ),
}


def headers(*names: str) -> dict[str, Any]:
    """References to shared headers."""
    return {name: {"$ref": f"#/components/headers/{_HEADERS[name][0]}"} for name in names}


RATE_HEADERS: Final = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")

_ERROR: Final = {
    "type": "object",
    "description": "What every error answers.",
    "required": ["error", "code", "details"],
    "properties": {
        "error": {"type": "string", "description": "A sentence for a person."},
        "code": {"type": "string", "description": "A word for a machine."},
        "details": {
            "type": "object",
            "description": "Sentences by the path of the field.",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
        "version": {
            "type": "integer",
            "description": "With stale_version: the version that stands now.",
        },
    },
}


def _response(status: str, sentence: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "description": sentence,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
    if status == "429":
        made["headers"] = headers("Retry-After", *RATE_HEADERS)
    return made


COMPONENTS: Final[dict[str, dict[str, Any]]] = {
    "schemas": {"Error": _ERROR},
    "headers": dict(_HEADERS.values()),
    "securitySchemes": {
        "secret": {"type": "apiKey", "in": "header", "name": "X-Agent-Key"},
        "secretBearer": {"type": "http", "scheme": "bearer"},
    },
    "responses": {name: _response(status, text) for status, (name, text) in _SENTENCES.items()},
}


def refusals(*statuses: str) -> dict[str, Any]:
    """References to the answers of these statuses, and to that of all others."""
    return {
        status: {"$ref": f"#/components/responses/{_SENTENCES[status][0]}"}
        for status in (*statuses, "default")
    }
