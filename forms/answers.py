"""Check the answers of a submission by the fields of its form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from math import isfinite
from typing import Final
from uuid import uuid4

from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import EmailValidator, URLValidator
from django.template.defaultfilters import filesizeformat
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_noop

from forms.conditions import shown_fields
from forms.fields import CHECKED_WORDS, MAX_FILES_BYTES, Field
from forms.file_types import FILE_KINDS, clean_filename, find_file_type
from proofroom.core.errors import RuleViolation
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation import patterns
from proofroom.core.validation.input_validation import MAX_INTEGER, is_one_line, reject_unstorable

# Bounds the response to a request with many unknown fields.
_MAX_REFUSALS: Final = 50
_NUMBER: Final = re.compile(r"[-+]?\d{1,20}(?:\.\d{1,20})?(?:[eE][-+]?\d{1,3})?\Z", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_PHONE: Final = re.compile(r"(?=.*\d)[-+0-9()./ #*xX]+\Z", re.ASCII)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_NO: Final = frozenset({"false", "off", "0", "no", ""})
_email = EmailValidator()
_url = URLValidator(schemes=["http", "https"])


class InvalidAnswer(Exception):
    """An invalid answer. The message contains `%(label)s` of the field, and may contain `%(more)s`."""

    def __init__(self, sentence: str, number: int = 0, more: str = "") -> None:
        super().__init__(sentence)
        self.sentence, self.number, self.more = sentence, number, more

    def of(self, label: str) -> str:
        number = number_format(self.number, use_l10n=True, force_grouping=True)
        return self.sentence % {"label": label, "number": number, "more": self.more}


def read_answers(
    fields: Sequence[Field],
    given: Mapping[str, Json],
    files: Mapping[str, UploadedFile[bytes]] | None = None,
) -> JsonObject:
    """Return the values to store by field name, without empty ones. Raises `RuleViolation` by name.

    Fields whose condition is not met are neither required nor stored. The value of a file describes it:
    `{id, filename, type, size}`.
    """
    reject_unstorable(given)
    files = files or {}
    known = {field.name: field for field in fields if field.has_value}
    strange = [name for name in given if name not in known][:_MAX_REFUSALS]
    details: dict[str, list[str]] = {
        name[:80]: [f"There is no field {name[:80]!r} in this form; known: {', '.join(known)}."]
        for name in strange
    }
    for name in files:
        if name not in known or known[name].type != "file":
            details[name[:80]] = [gettext("Files are not accepted.")]
    sent: dict[str, Json] = {**given, **{name: file.name or "file" for name, file in files.items()}}
    values: JsonObject = {}
    for field in shown_fields(fields, sent):
        if field.name in details:
            continue
        answer = given.get(field.name)
        try:
            if field.type == "file":
                value = _read_file(field, answer, files.get(field.name))
            else:
                text = answer.strip() if isinstance(answer, str) else answer
                value = _READERS[field.type](field, text)
            # 0 is an answer, but a required checkbox must be checked.
            if field.required and (value is None or value is False):
                raise InvalidAnswer(gettext("%(label)s is required."))
        except InvalidAnswer as fault:
            details[field.name] = [fault.of(field.label)]
        else:
            if value is not None:
                values[field.name] = value
    if not details and sum(file.size or 0 for file in files.values()) > MAX_FILES_BYTES:
        size = filesizeformat(MAX_FILES_BYTES)
        sentence = gettext("All files together can have at most %(size)s.") % {"size": size}
        details = {name: [sentence] for name in files}
    if details:
        details = dict(list(details.items())[:_MAX_REFUSALS])
        raise RuleViolation(next(iter(details.values()))[0], details=details)
    return values


def files_in(
    values: JsonObject, files: Mapping[str, UploadedFile[bytes]]
) -> Iterator[tuple[str, dict[str, str], UploadedFile[bytes]]]:
    """Yield the names, descriptions and contents of the files among the values to store."""
    for name, file in files.items():
        answer = values.get(name)
        if isinstance(answer, dict):
            yield name, dict(answer), file


def _read_file(field: Field, given: Json, file: UploadedFile[bytes] | None) -> Json:
    if given not in (None, ""):
        raise InvalidAnswer(gettext("%(label)s must be one file, sent as multipart/form-data."))
    if file is None:
        return None
    size = file.size or 0
    if size > field.largest:
        raise InvalidAnswer(
            gettext("The file in %(label)s can have at most %(more)s."),
            more=filesizeformat(field.largest),
        )
    if file.file is None or not size:
        raise InvalidAnswer(gettext("The file in %(label)s is empty."))
    found = find_file_type(file.file, file.name or "")
    if found is None or found not in field.accepted_types:
        names = ", ".join(FILE_KINDS[name].label for name in field.accepted_types)
        raise InvalidAnswer(gettext("The file in %(label)s must be of type %(more)s."), more=names)
    return {
        "id": str(uuid4()),
        "filename": clean_filename(file.name or "", found),
        "type": found,
        "size": size,
    }


def _read_text(field: Field, given: Json) -> str | None:
    if given is None or given == "":
        return None
    if not isinstance(given, str):
        raise InvalidAnswer(gettext("%(label)s must be text."))
    text = given.replace("\r\n", "\n").replace("\r", "\n")
    if _CONTROL.search(text) if field.type == "textarea" else not is_one_line(text):
        raise InvalidAnswer(
            gettext("%(label)s must not contain control characters or line breaks.")
        )
    if len(text) > field.longest:
        raise InvalidAnswer(
            gettext("%(label)s can have at most %(number)s characters."), field.longest
        )
    if len(text) < (field.min_length or 0):
        raise InvalidAnswer(
            gettext("%(label)s needs at least %(number)s characters."), field.min_length or 0
        )
    if field.pattern and not patterns.matches(field.pattern, text):
        raise InvalidAnswer(gettext("%(label)s does not match the required format."))
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


def _read_checkboxes(field: Field, given: Json) -> Json:
    # A page without scripts sends a single choice as text.
    chosen = given if isinstance(given, list) else [] if given in (None, "") else [given]
    # A set, because anybody can send many values, each of which would be compared with all options.
    found = {one for one in chosen if isinstance(one, str)}
    options = field.options or []
    if not found.issubset(options) or not all(isinstance(one, str) for one in chosen):
        raise InvalidAnswer(gettext("%(label)s must only contain its options."))
    # In the order of the form, each once.
    return [option for option in options if option in found] or None


def _read_checkbox(field: Field, given: Json) -> Json:
    if given is None:
        return False
    if isinstance(given, bool):
        return given
    if isinstance(given, str) and given.lower() in CHECKED_WORDS | _NO:
        return given.lower() in CHECKED_WORDS
    raise InvalidAnswer(gettext("%(label)s must be true or false."))


def _read_number(field: Field, given: Json) -> Json:
    if given is None or given == "":
        return None
    if isinstance(given, str) and _NUMBER.match(given):
        number = float(given)
        given = int(number) if number.is_integer() and abs(number) <= MAX_INTEGER else number
    # bool is a subclass of int.
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise InvalidAnswer(gettext("%(label)s must be a number."))
    if not isfinite(given) or abs(given) > MAX_INTEGER:
        raise InvalidAnswer(gettext("The number in %(label)s is too large or too small."))
    return given


def _read_date(field: Field, given: Json) -> Json:
    if given is None or given == "":
        return None
    # fromisoformat() accepts other forms too, such as 20260131.
    if isinstance(given, str) and _DATE.match(given):
        try:
            return date.fromisoformat(given).isoformat()
        except ValueError:
            pass
    raise InvalidAnswer(gettext("%(label)s must be a date, such as 2026-01-31."))


_READERS: Final[Mapping[str, Callable[[Field, Json], Json]]] = {
    "text": _read_text,
    "textarea": _read_text,
    "email": _read_checked(_email, gettext_noop("%(label)s must be an email address.")),
    "url": _read_checked(
        _url, gettext_noop("%(label)s must be an address that starts with http:// or https://.")
    ),
    "tel": _read_checked(_check_phone, gettext_noop("%(label)s must be a phone number.")),
    "select": _read_select,
    "radio": _read_select,
    "checkbox": _read_checkbox,
    "checkboxes": _read_checkboxes,
    "number": _read_number,
    "date": _read_date,
}
