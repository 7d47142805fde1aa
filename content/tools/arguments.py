"""Arguments that several tools share, and refusals that name the nearest valid one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import BeforeValidator, Field

from content.document import AGENT_FIELD_NAMES, FIELD_NAMES
from content.posts.document_edits import READ_ONLY
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.tools import Arguments
from proofroom.definitions import modules

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


PostId = UUID
ModuleId = UUID
Markdown = Annotated[str, Field(max_length=200_000)]
Format = Literal["concise", "full"]


def _ids(value: object) -> object:
    return [str(item).lower() for item in value] if isinstance(value, list) else value


Ids = Annotated[list[str], BeforeValidator(_ids), Field(max_length=200)]
Props = dict[str, Any]


class OnPost(Arguments):
    post_id: PostId


class Staging(OnPost):
    """Arguments of a tool that stages: `agentId` names the author."""

    agent_id: str | None = Field(None, max_length=80)


_STAGEABLE: Final = (*(n for n in FIELD_NAMES if n in AGENT_FIELD_NAMES), "customFields")
_PEOPLE: Final = (READ_ONLY | frozenset(FIELD_NAMES) | {"status", "layer", "mode", "locked"}) - (
    AGENT_FIELD_NAMES
)


def hint(name: str, known: Iterable[str]) -> str:
    """` Did you mean 'x'?`, or nothing where no known name is near."""
    close = get_close_matches(name.lower(), list(known), 1, cutoff=0.6)
    return f" Did you mean {close[0]!r}?" if close else ""


def require_module_type(name: str, field: str) -> None:
    """Raise `RuleViolation` on the argument `field` unless a module of that name is defined."""
    if name not in modules:
        known = modules.names()
        message = (
            f"There is no module type {name[:80]!r}.{hint(name, known)} Known: {', '.join(known)}."
        )
        raise invalid(field, message, code="unknown_module")


def require_stageable(patch: Mapping[str, object]) -> None:
    """A tool's patch is no document that was read: what cannot be staged is said, not ignored."""
    for name in patch:
        if name in (*_STAGEABLE, "taxonomyTermIds"):
            continue
        if name in _PEOPLE:
            message = (
                f"{name} cannot be staged. Agents propose content; "
                "people decide on status, layer, author, place and dates."
            )
            raise RuleViolation(message, code="not_stageable", details={name: [message]})
        if name == "modules":
            message = (
                "Modules are staged one by one: update_post_module_ai_review, "
                "add_module_to_post_ai_review, remove_post_module_ai_review."
            )
            raise invalid(name, message, code="unknown_field")
        known = ", ".join(_STAGEABLE)
        message = f"There is no post field {name[:80]!r}.{hint(name, _STAGEABLE)} Known: {known}."
        raise invalid(name[:80], message, code="unknown_field")
