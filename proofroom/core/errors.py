"""Errors raised by services. REST, admin, MCP and tasks each turn them into their own responses.

`message` is a sentence for people, `code` a word for programs, and `details` maps a field path to sentences: the
three parts of the error body of every HTTP endpoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Details = Mapping[str, Sequence[str]]


class CmsError(Exception):
    """Base of all errors that are shown to callers."""

    status = 500
    code = "error"

    def __init__(
        self, message: str, *, code: str | None = None, details: Details | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.details: dict[str, list[str]] = {
            key: list(value) for key, value in (details or {}).items()
        }


class NotAuthenticated(CmsError):
    """The credentials are missing or wrong."""

    status = 401
    code = "not_authenticated"


class NotAllowed(CmsError):
    """The caller is known but lacks the permission."""

    status = 403
    code = "not_allowed"


class NotFound(CmsError):
    """The object does not exist or the caller may not view it: both get the same answer."""

    status = 404
    code = "not_found"


class Gone(CmsError):
    """The object existed, and has ended."""

    status = 410
    code = "gone"


class Conflict(CmsError):
    """The object changed in the meantime. `current` is its version now, if it has one."""

    status = 409
    code = "conflict"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        details: Details | None = None,
        current: int | None = None,
    ) -> None:
        super().__init__(message, code=code, details=details)
        self.current = current


class RuleViolation(CmsError):
    """The input is well-formed but violates a rule."""

    status = 422
    code = "invalid"


def invalid(field: str, message: str, *, code: str = "invalid") -> RuleViolation:
    """Return a rule violation of one field."""
    return RuleViolation(message, code=code, details={field: [message]})


def cost_exceeded(field: str, message: str) -> RuleViolation:
    """Return the rule violation of a parameter that asks for too much work."""
    return invalid(field, message, code="cost_exceeded")
