"""Turns pydantic's errors into refusals: sentences for people by the path of the value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from django.utils.translation import get_language, gettext_noop
from django.utils.translation import gettext as _
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from proofroom.core.errors import RuleViolation
from proofroom.core.i18n import in_words

MAX_ERRORS: Final = 50
MAX_KEY_LENGTH: Final = 80
"""Characters that are shown of a key, which may be anything that the caller sent."""
_SENTENCES: Final = {
    "missing": gettext_noop("This is required."),
    "extra_forbidden": gettext_noop("There is no field of this name."),
    "string_type": gettext_noop("This must be text."),
    "string_unicode": gettext_noop(
        "This contains an incomplete character (a lone surrogate), which cannot be stored."
    ),
    "string_too_short": gettext_noop("This must have at least {min_length} characters."),
    "string_too_long": gettext_noop("This must have at most {max_length} characters."),
    "too_short": gettext_noop("This must have at least {min_length} entries."),
    "too_long": gettext_noop("This must have at most {max_length} entries."),
    "greater_than": gettext_noop("This must be more than {gt}."),
    "greater_than_equal": gettext_noop("This must be at least {ge}."),
    "less_than": gettext_noop("This must be less than {lt}."),
    "less_than_equal": gettext_noop("This must be at most {le}."),
    "literal_error": gettext_noop("This must be one of: {expected}."),
    "enum": gettext_noop("This must be one of: {expected}."),
    "bool_type": gettext_noop("This must be true or false."),
    "bool_parsing": gettext_noop("This must be true or false."),
    "int_type": gettext_noop("This must be a whole number."),
    "int_parsing": gettext_noop("This must be a whole number."),
    "int_from_float": gettext_noop("This must be a whole number."),
    "float_type": gettext_noop("This must be a number."),
    "float_parsing": gettext_noop("This must be a number."),
    "finite_number": gettext_noop("This must be a number."),
    "list_type": gettext_noop("This must be a list."),
    "tuple_type": gettext_noop("This must be a list."),
    "dict_type": gettext_noop("This must be an object."),
    "model_type": gettext_noop("This must be an object."),
    "model_attributes_type": gettext_noop("This must be an object."),
    "uuid_type": gettext_noop("This must be an ID (a UUID)."),
    "uuid_parsing": gettext_noop("This must be an ID (a UUID)."),
    "string_pattern_mismatch": gettext_noop("This is not written as it must be."),
}
"""By pydantic's types of errors, in place of its own sentences, which speak of Python."""
_EMPTY: Final = gettext_noop("This must not be empty.")
_NONE: Final[Mapping[str, str]] = {}
Describe = Callable[[ErrorDetails], str]
M = TypeVar("M", bound=BaseModel)


def validate_input(values: Mapping[str, Any], shape: type[M]) -> M:
    """Return the values as `shape`. Raises `RuleViolation` keyed by path."""
    try:
        return shape.model_validate(dict(values))
    except ValidationError as error:
        raise violation_of(error, shape) from None


def violation_of(error: ValidationError, model: type[BaseModel]) -> RuleViolation:
    """Return the refusal of a request body, which names the keys that there are."""
    known = ", ".join(field.alias or name for name, field in model.model_fields.items())

    def describe(item: ErrorDetails) -> str:
        if item["type"] != "extra_forbidden":
            return describe_translated(item)
        return _("There is no key %(key)r here. Known: %(known)s.") % {
            "key": shorten_key(item["loc"][-1]),
            "known": known or "–",
        }

    return refuse(details_of(error, describe))


def refuse(details: Mapping[str, list[str]]) -> RuleViolation:
    """Return a refusal with these details, whose message is the first of them."""
    path, sentences = next(iter(details.items()))
    return RuleViolation(f"{path}: {sentences[0]}", details=details)


def details_of(
    error: ValidationError, describe: Describe, *, prefix: str = "", limit: int = MAX_ERRORS
) -> dict[str, list[str]]:
    """Return the sentences of an error by path. Paths begin with `prefix`."""
    details: dict[str, list[str]] = {}
    for path, sentence in faults_of(error, describe, prefix=prefix, root="body", limit=limit):
        details.setdefault(path, []).append(sentence)
    return details


def first_fault(error: ValidationError, describe: Describe, *, root: str) -> tuple[str, str]:
    """Return the path and the sentence of what is wrong first."""
    return faults_of(error, describe, root=root, limit=1)[0]


def faults_of(
    error: ValidationError,
    describe: Describe,
    *,
    root: str,
    prefix: str = "",
    limit: int | None = None,
) -> list[tuple[str, str]]:
    """Return the path and the sentence of everything that is wrong; `root` is the path of the value as a whole."""
    return [
        (
            error_path([*([prefix] if prefix else []), *item["loc"]], root=root),
            describe(item),
        )
        for item in error.errors(include_url=False)[:limit]
    ]


def error_path(location: Iterable[int | str], *, root: str) -> str:
    """Return the path of a location, such as `fields.0.label`, or `root` for the value as a whole."""
    return ".".join(map(shorten_key, location)) or root


def shorten_key(key: int | str) -> str:
    """Return a key as a caller may see it: short, and encodable even where JSON held a lone surrogate."""
    text = str(key).encode("utf-8", "replace").decode()
    return text if len(text) <= MAX_KEY_LENGTH else text[: MAX_KEY_LENGTH - 1] + "…"


def describe_translated(item: ErrorDetails, own: Mapping[str, str] = _NONE) -> str:
    """Return what is wrong in the reader's language, in the `own` words of a place for its type or in those of all.

    Our validators speak the reader's language themselves: a `ValueError`, or a custom error with its `sentence`.
    Anything else is said in English as pydantic does, and in other languages not at all.
    """
    kind, limits = item["type"], dict(item.get("ctx", {}))
    if kind == "value_error" or "sentence" in limits:
        return reason_of(item).rstrip(".") + "."
    if kind in ("string_too_short", "too_short") and limits["min_length"] == 1:
        return in_words(_EMPTY)
    plain = own.get(kind) or _SENTENCES.get(kind)
    if plain is None and (get_language() or "en").startswith("en"):
        return reason_of(item).replace("Input should be", "This must be").rstrip(".") + "."
    if plain is None:
        return _("This value is not valid.")
    if "expected" in limits:
        limits["expected"] = str(limits["expected"]).replace("' or '", "', '")
    return in_words(plain).format(**limits)


def reason_of(item: ErrorDetails) -> str:
    """Return pydantic's message, or that of the validator which raised it."""
    return item["msg"].removeprefix("Value error, ")
