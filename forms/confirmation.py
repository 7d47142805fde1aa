"""The confirmation that the sender of a form gets by email: its definition and its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final

from django.conf import settings
from django.utils.translation import gettext as _
from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints
from pydantic.alias_generators import to_camel

from forms.fields import FIELD_NAME_MAX, Field, Label, stripped
from forms.models import FormDefinition
from proofroom.core.json import Json
from proofroom.core.validation.input_validation import clean_lines

TEXT_MAX: Final = 5_000
ALL_ANSWERS: Final = "answers"
"""The placeholder for all answers with their labels."""
# Names are stripped afterwards: with spaces in the pattern, an unclosed placeholder took a minute.
_PLACEHOLDER: Final = re.compile(r"\{\{([^{}]*)\}\}")
_NOT_IN_SUBJECT: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_MAX_SUBJECT: Final = 200
_MAX_ANSWER: Final = 1_000
"""Longer answers are cut in the mail."""


class Confirmation(BaseModel):
    """The mail of a form: to the address in `email_field`, with placeholders such as `{{name}}`."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=True, strict=True
    )

    email_field: Annotated[str, StringConstraints(max_length=FIELD_NAME_MAX)]
    subject: Label
    text: Annotated[str, stripped(TEXT_MAX, 1), AfterValidator(clean_lines)]


def find_confirmation_faults(
    confirmation: Confirmation, fields: Sequence[Field]
) -> Iterator[tuple[str, str]]:
    """Yield errors between the mail and the fields, by key."""
    if not any(
        field.name == confirmation.email_field and field.type == "email" for field in fields
    ):
        yield "emailField", _("Choose a field of the form for an email address.")
    known = {field.name for field in fields if field.has_value} | {ALL_ANSWERS}
    for key, text in {"subject": confirmation.subject, "text": confirmation.text}.items():
        unknown = [
            name for found in _PLACEHOLDER.findall(text) if (name := found.strip()) not in known
        ]
        if unknown:
            yield (
                key,
                _("There is no field %(name)r in this form.") % {"name": unknown[0][:80]},
            )


def confirmation_of(form: FormDefinition) -> Confirmation | None:
    return None if form.confirmation is None else Confirmation.model_validate(form.confirmation)


def is_due(form: FormDefinition, payload: Mapping[str, Json]) -> bool:
    """Return whether the sender of this submission gets a confirmation."""
    confirmation = confirmation_of(form) if settings.HAS_EMAIL else None
    return confirmation is not None and bool(recipient_in(confirmation, payload))


def recipient_in(confirmation: Confirmation, payload: Mapping[str, Json]) -> str:
    """Return the address to send to, or an empty text."""
    address = payload.get(confirmation.email_field)
    # A quoted name may contain separators that a mail server takes for a second recipient.
    return address if isinstance(address, str) and '"' not in address else ""


def write_subject(
    confirmation: Confirmation, fields: Sequence[Field], payload: Mapping[str, Json]
) -> str:
    """Return the subject on one line, so that no answer can add a header."""
    text = _fill(confirmation.subject, fields, payload)
    return " ".join(_NOT_IN_SUBJECT.sub(" ", text).split())[:_MAX_SUBJECT]


def write_text(
    confirmation: Confirmation, fields: Sequence[Field], payload: Mapping[str, Json]
) -> str:
    """Return the text. It is plain, so that no answer can become markup."""
    return _fill(confirmation.text, fields, payload)


def _fill(text: str, fields: Sequence[Field], payload: Mapping[str, Json]) -> str:
    """Replace the placeholders, once: an answer that looks like one stays as it is."""
    lines = [
        f"{field.label}: {_shorten(payload[field.name])}"
        for field in fields
        if field.name in payload
    ]

    def answer(match: re.Match[str]) -> str:
        name = match[1].strip()
        if name in payload:
            return _shorten(payload[name])
        return "\n".join(lines) if name == ALL_ANSWERS else ""

    return _PLACEHOLDER.sub(answer, text)


def _shorten(value: Json) -> str:
    text = format_answer(value)
    return text if len(text) <= _MAX_ANSWER else f"{text[:_MAX_ANSWER]}…"


def format_answer(value: object) -> str:
    """Return an answer as text for people."""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return str(value.get("filename", ""))
    return str(value)
