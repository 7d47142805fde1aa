"""The field types of a module's props and a post type's custom fields.

    class Props(ModuleProps):
        title: str = Text(max_length=120)
        items: list[Item] = Repeater(max_items=20)

Stored and sent names are camelCase. Every field has a default, so a new module is valid at once.
The functions return `Any` because that is what a pydantic field default must be to a type checker.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic.alias_generators import to_camel

from proofroom.definitions.richtext import schema as richtext
from proofroom.definitions.values import CHECKS, document_of

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
        help or "Rich-text editor JSON: {type: doc, content: [...]}. Markdown may be sent instead.",
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
    return _field("url", translatable, label, help, default=default, max_length=2000)


def Link(*, default: str = "", translatable: bool = True, label: str = "", help: str = "") -> Any:
    """Return where a button leads: a path, an anchor or an address.

    Translatable, for a page of the site has another path in each language.
    """
    return _field("link", translatable, label, help, default=default, max_length=2000)


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
