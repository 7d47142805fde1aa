"""The field types of a module's props and a post type's custom fields.

    class Props(ModuleProps):
        title: str = Text(max_length=120)
        items: list[Item] = Repeater(max_items=20)

Stored and sent names are camelCase. Every field has a default, so a new module is valid at once.
The functions return `Any` because that is what a pydantic field default must be to a type checker.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from datetime import date
from typing import Any, Literal, TypeAlias
from uuid import UUID

from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from proofroom.core.validation.input_validation import (
    NOT_IN_LINES,
    NOT_ON_A_LINE,
    character_at,
)
from proofroom.core.validation.limits import URL_MAX
from proofroom.definitions.richtext import schema as richtext

RICH_TEXT_MAX_BYTES = 400_000
"""Of the JSON form, in UTF-8."""
MARKDOWN_MAX = 200_000
"""Characters. Reading hostile Markdown of this length takes seconds."""

_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]*\Z")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)


def _wrong(code: str, sentence: str) -> PydanticCustomError:
    # The sentence goes in as a value: pydantic would read braces in it as placeholders.
    return PydanticCustomError(code, "{sentence}", {"sentence": sentence})


def check_line(value: object) -> object:
    """One line of text: no control characters, no line breaks."""
    if isinstance(value, str) and (found := NOT_ON_A_LINE.search(value)):
        raise _wrong(
            "control_character",
            _(
                "Control characters and line breaks are not allowed here (U+%(ord)s at position "
                "%(start)s)."
            )
            % character_at(found),
        )
    return value


def check_lines(value: object) -> object:
    """Text of several lines: line breaks and tabs, no other control characters."""
    if isinstance(value, str) and (found := NOT_IN_LINES.search(value)):
        raise _wrong(
            "control_character",
            _("Control characters are not allowed (U+%(ord)s at position %(start)s).")
            % character_at(found),
        )
    return value


def document_of(markdown: str) -> object:
    """The rich-text document that a text in Markdown is."""
    if len(markdown) > MARKDOWN_MAX:
        raise _wrong(
            "rich_text",
            _("The Markdown has %(size)s characters; at most %(markdown_max)s are allowed.")
            % {"size": len(markdown), "markdown_max": MARKDOWN_MAX},
        )
    # Loads the parser of Markdown, which visitors need not: pages hold documents.
    from proofroom.definitions.richtext.markdown_reader import from_markdown

    return from_markdown(markdown)


def check_rich_text(value: object) -> object:
    """A rich-text document of the editor's schema."""
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise _wrong("rich_text", _("This is not valid rich text.")) from error
    if size > RICH_TEXT_MAX_BYTES:
        raise _wrong(
            "rich_text",
            _("The text has %(size)s bytes; at most %(rich_text_max_bytes)s are allowed.")
            % {"size": size, "rich_text_max_bytes": RICH_TEXT_MAX_BYTES},
        )
    problems = richtext.validate(value)
    if problems:
        raise _wrong("rich_text", " ".join(problems[:5]))
    return value


def check_link(value: object) -> object:
    """A path of this site, an anchor, http(s), mailto or tel; empty means no link."""
    if not isinstance(value, str) or value == "":
        return value
    safe = richtext.safe_href(value)
    if safe is None:
        raise _wrong(
            "unsafe_link",
            _(
                "Enter a path that starts with /, an #anchor, or an http, https, "
                "mailto or tel address."
            ),
        )
    return safe


def check_url(value: object) -> object:
    """An absolute http(s) address; empty means none."""
    checked = check_link(value)
    if (
        isinstance(checked, str)
        and checked
        and not checked.lower().startswith(("http://", "https://"))
    ):
        raise _wrong("unsafe_url", _("Enter a full address that starts with https:// or http://."))
    return checked


def check_day(value: object) -> object:
    """A calendar day as YYYY-MM-DD."""
    if not isinstance(value, str):
        return value
    try:
        if _DAY.match(value) is None:
            raise ValueError
        date.fromisoformat(value)
    except ValueError as error:
        raise _wrong("date", _("Enter a date as YYYY-MM-DD.")) from error
    return value


def check_id(value: object) -> object:
    """A UUID in its canonical form, or a list of them without repetitions."""
    if isinstance(value, list):
        return list(dict.fromkeys(check_id(item) for item in value))
    if not isinstance(value, str):
        return value
    if value == "":
        return None
    try:
        return str(UUID(value))
    except ValueError as error:
        raise _wrong("id", _("Enter the ID (a UUID) of an existing item, or null.")) from error


def check_slug(value: object) -> object:
    """The slug of a thing; empty means none."""
    if isinstance(value, str) and value and _SLUG.match(value) is None:
        raise _wrong("slug", _("Enter a slug: lowercase letters, digits, - and _."))
    return value


def check_distinct(value: object) -> object:
    """A list of choices, each at most once."""
    return list(dict.fromkeys(value)) if isinstance(value, list) else value


CHECKS: Mapping[str, Callable[[object], object]] = {
    "text": check_line,
    "textarea": check_lines,
    "richtext": check_rich_text,
    "date": check_day,
    "url": check_url,
    "link": check_link,
    "media": check_id,
    "icon": check_slug,
    "multiselect": check_distinct,
    "post-reference": check_id,
    "taxonomy-reference": check_id,
    "form-reference": check_slug,
}
"""Rules of a value beyond its JSON type, by field type. Each takes the value that pydantic accepted and returns the
value to store, or raises `PydanticCustomError` with a sentence for whoever wrote it."""


FieldType = Literal[
    "text", "textarea", "richtext", "number", "boolean", "select", "multiselect", "date", "url",
    "link", "media", "icon", "object", "repeater", "post-reference", "taxonomy-reference",
    "form-reference",
]  # fmt: skip
RichTextDocument: TypeAlias = dict[str, object]

ICONS = (
    "arrow-right", "bolt", "book", "check", "clock", "code", "compass", "globe", "heart", "layers",
    "leaf", "lock", "message", "people", "pen", "shield", "sparkle", "star", "target", "tool",
)  # fmt: skip
"""The symbols of `static/cms/icons.svg`."""

_LARGEST_NUMBER = 10**12


class ModuleProps(BaseModel):
    """Base of a module's props, their nested objects, and custom fields. Refuses unknown keys."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, allow_inf_nan=False, protected_namespaces=()
    )

    @field_validator("*", mode="before")
    @classmethod
    def _read_markdown(cls, value: object, info: ValidationInfo) -> object:
        extra = cls.model_fields[info.field_name or ""].json_schema_extra
        is_rich = isinstance(extra, dict) and extra.get("field") == "richtext"
        return document_of(value) if is_rich and isinstance(value, str) else value

    @field_validator("*", mode="after")
    @classmethod
    def _check_by_field_type(cls, value: object, info: ValidationInfo) -> object:
        extra = cls.model_fields[info.field_name or ""].json_schema_extra
        kind = extra.get("field") if isinstance(extra, dict) else None
        check = CHECKS.get(kind) if isinstance(kind, str) else None
        return check(value) if check is not None else value


def _field(kind: FieldType, translatable: bool, label: str, help: str, **settings: Any) -> Any:
    extra = {"field": kind, "translatable": translatable, **settings.pop("extra", {})}
    return Field(title=label or None, description=help or None, json_schema_extra=extra, **settings)


def Text(
    *,
    default: str = "",
    max_length: int = 200,
    translatable: bool = True,
    label: str = "",
    help: str = "",
) -> Any:
    """One line of text."""
    return _field("text", translatable, label, help, default=default, max_length=max_length)


def Textarea(
    *,
    default: str = "",
    max_length: int = 2000,
    translatable: bool = True,
    label: str = "",
    help: str = "",
) -> Any:
    """Plain text of several lines."""
    return _field("textarea", translatable, label, help, default=default, max_length=max_length)


def RichText(*, translatable: bool = True, label: str = "", help: str = "") -> Any:
    """A rich-text document (`RichTextDocument`), empty by default; Markdown that is written becomes one."""
    return _field(
        "richtext", translatable, label,
        help or (
            "Rich-text editor JSON: {type: doc, content: [...]}. You can send Markdown instead."
        ),
        default_factory=lambda: deepcopy(richtext.EMPTY),
    )  # fmt: skip


def Number(
    *,
    default: float | None = 0,
    minimum: float = -_LARGEST_NUMBER,
    maximum: float = _LARGEST_NUMBER,
    translatable: bool = False,
    label: str = "",
    help: str = "",
) -> Any:
    """`int` or `float`, as annotated, between the bounds."""
    return _field(
        "number", translatable, label, help, default=default, ge=minimum, le=maximum, strict=True
    )


def Boolean(
    *, default: bool = False, translatable: bool = False, label: str = "", help: str = ""
) -> Any:
    """Yes or no."""
    return _field("boolean", translatable, label, help, default=default, strict=True)


def Select(*, default: str, translatable: bool = False, label: str = "", help: str = "") -> Any:
    """One of the words of the annotation, a `Literal`."""
    return _field("select", translatable, label, help, default=default)


def MultiSelect(
    *,
    default: Sequence[str] = (),
    max_items: int = 50,
    translatable: bool = False,
    label: str = "",
    help: str = "",
) -> Any:
    """Several of the words of the annotation, a `list[Literal[...]]`."""
    return _field(
        "multiselect", translatable, label, help,
        default_factory=lambda: list(default), max_length=max_items,
    )  # fmt: skip


def Date(
    *, default: str | None = None, translatable: bool = False, label: str = "", help: str = ""
) -> Any:
    """A day, `str | None` as YYYY-MM-DD."""
    return _field("date", translatable, label, help, default=default, extra={"format": "date"})


def Url(*, default: str = "", translatable: bool = False, label: str = "", help: str = "") -> Any:
    """An absolute http(s) address."""
    return _field("url", translatable, label, help, default=default, max_length=URL_MAX)


def Link(*, default: str = "", translatable: bool = True, label: str = "", help: str = "") -> Any:
    """Return where a button leads: a path, an anchor or an address.

    Translatable, for a page of the site has another path in each language.
    """
    return _field("link", translatable, label, help, default=default, max_length=URL_MAX)


def MediaField(*, translatable: bool = False, label: str = "", help: str = "") -> Any:
    """The id of a media item, `str | None`."""
    return _reference("media", False, translatable, label, help, {})


def Icon(*, default: str = "", translatable: bool = False, label: str = "", help: str = "") -> Any:
    """The name of a symbol; an unknown one shows nothing."""
    return _field(
        "icon", translatable, label, help, default=default, max_length=40,
        extra={"examples": list(ICONS)},
    )  # fmt: skip


def Object_(
    of: type[ModuleProps], *, translatable: bool = True, label: str = "", help: str = ""
) -> Any:
    """A nested object, whose class is also the annotation."""
    return _field("object", translatable, label, help, default_factory=of)


def Repeater(
    *,
    min_items: int = 0,
    max_items: int = 50,
    translatable: bool = True,
    label: str = "",
    help: str = "",
) -> Any:
    """A list of nested objects, `list[Item]`."""
    return _field(
        "repeater", translatable, label, help,
        default_factory=list, min_length=min_items or None, max_length=max_items,
    )  # fmt: skip


def PostReference(
    *,
    many: bool = False,
    post_type: str = "",
    translatable: bool = False,
    label: str = "",
    help: str = "",
) -> Any:
    """The id of a post (`str | None`), or a list of ids where `many`."""
    extra = {"postType": post_type} if post_type else {}
    return _reference("post-reference", many, translatable, label, help, extra)


def TaxonomyReference(
    *,
    many: bool = False,
    taxonomy: str = "",
    translatable: bool = False,
    label: str = "",
    help: str = "",
) -> Any:
    """The id of a taxonomy term (`str | None`), or a list of ids where `many`."""
    extra = {"taxonomy": taxonomy} if taxonomy else {}
    return _reference("taxonomy-reference", many, translatable, label, help, extra)


def FormReference(*, translatable: bool = False, label: str = "", help: str = "") -> Any:
    """The slug of a form."""
    return _field("form-reference", translatable, label, help, default="", max_length=100)


def _reference(
    kind: FieldType, many: bool, translatable: bool, label: str, help: str, extra: dict[str, str]
) -> Any:
    if many:
        return _field(
            kind, translatable, label, help, default_factory=list, max_length=100, extra=extra
        )
    extra = {"format": "uuid", **extra}
    return _field(kind, translatable, label, help, default=None, extra=extra)
