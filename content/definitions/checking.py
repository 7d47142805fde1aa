"""Props against their class, with errors keyed by path: `props.items.0.question`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import cast

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from content.definitions.fields import ModuleProps
from content.definitions.shape import props_of
from core.errors import RuleViolation
from core.json import Json, JsonObject
from core.words import in_words

_MOST_PATHS = 20
_LONGEST_KEY = 80
_SENTENCES = {
    "string_type": gettext_noop("This should be text."),
    "list_type": gettext_noop("This should be a list."),
    "dict_type": gettext_noop("This should be an object."),
    "model_type": gettext_noop("This should be an object."),
    "string_unicode": gettext_noop(
        "This holds half of a character (a lone surrogate), which cannot be stored."
    ),
}
"""In place of pydantic's, which speak of Python."""
_PYDANTIC = {
    "string_too_long": gettext_noop("String should have at most {max_length} characters"),
    "string_too_short": gettext_noop("String should have at least {min_length} characters"),
    "too_long": gettext_noop("The list should have at most {max_length} items"),
    "too_short": gettext_noop("The list should have at least {min_length} items"),
    "greater_than_equal": gettext_noop("Input should be greater than or equal to {ge}"),
    "less_than_equal": gettext_noop("Input should be less than or equal to {le}"),
    "literal_error": gettext_noop("Input should be {expected}"),
    "bool_type": gettext_noop("Input should be a valid boolean"),
    "int_type": gettext_noop("Input should be a valid integer"),
    "float_type": gettext_noop("Input should be a valid number"),
    "missing": gettext_noop("Field required"),
}
"""Pydantic's own, to be translated; in English they are said as pydantic says them."""


def defaults(props: type[ModuleProps]) -> JsonObject:
    """A new dict of the defaults, as JSON."""
    return cast("JsonObject", props().model_dump(mode="json", by_alias=True))


def check(
    props: type[ModuleProps], values: Mapping[str, Json], *, prefix: str, what: str
) -> JsonObject:
    """The full, cleaned values with defaults filled.

    Raises `RuleViolation` (`invalid_props`): details begin with `prefix`, the sentence names `what`.
    """
    try:
        # A Mapping that is no dict would be refused by pydantic with a sentence about Python.
        checked = props.model_validate(dict(values))
    except ValidationError as error:
        raise _violation(props, error.errors(include_url=False), prefix, what) from None
    return cast("JsonObject", checked.model_dump(mode="json", by_alias=True))


def check_partial(
    props: type[ModuleProps], values: Mapping[str, Json], *, prefix: str, what: str
) -> JsonObject:
    """The cleaned values of the given keys only."""
    full = check(props, {**defaults(props), **values}, prefix=prefix, what=what)
    return {key: full[key] for key in values}


def unknown(kind: str, name: str, known: Sequence[str], *, code: str, field: str) -> RuleViolation:
    """The refusal of a definition's name that does not exist."""
    message = _("no %(kind)s named %(readable)r; known: %(known)s") % {
        "kind": kind,
        "readable": _readable(name),
        "known": ", ".join(known) or "none",
    }
    return RuleViolation(message, code=code, details={field: [message]})


def _violation(
    props: type[ModuleProps], errors: Sequence[ErrorDetails], prefix: str, what: str
) -> RuleViolation:
    details: dict[str, list[str]] = {}
    for error in errors[:_MOST_PATHS]:
        path = ".".join([prefix, *(_readable(part) for part in error["loc"])])
        details.setdefault(path, []).append(_sentence(props, error))
    path, sentences = next(iter(details.items()))
    more = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
    return RuleViolation(
        _("%(what)s is not valid: %(path)s: %(sentences)s%(more)s")
        % {"what": what, "path": path, "sentences": sentences[0], "more": more},
        code="invalid_props",
        details=details,
    )


def _sentence(props: type[ModuleProps], error: ErrorDetails) -> str:
    if error["type"] != "extra_forbidden":
        own = _SENTENCES.get(error["type"])
        return _(own) if own else said_by_pydantic(error).rstrip(".") + "."
    known = _known_at(props, error["loc"])
    name = _readable(error["loc"][-1])
    close = get_close_matches(name, known, 1, cutoff=0.7)
    hint = " " + _("Did you mean %(name)r?") % {"name": close[0]} if close else ""
    return _("There is no property %(name)r here.%(hint)s Known: %(known)s.") % {
        "name": name,
        "hint": hint,
        "known": ", ".join(known) or "none",
    }


def said_by_pydantic(error: ErrorDetails) -> str:
    """Pydantic's sentence in the reader's language, where it is one that people meet."""
    plain = _PYDANTIC.get(error["type"], "")
    translated = in_words(plain)
    if translated == plain:
        return error["msg"]
    return translated.format(**error.get("ctx", {}))


def _known_at(props: type[ModuleProps], location: tuple[int | str, ...]) -> list[str]:
    """The wire names allowed where the last part of the location stands."""
    here: type[ModuleProps] | None = props
    for part in location[:-1]:
        if isinstance(part, str) and here is not None:
            prop = props_of(here).get(part)
            here = prop.nested if prop else None
    return list(props_of(here)) if here else []


def _readable(part: int | str) -> str:
    """A key as a caller may see it: short, and encodable even where JSON held a lone surrogate."""
    text = str(part).encode("utf-8", "replace").decode()
    return text if len(text) <= _LONGEST_KEY else text[: _LONGEST_KEY - 1] + "…"
