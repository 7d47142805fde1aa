"""Advice for a model that named what is not there: it easily makes up an id, and would never see the gap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from proofroom.core.errors import RuleViolation

_FINDERS: Final[Mapping[str, str]] = {
    "unknown_media": "search_media finds a file",
    "unknown_post": "list_posts finds a post",
    "unknown_term": "list_taxonomy_terms names the terms",
    "unknown_form": "list_registry_items names the forms",
}


def with_finder(error: RuleViolation) -> RuleViolation:
    """The refusal of a reference with the tool that finds what can be named; any other as it is."""
    finder = _FINDERS.get(error.code)
    path = next(iter(error.details), None)
    if finder is None or path is None:
        return error
    message = f"{error.message} {finder}; leave {path} out to keep what is there."
    return RuleViolation(message, code=error.code, details={**error.details, path: [message]})
