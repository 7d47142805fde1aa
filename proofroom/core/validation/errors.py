"""Turns pydantic's errors into refusals: sentences for people by the path of the value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from django.utils.translation import get_language, gettext_noop
from django.utils.translation import gettext as _
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from proofroom.core.errors import RuleViolation
from proofroom.core.i18n import in_words

MAX_ERRORS: Final = 50
MAX_KEY_LENGTH: Final = 80
"""Characters that are shown of a key, which may be anything that the caller sent."""
_PYDANTIC: Final = {
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
    "extra_forbidden": gettext_noop("Extra inputs are not permitted"),
}
"""Pydantic's own sentences, to be translated; in English they are said as pydantic says them."""
_OURS: Final = {
    "string_type": gettext_noop("This must be text."),
    "list_type": gettext_noop("This must be a list."),
    "dict_type": gettext_noop("This must be an object."),
    "model_type": gettext_noop("This must be an object."),
    "string_unicode": gettext_noop(
        "This contains an incomplete character (a lone surrogate), which cannot be stored."
    ),
}
"""In place of pydantic's, which speak of Python."""
Describe = Callable[[ErrorDetails], str]


def violation_of(error: ValidationError, model: type[BaseModel]) -> RuleViolation:
    """Return the refusal of a request body, in words of JSON."""
    known = ", ".join(field.alias or name for name, field in model.model_fields.items())

    def describe(item: ErrorDetails) -> str:
        if item["type"] != "extra_forbidden":
            return describe_as_json(item)
        return f"There is no key {shorten_key(item['loc'][-1])!r} here; known: {known or 'none'}."

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


def describe_as_json(item: ErrorDetails) -> str:
    """Return what is wrong, in words of JSON instead of Python's."""
    kind, limits = item["type"], item.get("ctx", {})
    unit = "characters" if isinstance(item["input"], str) else "entries"
    if kind in ("model_type", "dict_type"):
        return "must be an object."
    if kind in ("string_too_short", "too_short"):
        least = limits["min_length"]
        return "must not be empty." if least == 1 else f"must have at least {least} {unit}."
    if kind in ("string_too_long", "too_long"):
        return f"must have at most {limits['max_length']:,} {unit}."
    said = reason_of(item)
    return (
        said.replace("Input should be ", "must be ").replace("Field required", "is required") + "."
    )


def describe_translated(item: ErrorDetails, own: Mapping[str, str] = _OURS) -> str:
    """Return what is wrong in the reader's language: in our `own` words for its type, else in pydantic's.

    Where there are no words in that language, it says no more than that the value is not valid.
    """
    kind = item["type"]
    if kind in own:
        return in_words(own[kind])
    plain = _PYDANTIC.get(kind, "")
    translated = in_words(plain)
    if translated != plain:
        limits = dict(item.get("ctx", {}))
        if "expected" in limits:
            limits["expected"] = str(limits["expected"]).replace("' or '", "', '")
        said = translated.format(**limits)
    elif kind == "value_error" or (get_language() or "en").startswith("en"):
        said = reason_of(item)  # our own validators speak the reader's language
    else:
        said = _("This value is not valid.")
    return said.rstrip(".") + "."


def reason_of(item: ErrorDetails) -> str:
    """Return pydantic's message, or that of the validator which raised it."""
    return item["msg"].removeprefix("Value error, ")
