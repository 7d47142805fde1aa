"""Fields of editorial briefs: writable ones, and those in API answers. Declare a new field here and in the table."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final
from uuid import UUID

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from proofroom.briefs.effective import BriefTerm
from proofroom.briefs.models import (
    ADDRESS_MAX,
    NAME_MAX,
    READING_LEVEL_MAX,
    SECTION_MAX,
    TEXT_MAX,
    TYPE_MAX,
    StoredExample,
    StoredTerm,
)
from proofroom.core.api.answer import Answer, AsStored, TextOrNull
from proofroom.core.api.body import Body
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import site_languages
from proofroom.core.post_type_names import post_type_labels
from proofroom.core.validation.form_fields import FormField
from proofroom.core.validation.limits import LOCALE_MAX, LOCALE_PATTERN
from proofroom.definitions.fields import check_line, check_lines

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

NEVER_MAX: Final = 50
NEVER_LENGTH: Final = 300
TERMS_MAX: Final = 200
TERM_LENGTH: Final = 100
NOTE_LENGTH: Final = 300
TRANSLATIONS_MAX: Final = 40
NAMES_MAX: Final = 200
EXAMPLES_MAX: Final = 10
EXAMPLE_LENGTH: Final = 1_000
CHARACTERS_MAX: Final = 20_000
"""Characters of all values of a brief together, which bounds what a brief costs in each agent's prompt."""


def _unify_line_breaks(value: object) -> object:
    """Return text with the line breaks of Unix. Browsers send Windows line breaks."""
    return value.replace("\r\n", "\n") if isinstance(value, str) else value


def _check_translations(value: dict[str, str]) -> dict[str, str]:
    for locale in value:
        if len(locale) > LOCALE_MAX or not re.fullmatch(LOCALE_PATTERN, locale):
            raise ValueError(
                _("%(locale)r is not a language code, such as de or pt-BR.")
                % {"locale": locale[:LOCALE_MAX]}
            )
    return value


def _text(limit: int, *, least: int = 0) -> Any:
    """Return the rules of one line of text."""
    return StringConstraints(strip_whitespace=True, min_length=least, max_length=limit)


# After the length in an annotation, so that they run before it is checked.
_UnixBreaks = BeforeValidator(_unify_line_breaks)
_CheckedLine = AfterValidator(check_line)
_CheckedLines = AfterValidator(check_lines)
TermText = Annotated[str, _text(TERM_LENGTH, least=1), _CheckedLine]
NeverText = Annotated[str, _text(NEVER_LENGTH, least=1), _CheckedLine]


def _lines_field(label: StrPromise, limit: int, rows: int, help_text: StrPromise) -> FormField:
    """Return the form field of a text of several lines."""
    return FormField(
        lambda: forms.CharField(
            label=label,
            required=False,
            max_length=limit,
            help_text=help_text,
            widget=forms.Textarea(attrs={"rows": rows}),
        )
    )


def language_choices() -> list[tuple[str, str]]:
    return [("", _("All languages")), *site_languages()]


def type_choices() -> list[tuple[str, str]]:
    return [
        ("", _("All post types")),
        *((name, in_words(label)) for name, label in post_type_labels().items()),
    ]


class BriefPlaceAnswer(Answer):
    """The texts that a brief is for. Null means all."""

    locale: TextOrNull
    type: TextOrNull
    section: TextOrNull


class BriefGuidanceAnswer(Answer):
    """The guidance of a brief."""

    audience: str
    voice: str
    address: str
    reading_level: str
    never: list[str]
    terms: Annotated[list[StoredTerm], AsStored()]
    protected_names: list[str]
    examples: Annotated[list[StoredExample], AsStored()]


class BriefValuesAnswer(BriefGuidanceAnswer, BriefPlaceAnswer):
    """The values of a brief."""

    name: str


class BriefAnswer(BriefValuesAnswer):
    """What holds for texts of a language, post type and section. Null in one of these means all."""

    id: UUID
    version: int = Field(ge=1)
    created_at: datetime
    updated_at: datetime


class TermEntry(Body):
    """A term and how to use it."""

    term: TermText
    preferred: Annotated[str, _text(TERM_LENGTH), _CheckedLine] | None = Field(
        None, description="The term to use instead."
    )
    forbidden: bool = Field(False, description="true: the term must not be used.")
    translations: Annotated[dict[str, TermText], AfterValidator(_check_translations)] | None = (
        Field(
            None,
            max_length=TRANSLATIONS_MAX,
            description="The term in other languages, by language code.",
        )
    )
    note: Annotated[str, _text(NOTE_LENGTH), _CheckedLine] | None = None

    def to_stored(self) -> StoredTerm:
        """Return the term without empty values."""
        return BriefTerm(
            term=self.term,
            preferred=self.preferred or "",
            forbidden=self.forbidden,
            translations=self.translations or {},
            note=self.note or "",
        ).to_stored()


ExampleText = Annotated[str, _text(EXAMPLE_LENGTH, least=1), _UnixBreaks, _CheckedLines]


class ExampleEntry(Body):
    """A text before and after an approved edit."""

    before: ExampleText
    after: ExampleText

    def to_stored(self) -> StoredExample:
        return {"before": self.before, "after": self.after}


class NewBrief(Body, answered_by=BriefAnswer):
    """An editorial brief. Other keys of a GET answer are ignored."""

    name: Annotated[
        str,
        _text(NAME_MAX, least=1),
        _CheckedLine,
        FormField(lambda: forms.CharField(label=gettext_lazy("Name"), max_length=NAME_MAX)),
    ]
    locale: Annotated[
        Annotated[str, _text(LOCALE_MAX), _CheckedLine] | None,
        FormField(
            lambda: forms.ChoiceField(
                label=gettext_lazy("Language"), required=False, choices=language_choices
            )
        ),
    ] = Field(None, description="A language of the site; null for all.")
    type: Annotated[
        Annotated[str, _text(TYPE_MAX), _CheckedLine] | None,
        FormField(
            lambda: forms.ChoiceField(
                label=gettext_lazy("Post type"), required=False, choices=type_choices
            )
        ),
    ] = Field(None, description="A post type; null for all.")
    section: Annotated[
        Annotated[str, _text(SECTION_MAX), _CheckedLine] | None,
        FormField(
            lambda: forms.CharField(
                label=gettext_lazy("Section"),
                required=False,
                max_length=SECTION_MAX,
                help_text=gettext_lazy(
                    "The beginning of addresses, such as guides or guides/coffee. Leave blank for the whole site."
                ),
            )
        ),
    ] = Field(
        None,
        description="The leading path of addresses, such as guides/coffee; null for the whole site.",
    )
    audience: Annotated[
        Annotated[str, _text(TEXT_MAX), _UnixBreaks, _CheckedLines] | None,
        _lines_field(
            gettext_lazy("Audience"),
            TEXT_MAX,
            3,
            gettext_lazy("Who reads this, what they know, and what they want to do."),
        ),
    ] = None
    voice: Annotated[
        Annotated[str, _text(TEXT_MAX), _UnixBreaks, _CheckedLines] | None,
        _lines_field(
            gettext_lazy("Voice"),
            TEXT_MAX,
            4,
            gettext_lazy("How texts sound: for example warm and plain, short sentences, no jokes."),
        ),
    ] = None
    address: Annotated[
        Annotated[str, _text(ADDRESS_MAX), _UnixBreaks, _CheckedLines] | None,
        _lines_field(
            gettext_lazy("Form of address"),
            ADDRESS_MAX,
            2,
            gettext_lazy("How you speak to readers, such as “du” or “Sie”, “you” or “we”."),
        ),
    ] = Field(None, description="The form of address, such as du or Sie.")
    reading_level: Annotated[
        Annotated[str, _text(READING_LEVEL_MAX), _UnixBreaks, _CheckedLines] | None,
        _lines_field(
            gettext_lazy("Reading level"),
            READING_LEVEL_MAX,
            2,
            gettext_lazy("A level such as B1, or an age that understands it."),
        ),
    ] = None
    never: list[NeverText] | None = Field(
        None, max_length=NEVER_MAX, description="Things that texts never say."
    )
    terms: list[TermEntry] | None = Field(None, max_length=TERMS_MAX)
    protected_names: list[TermText] | None = Field(
        None, max_length=NAMES_MAX, description="Names that stay as they are in every language."
    )
    examples: list[ExampleEntry] | None = Field(None, max_length=EXAMPLES_MAX)
    version: int | None = Field(None, ge=0, description="Ignored when you create one.")


class BriefChanges(NewBrief, answered_by=BriefAnswer, partial=True):
    """Changes of a brief; absent fields are unchanged, null empties a field. Other keys of a GET answer are
    ignored.
    """

    version: int | None = Field(None, ge=0, description="The version you last read.")
