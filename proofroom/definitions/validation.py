"""Validation of props, with errors by path: `props.items.0.question`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import cast

from django.utils.translation import gettext as _
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from proofroom.core.errors import RuleViolation
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.errors import describe_translated, details_of, shorten_key
from proofroom.definitions.fields import ModuleProps
from proofroom.definitions.props import defaults, props_of

_MAX_PATHS = 20


def check(
    props: type[ModuleProps], values: Mapping[str, Json], *, prefix: str, what: str
) -> JsonObject:
    """Return the complete, cleaned values with defaults.

    Raises `RuleViolation` (`invalid_props`): details begin with `prefix`, the sentence names `what`.
    """
    try:
        # Pydantic would refuse a Mapping that is not a dict, with a sentence about Python.
        checked = props.model_validate(dict(values))
    except ValidationError as error:
        details = details_of(
            error, lambda item: _sentence(props, item), prefix=prefix, limit=_MAX_PATHS
        )
        path, sentences = next(iter(details.items()))
        more = f" ({error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise RuleViolation(
            _("%(what)s is not valid: %(path)s: %(sentences)s%(more)s")
            % {"what": what, "path": path, "sentences": sentences[0], "more": more},
            code="invalid_props",
            details=details,
        ) from None
    return cast("JsonObject", checked.model_dump(mode="json", by_alias=True))


def check_partial(
    props: type[ModuleProps], values: Mapping[str, Json], *, prefix: str, what: str
) -> JsonObject:
    """Return the cleaned values of the given keys only."""
    full = check(props, {**defaults(props), **values}, prefix=prefix, what=what)
    return {key: full[key] for key in values}


def unknown(kind: str, name: str, known: Sequence[str], *, code: str, field: str) -> RuleViolation:
    """Return the error for a definition's name that does not exist."""
    message = _("no %(kind)s named %(readable)r; known: %(known)s") % {
        "kind": kind,
        "readable": shorten_key(name),
        "known": ", ".join(known) or "none",
    }
    return RuleViolation(message, code=code, details={field: [message]})


def _sentence(props: type[ModuleProps], error: ErrorDetails) -> str:
    if error["type"] != "extra_forbidden":
        return describe_translated(error)
    # Find the wire names allowed at the last part of the location.
    location = error["loc"]
    current: type[ModuleProps] | None = props
    for part in location[:-1]:
        if isinstance(part, str) and current is not None:
            prop = props_of(current).get(part)
            current = prop.nested if prop else None
    known = list(props_of(current)) if current else []
    name = shorten_key(error["loc"][-1])
    close = get_close_matches(name, known, 1, cutoff=0.7)
    hint = " " + _("Did you mean %(name)r?") % {"name": close[0]} if close else ""
    return _("There is no property %(name)r here.%(hint)s Known: %(known)s.") % {
        "name": name,
        "hint": hint,
        "known": ", ".join(known) or "none",
    }
