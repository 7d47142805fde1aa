"""Conversion of pydantic errors into `RuleViolation`, with sentences for people by path."""

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
"""Maximum length of a key in messages, because keys come from the caller."""
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
"""Sentences by pydantic's error type. Pydantic's own messages use Python terms."""
_EMPTY: Final = gettext_noop("This must not be empty.")
_NONE: Final[Mapping[str, str]] = {}
Describe = Callable[[ErrorDetails], str]
M = TypeVar("M", bound=BaseModel)


def validate_input(values: Mapping[str, Any], shape: type[M]) -> M:
    """Validate the values as `shape`. Raises `RuleViolation` keyed by path."""
    try:
        return shape.model_validate(dict(values))
    except ValidationError as error:
        raise violation_of(error, shape) from None


def violation_of(error: ValidationError, model: type[BaseModel]) -> RuleViolation:
    """Return the error of a request body, which lists the known keys for an unknown one."""
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
    """Return an error with these details and the first of them as its message."""
    path, sentences = next(iter(details.items()))
    return RuleViolation(f"{path}: {sentences[0]}", details=details)


def details_of(
    error: ValidationError, describe: Describe, *, prefix: str = "", limit: int = MAX_ERRORS
) -> dict[str, list[str]]:
    """Return the sentences of an error by path. `prefix` is prepended to the paths."""
    details: dict[str, list[str]] = {}
    for path, sentence in list_errors(error, describe, prefix=prefix, root="body", limit=limit):
        details.setdefault(path, []).append(sentence)
    return details


def first_fault(error: ValidationError, describe: Describe, *, root: str) -> tuple[str, str]:
    """Return the path and the sentence of the first error."""
    return list_errors(error, describe, root=root, limit=1)[0]


def list_errors(
    error: ValidationError,
    describe: Describe,
    *,
    root: str,
    prefix: str = "",
    limit: int | None = None,
) -> list[tuple[str, str]]:
    """Return the paths and sentences of all errors. `root` is the path of the whole value."""
    return [
        (
            error_path([*([prefix] if prefix else []), *item["loc"]], root=root),
            describe(item),
        )
        for item in error.errors(include_url=False)[:limit]
    ]


def error_path(location: Iterable[int | str], *, root: str) -> str:
    """Return the path of a location, such as `fields.0.label`, or `root` for the whole value."""
    return ".".join(map(shorten_key, location)) or root


def shorten_key(key: int | str) -> str:
    """Return a key for a message: shortened, and encodable even if the JSON had a lone surrogate."""
    text = str(key).encode("utf-8", "replace").decode()
    return text if len(text) <= MAX_KEY_LENGTH else text[: MAX_KEY_LENGTH - 1] + "…"


def describe_translated(item: ErrorDetails, own: Mapping[str, str] = _NONE) -> str:
    """Return the error's sentence in the reader's language. `own` overrides the default sentences by type.

    Our validators (a `ValueError` or a custom error with a `sentence`) are already translated. For other errors
    English readers get pydantic's message, all others a general one.
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
        # Pydantic writes "'a', 'b' or 'c'", with an English word.
        limits["expected"] = str(limits["expected"]).replace("' or '", "', '")
    return in_words(plain).format(**limits)


def reason_of(item: ErrorDetails) -> str:
    """Return pydantic's message, or the message of the validator that raised it."""
    return item["msg"].removeprefix("Value error, ")
