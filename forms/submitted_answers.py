"""Checks what a visitor sent against the fields of the form: bounded, of the right type, nothing besides."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from math import isfinite
from typing import Final

from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator, URLValidator
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_noop

from forms.fields import Field
from proofroom.core.errors import RuleViolation
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation import patterns
from proofroom.core.validation.input_validation import MAX_INTEGER, refuse_unstorable

_MAX_REFUSALS: Final = 50
_NUMBER: Final = re.compile(r"[-+]?\d{1,20}(?:\.\d{1,20})?(?:[eE][-+]?\d{1,3})?\Z", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_PHONE: Final = re.compile(r"(?=.*\d)[-+0-9()./ #*xX]+\Z", re.ASCII)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LINE_BREAK: Final = re.compile(r"[\t\n\r\u0085\u2028\u2029]")
_YES: Final = frozenset({"true", "on", "1", "yes"})
_NO: Final = frozenset({"false", "off", "0", "no", ""})
_email = EmailValidator()
_url = URLValidator(schemes=["http", "https"])


class InvalidAnswer(Exception):
    """A sentence about the field, with `%(label)s` in it."""

    def __init__(self, sentence: str, number: int = 0) -> None:
        super().__init__(sentence)
        self.sentence, self.number = sentence, number

    def of(self, label: str) -> str:
        number = number_format(self.number, use_l10n=True, force_grouping=True)
        return self.sentence % {"label": label, "number": number}


def read_answers(fields: Sequence[Field], given: Mapping[str, Json]) -> JsonObject:
    """The values to store, by name; what was left empty has no key. Raises `RuleViolation` by name."""
    refuse_unstorable(given)
    known = {field.name: field for field in fields}
    strange = [name for name in given if name not in known][:_MAX_REFUSALS]
    details: dict[str, list[str]] = {
        name[:80]: [f"There is no field {name[:80]!r} in this form; known: {', '.join(known)}."]
        for name in strange
    }
    values: JsonObject = {}
    for field in fields:
        answer = given.get(field.name)
        try:
            value = _READERS[field.type](
                field, answer.strip() if isinstance(answer, str) else answer
            )
            # 0 is an answer; a box that must be ticked and is not, is none.
            if field.required and (value is None or value is False):
                raise InvalidAnswer(gettext("%(label)s is required."))
        except InvalidAnswer as fault:
            details[field.name] = [fault.of(field.label)]
        else:
            if value is not None:
                values[field.name] = value
    if details:
        details = dict(list(details.items())[:_MAX_REFUSALS])
        raise RuleViolation(next(iter(details.values()))[0], details=details)
    return values


def _read_text(field: Field, given: Json) -> str | None:
    if given is None or given == "":
        return None
    if not isinstance(given, str):
        raise InvalidAnswer(gettext("%(label)s must be text."))
    text = given.replace("\r\n", "\n").replace("\r", "\n")
    if _CONTROL.search(text) or (field.type != "textarea" and _LINE_BREAK.search(text)):
        raise InvalidAnswer(gettext("%(label)s must not hold control characters or line breaks."))
    if len(text) > field.longest:
        raise InvalidAnswer(
            gettext("%(label)s may have at most %(number)s characters."), field.longest
        )
    if len(text) < (field.min_length or 0):
        raise InvalidAnswer(
            gettext("%(label)s needs at least %(number)s characters."), field.min_length or 0
        )
    if field.pattern and not patterns.matches(field.pattern, text):
        raise InvalidAnswer(gettext("%(label)s does not have the form that is asked for."))
    return text


def _read_checked(check: Callable[[str], object], sentence: str) -> Callable[[Field, Json], Json]:
    def read(field: Field, given: Json) -> Json:
        text = _read_text(field, given)
        if text is None:
            return None
        try:
            check(text)
        except ValidationError:
            raise InvalidAnswer(gettext(sentence)) from None
        return text

    return read


def _check_phone(text: str) -> None:
    if not _PHONE.match(text):
        raise ValidationError("no number")


def _read_select(field: Field, given: Json) -> Json:
    if given is None or given == "":
        return None
    if not isinstance(given, str) or given not in (field.options or ()):
        raise InvalidAnswer(gettext("%(label)s must be one of the options."))
    return given


def _read_checkbox(field: Field, given: Json) -> Json:
    if given is None:
        return False
    if isinstance(given, bool):
        return given
    if isinstance(given, str) and given.lower() in _YES | _NO:
        return given.lower() in _YES
    raise InvalidAnswer(gettext("%(label)s must be true or false."))


def _read_number(field: Field, given: Json) -> Json:
    if given is None or given == "":
        return None
    if isinstance(given, str) and _NUMBER.match(given):
        number = float(given)
        given = int(number) if number.is_integer() and abs(number) <= MAX_INTEGER else number
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise InvalidAnswer(gettext("%(label)s must be a number."))
    if not isfinite(given) or abs(given) > MAX_INTEGER:
        raise InvalidAnswer(gettext("%(label)s must be a number between -2**53 and 2**53."))
    return given


def _read_date(field: Field, given: Json) -> Json:
    if given is None or given == "":
        return None
    if isinstance(given, str) and _DATE.match(given):
        try:
            return date.fromisoformat(given).isoformat()
        except ValueError:
            pass
    raise InvalidAnswer(gettext("%(label)s must be a date like 2026-01-31."))


_READERS: Final[Mapping[str, Callable[[Field, Json], Json]]] = {
    "text": _read_text,
    "textarea": _read_text,
    "email": _read_checked(_email, gettext_noop("%(label)s must be an email address.")),
    "url": _read_checked(
        _url, gettext_noop("%(label)s must be an address that begins with http:// or https://.")
    ),
    "tel": _read_checked(_check_phone, gettext_noop("%(label)s must be a telephone number.")),
    "select": _read_select,
    "checkbox": _read_checkbox,
    "number": _read_number,
    "date": _read_date,
}
