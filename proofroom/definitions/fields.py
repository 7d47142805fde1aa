"""Field functions for a module's props and a post type's custom fields.

    class Props(ModuleProps):
        title: str = Text(max_length=120)
        items: list[Item] = Repeater(max_items=20)

Stored and sent names are camelCase. Every field has a default, so a new module is valid.
The functions return `Any`, because type checkers require the field's type of a pydantic default.
`filterable` custom fields can be used in filters and orders of the delivery API.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from datetime import date
from typing import Any, ClassVar, Literal, TypeAlias
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
"""Bytes of the JSON form in UTF-8."""
MARKDOWN_MAX = 200_000
"""Characters. Parsing hostile Markdown of this length takes seconds."""

_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]*\Z")
# ASCII only, because `\d` also matches digits of other scripts.
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)


def _wrong(code: str, sentence: str) -> PydanticCustomError:
    # The sentence is passed as a value, because pydantic would read its braces as placeholders.
    return PydanticCustomError(code, "{sentence}", {"sentence": sentence})


def check_line(value: object) -> object:
    """Return a single line of text. Refuse control characters and line breaks."""
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
    """Return text with line breaks and tabs. Refuse other control characters."""
    if isinstance(value, str) and (found := NOT_IN_LINES.search(value)):
        raise _wrong(
            "control_character",
            _("Control characters are not allowed (U+%(ord)s at position %(start)s).")
            % character_at(found),
        )
    return value


def document_of(markdown: str) -> object:
    """Return the rich-text document of a Markdown text."""
    if len(markdown) > MARKDOWN_MAX:
        raise _wrong(
            "rich_text",
            _("The Markdown has %(size)s characters; at most %(markdown_max)s are allowed.")
            % {"size": len(markdown), "markdown_max": MARKDOWN_MAX},
        )
    # Imported here, because visitors' pages never parse Markdown and need not load the parser.
    from proofroom.definitions.richtext.markdown_reader import from_markdown

    return from_markdown(markdown)


def check_rich_text(value: object) -> object:
    """Return a valid rich-text document. Refuse others."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        size = len(text.encode())
    # `ValueError`: NaN or infinity. `RecursionError`: nested too deeply.
    except (TypeError, ValueError, RecursionError) as error:
        raise _wrong("rich_text", _("This is not valid rich text.")) from error
    if size > RICH_TEXT_MAX_BYTES:
        raise _wrong(
            "rich_text",
            _("The text has %(size)s bytes; at most %(rich_text_max_bytes)s are allowed.")
            % {"size": size, "rich_text_max_bytes": RICH_TEXT_MAX_BYTES},
        )
    if any(f'"{name}"' in text for name in richtext.ADDED_BY_DELIVERY.values()):
        value = json.loads(text)
        richtext.drop_added_by_delivery(value)
    problems = richtext.validate(value)
    if problems:
        raise _wrong("rich_text", " ".join(problems[:5]))
    return value


def check_link(value: object) -> object:
    """Return a safe link: a path, an anchor, http(s), mailto or tel; empty means none."""
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
    """Return an absolute http(s) URL; empty means none."""
    checked = check_link(value)
    if (
        isinstance(checked, str)
        and checked
        and not checked.lower().startswith(("http://", "https://"))
    ):
        raise _wrong("unsafe_url", _("Enter a full address that starts with https:// or http://."))
    return checked


def check_day(value: object) -> object:
    """Return a day as YYYY-MM-DD."""
    if not isinstance(value, str):
        return value
    try:
        # `fromisoformat` alone also accepts forms such as 20260503.
        if _DAY.match(value) is None:
            raise ValueError
        date.fromisoformat(value)
    except ValueError as error:
        raise _wrong("date", _("Enter a date as YYYY-MM-DD.")) from error
    return value


def check_id(value: object) -> object:
    """Return a canonical UUID, or a list of them without duplicates. Empty becomes None."""
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
    """Return a slug; empty means none."""
    if isinstance(value, str) and value and _SLUG.match(value) is None:
        raise _wrong("slug", _("Enter a slug: lowercase letters, digits, - and _."))
    return value


def check_distinct(value: object) -> object:
    """Return a list of choices without duplicates."""
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
"""Checks of a value beyond its JSON type, by field type.

Each takes the value accepted by pydantic and returns the value to store, or raises `PydanticCustomError` with a
sentence for the author.
"""


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
"""Names of the symbols in `static/cms/icons.svg`."""

_LARGEST_NUMBER = 10**12


class ModuleProps(BaseModel):
    """Base class of a module's props, their nested objects, and custom fields. Unknown keys are refused.

    `add_label` is the button that adds such an object to a list: "Add image". The form says "Add item" without it.
    """

    add_label: ClassVar[str] = ""

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
    if settings.pop("filterable", False):
        extra["filterable"] = True
    return Field(title=label or None, description=help or None, json_schema_extra=extra, **settings)


def Text(
    *,
    default: str = "",
    max_length: int = 200,
    translatable: bool = True,
    filterable: bool = False,
    label: str = "",
    help: str = "",
) -> Any:
    """Define a field for one line of text."""
    return _field(
        "text", translatable, label, help,
        default=default, max_length=max_length, filterable=filterable,
    )  # fmt: skip


def Textarea(
    *,
    default: str = "",
    max_length: int = 2000,
    translatable: bool = True,
    label: str = "",
    help: str = "",
) -> Any:
    """Define a field for plain text with several lines."""
    return _field("textarea", translatable, label, help, default=default, max_length=max_length)


def RichText(*, translatable: bool = True, label: str = "", help: str = "") -> Any:
    """Define a field for a rich-text document (`RichTextDocument`), empty by default. It also accepts Markdown."""
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
    filterable: bool = False,
    label: str = "",
    help: str = "",
) -> Any:
    """Define a field for a number between the bounds, `int` or `float` as annotated."""
    return _field(
        "number", translatable, label, help,
        default=default, ge=minimum, le=maximum, strict=True, filterable=filterable,
    )  # fmt: skip


def Boolean(
    *,
    default: bool = False,
    translatable: bool = False,
    filterable: bool = False,
    label: str = "",
    help: str = "",
) -> Any:
    """Define a field for yes or no."""
    return _field(
        "boolean", translatable, label, help, default=default, strict=True, filterable=filterable
    )


def Select(
    *,
    default: str,
    translatable: bool = False,
    filterable: bool = False,
    label: str = "",
    help: str = "",
) -> Any:
    """Define a field for one value of its annotation, a `Literal`."""
    return _field("select", translatable, label, help, default=default, filterable=filterable)


def MultiSelect(
    *,
    default: Sequence[str] = (),
    max_items: int = 50,
    translatable: bool = False,
    filterable: bool = False,
    label: str = "",
    help: str = "",
) -> Any:
    """Define a field for several values of its annotation, a `list[Literal[...]]`."""
    return _field(
        "multiselect", translatable, label, help,
        default_factory=lambda: list(default), max_length=max_items, filterable=filterable,
    )  # fmt: skip


def Date(
    *,
    default: str | None = None,
    translatable: bool = False,
    filterable: bool = False,
    label: str = "",
    help: str = "",
) -> Any:
    """Define a field for a day, `str | None` as YYYY-MM-DD."""
    return _field(
        "date", translatable, label, help,
        default=default, extra={"format": "date"}, filterable=filterable,
    )  # fmt: skip


def Url(*, default: str = "", translatable: bool = False, label: str = "", help: str = "") -> Any:
    """Define a field for an absolute http(s) URL."""
    return _field("url", translatable, label, help, default=default, max_length=URL_MAX)


def Link(*, default: str = "", translatable: bool = True, label: str = "", help: str = "") -> Any:
    """Define a field for a link target: a path, an anchor or a URL."""
    # Translatable, because a page of the site has another path in each language.
    return _field("link", translatable, label, help, default=default, max_length=URL_MAX)


def MediaField(
    *,
    translatable: bool = False,
    label: str = "",
    help: str = "",
    accepts: Literal["image", "recording"] = "image",
) -> Any:
    """Define a field for the id of a media item, `str | None`. `recording` is a video or an audio file."""
    extra: dict[str, str] = {"accepts": accepts} if accepts != "image" else {}
    return _reference("media", False, translatable, label, help, extra)


def Icon(*, default: str = "", translatable: bool = False, label: str = "", help: str = "") -> Any:
    """Define a field for the name of a symbol. An unknown name shows nothing."""
    return _field(
        "icon", translatable, label, help, default=default, max_length=40,
        extra={"examples": list(ICONS)},
    )  # fmt: skip


def Object_(
    of: type[ModuleProps], *, translatable: bool = True, label: str = "", help: str = ""
) -> Any:
    """Define a field for a nested object. Its class is also the annotation."""
    return _field("object", translatable, label, help, default_factory=of)


def Repeater(
    *,
    min_items: int = 0,
    max_items: int = 50,
    translatable: bool = True,
    label: str = "",
    help: str = "",
) -> Any:
    """Define a field for a list of nested objects, `list[Item]`."""
    return _field(
        "repeater", translatable, label, help,
        default_factory=list, min_length=min_items or None, max_length=max_items,
    )  # fmt: skip


def PostReference(
    *,
    many: bool = False,
    post_type: str = "",
    translatable: bool = False,
    filterable: bool = False,
    label: str = "",
    help: str = "",
) -> Any:
    """Define a field for the id of a post (`str | None`), or for a list of ids if `many`."""
    extra = {"postType": post_type} if post_type else {}
    return _reference("post-reference", many, translatable, label, help, extra, filterable)


def TaxonomyReference(
    *,
    many: bool = False,
    taxonomy: str = "",
    translatable: bool = False,
    filterable: bool = False,
    label: str = "",
    help: str = "",
) -> Any:
    """Define a field for the id of a taxonomy term (`str | None`), or for a list of ids if `many`."""
    extra = {"taxonomy": taxonomy} if taxonomy else {}
    return _reference("taxonomy-reference", many, translatable, label, help, extra, filterable)


def FormReference(*, translatable: bool = False, label: str = "", help: str = "") -> Any:
    """Define a field for the slug of a form."""
    return _field("form-reference", translatable, label, help, default="", max_length=100)


def _reference(
    kind: FieldType,
    many: bool,
    translatable: bool,
    label: str,
    help: str,
    extra: dict[str, str],
    filterable: bool = False,
) -> Any:
    if many:
        return _field(
            kind, translatable, label, help,
            default_factory=list, max_length=100, extra=extra, filterable=filterable,
        )  # fmt: skip
    extra = {"format": "uuid", **extra}
    return _field(kind, translatable, label, help, default=None, extra=extra, filterable=filterable)
