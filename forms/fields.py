"""The fields of a form: definition and validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Final, Literal, get_args

from django.utils.translation import gettext as _
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, StringConstraints
from pydantic import Field as Bounds
from pydantic.alias_generators import to_camel

from forms.file_types import FILE_KINDS, expand_types, is_known_type
from proofroom.core.json import JsonObject
from proofroom.core.validation import patterns
from proofroom.core.validation.input_validation import NOT_ON_A_LINE, character_at, is_one_line
from proofroom.core.validation.limits import LABEL_MAX, URL_MAX

FieldType = Literal[
    "text",
    "email",
    "textarea",
    "select",
    "radio",
    "checkbox",
    "checkboxes",
    "number",
    "date",
    "tel",
    "url",
    "file",
    "step",
]
"""A `step` has no value: the fields after it, up to the next one, are one page of the form."""
Operator = Literal["equals", "notEquals", "contains", "notContains", "isEmpty", "isNotEmpty"]
OPERATORS: Final[tuple[str, ...]] = get_args(Operator)
OPERATORS_WITHOUT_VALUE: Final = frozenset({"isEmpty", "isNotEmpty"})
FIELD_TYPES: Final[tuple[str, ...]] = get_args(FieldType)
MAX_LENGTHS: Final[dict[str, int]] = {
    "text": 2_000,
    "email": 254,
    "textarea": 20_000,
    "tel": 50,
    "url": URL_MAX,
}
"""Maximum number of characters of a value by text type."""
CHOICE_TYPES: Final = frozenset({"select", "radio", "checkboxes"})
"""Types with `options`."""
CHECKED_WORDS: Final = frozenset({"true", "on", "1", "yes"})
"""Texts that mean a checked box, in lower case."""
FIELD_NAME_PATTERN: Final = "^[A-Za-z][A-Za-z0-9_]*$"
SLUG_MAX: Final = 100
FIELD_NAME_MAX: Final = 60
HINT_MAX: Final = 500
DESCRIPTION_MAX: Final = 2000
SUBMIT_LABEL_MAX: Final = 100
SUCCESS_MESSAGE_MAX: Final = 1000
REDIRECT_URL_COLUMN_MAX: Final = 2048
"""Size of the column; new values are limited to `URL_MAX`."""
MAX_FIELDS: Final = 100
MAX_OPTIONS: Final = 200
HONEYPOT: Final = "homepage_url"
"""Name of a field hidden from people. Programs that fill all fields reveal themselves by filling it."""
MAX_BODY_BYTES: Final = 256 * 1024
"""Maximum size of a submission in bytes without its files, for all endpoints."""
MAX_FILE_FIELDS: Final = 10
MAX_FILE_BYTES: Final = 10 * 1024 * 1024
"""Maximum size of a file, and the limit of a field without `maxBytes`."""
MAX_FILES_BYTES: Final = 20 * 1024 * 1024
"""Maximum size of all files of a submission together."""


def _one_line(text: str) -> str:
    if found := NOT_ON_A_LINE.search(text):
        raise ValueError(
            _(
                "Control characters and line breaks are not allowed here (U+%(ord)s at position "
                "%(start)s)."
            )
            % character_at(found)
        )
    if not is_one_line(text):
        raise ValueError(_("This must not contain control characters or line breaks."))
    return text


def stripped(most: int, least: int = 0) -> StringConstraints:
    """Return constraints for trimmed text of this length."""
    return StringConstraints(strip_whitespace=True, min_length=least, max_length=most)


Label = Annotated[str, stripped(LABEL_MAX, 1), AfterValidator(_one_line)]
Hint = Annotated[str, stripped(HINT_MAX), AfterValidator(_one_line)]
AcceptedType = Annotated[str, StringConstraints(max_length=100)]
Length = Annotated[int, Bounds(ge=1, le=max(MAX_LENGTHS.values()))]


_SHAPE: Final = ConfigDict(
    extra="forbid", alias_generator=to_camel, populate_by_name=True, strict=True, frozen=True
)


def _split_types(value: object) -> object:
    """Accept the text of an `accept` attribute, as in HTML."""
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


class Condition(BaseModel):
    """When to show a field or a step: depending on the answer to another field."""

    model_config = _SHAPE

    field: Annotated[str, StringConstraints(max_length=FIELD_NAME_MAX)]
    operator: Operator = "equals"
    value: Hint | None = None

    @property
    def needs_value(self) -> bool:
        return self.operator not in OPERATORS_WITHOUT_VALUE


class Field(BaseModel):
    """One field. Missing values have no key in JSON."""

    model_config = _SHAPE

    name: Annotated[str, StringConstraints(pattern=FIELD_NAME_PATTERN, max_length=FIELD_NAME_MAX)]
    label: Label
    type: FieldType
    required: bool = False
    options: Annotated[list[Label], Bounds(min_length=1, max_length=MAX_OPTIONS)] | None = None
    min_length: Length | None = None
    max_length: Length | None = None
    pattern: str | None = None
    placeholder: Hint | None = None
    help: Hint | None = None
    accept: (
        Annotated[
            list[AcceptedType],
            BeforeValidator(_split_types),
            Bounds(min_length=1, max_length=len(FILE_KINDS)),
        ]
        | None
    ) = None
    max_bytes: Annotated[int, Bounds(ge=1, le=MAX_FILE_BYTES)] | None = None
    show_if: Condition | None = None

    @property
    def has_value(self) -> bool:
        return self.type != "step"

    @property
    def accepted_types(self) -> tuple[str, ...]:
        """The media types of a file, in the order of `FILE_KINDS`."""
        return expand_types(self.accept)

    @property
    def largest(self) -> int:
        """The maximum number of bytes of a file."""
        return self.max_bytes or MAX_FILE_BYTES

    @property
    def longest(self) -> int:
        """The maximum number of characters of a value."""
        # Patterns are matched against short texts only.
        bound = patterns.MAX_TEXT_LENGTH if self.pattern else MAX_LENGTHS[self.type]
        return min(bound, self.max_length or bound)

    def to_json(self) -> JsonObject:
        values: JsonObject = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        return values


def split_steps(fields: Sequence[Field]) -> list[tuple[Field | None, list[Field]]]:
    """Return the steps with their fields; None for fields before the first step. Empty steps are left out."""
    found: list[tuple[Field | None, list[Field]]] = [(None, [])]
    for field in fields:
        if field.type == "step":
            found.append((field, []))
        else:
            found[-1][1].append(field)
    return [(step, own) for step, own in found if own]


def find_field_faults(fields: Sequence[Field]) -> Iterator[tuple[str, str]]:
    """Yield errors between the keys of the fields, by path such as `0.options`."""
    names: set[str] = set()
    for place, field in enumerate(fields):
        if field.name.lower() in names:
            yield f"{place}.name", _("Another field has the name %(name)r.") % {"name": field.name}
        if field.name.lower() == HONEYPOT:
            yield (
                f"{place}.name",
                _("%(name)r is reserved for spam protection.") % {"name": HONEYPOT},
            )
        names.add(field.name.lower())
        for find in (
            _find_option_faults,
            _find_length_faults,
            _find_pattern_faults,
            _find_file_faults,
            _find_step_faults,
        ):
            for key, sentence in find(field):
                yield f"{place}.{key}", sentence
    files = [place for place, field in enumerate(fields) if field.type == "file"]
    for place in files[MAX_FILE_FIELDS:]:
        yield (
            f"{place}.type",
            _("A form can have at most %(most)s files.") % {"most": MAX_FILE_FIELDS},
        )


def _find_option_faults(field: Field) -> Iterator[tuple[str, str]]:
    if field.type in CHOICE_TYPES and field.options is None:
        yield "options", _("Add at least one option.")
    elif field.type not in CHOICE_TYPES and field.options is not None:
        yield (
            "options",
            _("Fields of type %(type)s have no options.") % {"type": field.type},
        )
    elif field.options and len(set(field.options)) < len(field.options):
        yield "options", _("Each option can be used only once.")


def _find_file_faults(field: Field) -> Iterator[tuple[str, str]]:
    for key, value in {"accept": field.accept, "maxBytes": field.max_bytes}.items():
        if value is not None and field.type != "file":
            yield key, _("Only fields of type file have this.")
    strange = [name for name in field.accept or () if not is_known_type(name)]
    if strange:
        yield (
            "accept",
            _("Unknown type of file: %(types)s. Known: %(known)s.")
            % {"types": ", ".join(strange)[:200], "known": ", ".join(FILE_KINDS)},
        )


def _find_step_faults(field: Field) -> Iterator[tuple[str, str]]:
    if field.type == "step" and field.required:
        yield "required", _("A step cannot be required.")
    if field.type == "step" and field.placeholder is not None:
        yield "placeholder", _("A step has no placeholder.")


def _find_length_faults(field: Field) -> Iterator[tuple[str, str]]:
    given = {"minLength": field.min_length, "maxLength": field.max_length}
    for key, number in given.items():
        if number is None:
            continue
        if field.type not in MAX_LENGTHS:
            yield key, _("Fields of type %(type)s have no length.") % {"type": field.type}
        elif number > MAX_LENGTHS[field.type]:
            yield (
                key,
                _("Fields of type %(type)s can have at most %(most)s characters.")
                % {"type": field.type, "most": f"{MAX_LENGTHS[field.type]:,}"},
            )
    if field.type in MAX_LENGTHS and (field.min_length or 0) > field.longest:
        yield (
            "minLength",
            _("minLength exceeds the %(most)s characters allowed.")
            % {"most": f"{field.longest:,}"},
        )


def _find_pattern_faults(field: Field) -> Iterator[tuple[str, str]]:
    if field.pattern is None:
        return
    if field.type not in MAX_LENGTHS or field.type == "textarea":
        yield "pattern", _("Fields of type %(type)s have no pattern.") % {"type": field.type}
    elif not field.pattern:
        yield "pattern", _("The pattern is empty. Leave it out.")
    elif fault := patterns.find_pattern_fault(field.pattern):
        yield "pattern", _("Invalid pattern: %(fault)s.") % {"fault": fault}
    elif (field.max_length or 0) > patterns.MAX_TEXT_LENGTH:
        yield (
            "maxLength",
            _("Fields with a pattern can have at most %(most)s characters.")
            % {"most": patterns.MAX_TEXT_LENGTH},
        )
