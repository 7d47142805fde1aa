"""The errors that services raise. Every face (REST, admin, MCP, tasks) turns them into its own answer.

`message` is a sentence for a person, `code` a word for a machine, `details` maps a field path to sentences:
the three parts of the error body of every HTTP endpoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Details = Mapping[str, Sequence[str]]


class CmsError(Exception):
    """Base of every refusal that a caller is meant to read."""

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
    """No credentials, or wrong ones."""

    status = 401
    code = "not_authenticated"


class NotAllowed(CmsError):
    """The caller is known and may not do this."""

    status = 403
    code = "not_allowed"


class NotFound(CmsError):
    """Absent, or not visible to the caller: both answer the same."""

    status = 404
    code = "not_found"


class Conflict(CmsError):
    """The thing changed under the caller. `current` is the version that stands now, where there is one."""

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
    """Well-formed, but against a rule."""

    status = 422
    code = "invalid"


def invalid(field: str, message: str, *, code: str = "invalid") -> RuleViolation:
    """A rule violation of one field."""
    return RuleViolation(message, code=code, details={field: [message]})
