"""Masks of personal data in submissions, for AI providers and clients.

The kind of a field follows from its type, else from the words of its name and label. In other texts,
addresses and numbers are found by their form, and values of masked fields wherever they are repeated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final, Literal, get_args

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from forms.fields import Field
from forms.form_input import is_slug
from forms.models import FormDefinition
from forms.services.files import is_file
from proofroom.core.json import Json, JsonObject

PersonalDataKind = Literal["name", "email", "phone", "address", "birthDate", "bankAccount"]
PERSONAL_DATA_KINDS: Final[tuple[PersonalDataKind, ...]] = get_args(PersonalDataKind)
_LABELS: Final[Mapping[PersonalDataKind, Promise]] = {
    "name": gettext_lazy("Names"),
    "email": gettext_lazy("Email addresses"),
    "phone": gettext_lazy("Phone numbers"),
    "address": gettext_lazy("Postal addresses"),
    "birthDate": gettext_lazy("Dates of birth"),
    "bankAccount": gettext_lazy("Bank accounts and cards"),
}
_BY_TYPE: Final[Mapping[str, PersonalDataKind]] = {"email": "email", "tel": "phone"}
_CHOICES: Final = frozenset({"select", "radio", "checkbox", "checkboxes", "file", "step"})
"""Types whose values are the form's own words."""
_WORDS: Final[Mapping[PersonalDataKind, frozenset[str]]] = {
    # In this order, so that an "email address" is no postal address.
    "email": frozenset({"email", "mail", "emailaddress", "mailadresse", "correo", "courriel"}),
    "phone": frozenset(
        {
            *("phone", "telephone", "tel", "mobile", "cell", "fax", "whatsapp", "phonenumber"),
            *("telefon", "telefonnummer", "handy", "handynummer", "mobil", "mobilnummer"),
            *("téléphone", "teléfono", "telefono", "móvil", "cellulare"),
        }
    ),
    "birthDate": frozenset(
        {
            *("birth", "birthday", "birthdate", "dob", "geburtsdatum", "geburtstag", "geboren"),
            *("naissance", "nacimiento", "nascita"),
        }
    ),
    "bankAccount": frozenset(
        {
            *("iban", "bic", "swift", "bank", "bankaccount", "accountnumber", "creditcard"),
            *("cardnumber", "kontonummer", "bankverbindung", "kontoverbindung", "kreditkarte"),
            *("kreditkartennummer", "kartennummer"),
        }
    ),
    "address": frozenset(
        {
            *("address", "street", "zip", "zipcode", "postcode", "postal", "city", "town"),
            *("adresse", "anschrift", "straße", "strasse", "hausnummer", "plz", "postleitzahl"),
            *("ort", "wohnort", "stadt", "rue", "ville", "dirección", "direccion", "calle"),
            *("ciudad", "indirizzo", "città"),
        }
    ),
    "name": frozenset(
        {
            *("name", "firstname", "lastname", "fullname", "surname", "forename", "username"),
            *("vorname", "nachname", "familienname", "nom", "prénom", "prenom", "nombre"),
            *("apellido", "apellidos", "nome", "cognome"),
        }
    ),
}
_SPLIT: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W_\d]+")
# Begins only after a separator, so that long words take linear time. Signs of Markdown are separators.
_EMAIL: Final = re.compile(
    r"(?<![^\s@<>\"',;:()|\[\]{}*`])[^\s@<>\"',;:()|\[\]{}*`]+"
    r"@[^\s@<>\"',;:()|\[\]{}*`]+\.[^\s@<>\"',;:().|\[\]{}*`]+"
)
# An underscore may be the emphasis of Markdown, so it ends a number.
_PHONE: Final = re.compile(
    # Not a date such as 01.02.2026.
    r"(?<![^\W_])(?<![.,-])(?!\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b)"
    r"(?:\(?(?:\+|00?)\d[\d\s()/.\u2010-\u2013-]{5,}\d"
    r"|(?:1[\s.-])?\(?\d{3}\)?[\s.-]\d{3}[\s.-]\d{4})(?![^\W_])"
)
# In blocks of four, as on paper, or without spaces. Not in capitals, each block needs a digit, so that the next word
# is not one.
_BLOCK: Final = r"[\s-]?(?:[A-Z\d]{4}|(?=[A-Za-z]{0,3}\d)[A-Za-z\d]{4})"
_REST: Final = r"[\s-]?(?:[A-Z\d]{1,3}|(?=[A-Za-z]{0,2}\d)[A-Za-z\d]{1,3})"
_BANK_ACCOUNT: Final = re.compile(
    rf"(?<![^\W_])(?:[A-Za-z]{{2}}\d{{2}}[\s-]?[A-Za-z\d]{{4}}"
    rf"(?:(?:{_BLOCK}){{2,6}}(?:{_REST})?|{_BLOCK}{_REST})"
    # The number of a card.
    r"|[3-6]\d{3}(?:[\s-]?\d{4}){2}[\s-]?\d{3,4})(?![^\W_])"
)
_PATTERNS: Final[tuple[tuple[PersonalDataKind, re.Pattern[str]], ...]] = (
    ("email", _EMAIL),
    # Before phone numbers, which a part of an account number looks like.
    ("bankAccount", _BANK_ACCOUNT),
    ("phone", _PHONE),
)
_SHORTEST: Final = 3
"""Shorter values of masked fields are not searched for in other texts."""


def personal_data_choices() -> list[tuple[str, Promise]]:
    """Return the kinds with their labels, for a form."""
    return list(_LABELS.items())


def labels_of_kinds(kinds: Iterable[str]) -> list[str]:
    """Return the labels of kinds, in the active language."""
    return [str(_LABELS[kind]) for kind in PERSONAL_DATA_KINDS if kind in set(kinds)]


@dataclass(frozen=True, slots=True)
class MaskedAnswers:
    """The answers of a submission with placeholders, and the kinds of data that were replaced."""

    answers: JsonObject
    kinds: frozenset[str]


def mask_answers(slug: str, answers: Mapping[str, Json], kinds: Collection[str]) -> MaskedAnswers:
    """Return the answers to a form, also nested ones, without personal data of these kinds. One query."""
    fields = _FieldMask(_kinds_of_fields(slug), kinds)
    masked = fields.apply(answers)
    text_mask = _TextMask(fields.repeated, kinds, fields.found)
    return MaskedAnswers(
        {name: text_mask.apply(value) for name, value in masked.items()}, frozenset(fields.found)
    )


class _FieldMask:
    """Replaces the values of fields for personal data. `repeated`: the texts to search for elsewhere."""

    def __init__(
        self, of_field: Mapping[str, PersonalDataKind | None], kinds: Collection[str]
    ) -> None:
        self.found: set[str] = set()
        self.repeated: dict[str, PersonalDataKind] = {}
        self._of_field = of_field
        self._kinds = kinds

    def apply(self, answers: Mapping[str, Json]) -> JsonObject:
        return {name: self._answer(name, value) for name, value in answers.items()}

    def _answer(self, name: str, value: Json) -> Json:
        kind = self._of_field[name] if name in self._of_field else _kind_of_words(name)
        if kind is None or kind not in self._kinds:
            return self._within(value)
        if value in (None, "", False, True):
            return value
        self.found.add(kind)
        for text in _texts_in(value):
            self.repeated |= {
                one: kind
                for one in (text, *(text.split() if kind == "name" else ()))
                if len(one) >= _SHORTEST
            }
        return _placeholder(kind)

    def _within(self, value: Json) -> Json:
        if isinstance(value, Mapping):
            if is_file(value) and self._kinds:
                # A file name often contains the name of its sender.
                return {**value, "filename": f"file{PurePath(str(value['filename'])).suffix}"}
            return self.apply(value)
        return [self._within(item) for item in value] if isinstance(value, list) else value


def _texts_in(value: Json) -> Iterator[str]:
    if isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts_in(item)
    else:
        yield str(value).strip()


class _TextMask:
    """Replaces personal data within texts, and notes the kinds that it has replaced."""

    def __init__(
        self, repeated: Mapping[str, PersonalDataKind], kinds: Collection[str], found: set[str]
    ) -> None:
        self._patterns = [(kind, pattern) for kind, pattern in _PATTERNS if kind in kinds]
        # Longest first, so that a whole name is one placeholder.
        for text in sorted(repeated, key=len, reverse=True):
            pattern = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)
            self._patterns.append((repeated[text], pattern))
        self._found = found

    def apply(self, value: Json) -> Json:
        if isinstance(value, Mapping):
            found: JsonObject = {}
            seen: Counter[str] = Counter()
            for name, item in value.items():
                # A caller's object may have addresses as its names.
                masked = self._text(name)
                seen[masked] += 1
                number = f" {seen[masked]}" if seen[masked] > 1 else ""
                found[f"{masked}{number}"] = self.apply(item)
            return found
        if isinstance(value, list):
            return [self.apply(item) for item in value]
        return self._text(value) if isinstance(value, str) else value

    def _text(self, value: str) -> str:
        if value in _PLACEHOLDERS:
            return value
        for kind, pattern in self._patterns:
            value, count = pattern.subn(_placeholder(kind), value)
            if count:
                self._found.add(kind)
        return value


def _placeholder(kind: PersonalDataKind) -> str:
    return f"[{kind}]"


_PLACEHOLDERS: Final = frozenset(_placeholder(kind) for kind in PERSONAL_DATA_KINDS)


def _kinds_of_fields(slug: str) -> dict[str, PersonalDataKind | None]:
    """Return the kind of each field of a form, in all its languages."""
    found: dict[str, PersonalDataKind | None] = {}
    rows = FormDefinition.objects.filter(slug=slug) if is_slug(slug) else ()
    for row in rows:
        for field in map(Field.model_validate, row.fields):
            # A field without a kind in one language may have one by its label in another.
            found[field.name] = found.get(field.name) or kind_of_field(field)
    return found


def kind_of_field(field: Field) -> PersonalDataKind | None:
    """Return the kind of personal data that a field asks for, or None."""
    if field.type in _CHOICES:
        return None
    return _BY_TYPE.get(field.type) or _kind_of_words(f"{field.name} {field.label}")


def _kind_of_words(text: str) -> PersonalDataKind | None:
    words = {word.lower() for word in _SPLIT.split(text) if word}
    return next((kind for kind, known in _WORDS.items() if words & known), None)
