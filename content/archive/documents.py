"""Documents in an archive: validated on import, and independent of the installation on export."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, Literal, cast

from django.conf import settings
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from content.document.changes import diff
from content.document.document import (
    CUSTOM_PREFIX,
    FIELD_NAMES,
    SCHEMA_VERSION,
    ModuleDocument,
    PostDocument,
)
from content.document.post_fields import AUTHORS, POST_FIELDS
from content.models import Post
from content.rules.check import clean_changes
from content.rules.modules import MODULES_MAX
from content.store.post_repository import authors_of, fields_of
from proofroom.archive.export import Export
from proofroom.archive.imports import ArchiveImport
from proofroom.archive.rows import Id
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.errors import describe_translated, first_fault
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom.definitions import find_post_type, modules
from proofroom.definitions.undefined_values import (
    remove_undefined,
    restore_undefined,
    undefined_names,
)

_SITE: Final = "{site}"
"""Placeholder for the site's address, which differs between installations."""
LOST_REFERENCES: Final = frozenset(
    {"unknown_media", "unknown_post", "unknown_term", "unknown_form"}
)
"""Codes of missing references that an import accepts, because content may outlive the objects it refers to."""


class _Module(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    postModuleId: Id
    moduleInstanceId: Id
    type: str = Field(max_length=80)
    scope: Literal["local", "global", "static"]
    orderIndex: int
    locked: bool
    props: dict[str, Any]
    overrides: dict[str, Any] | None
    globalSlug: str | None


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    schemaVersion: Literal[1]
    post: dict[str, Any]
    taxonomyTermIds: list[Id]
    modules: list[_Module] = Field(max_length=MODULES_MAX)


def read_document(
    value: Mapping[str, Json], job: ArchiveImport, type_: str = "", locale: str = ""
) -> PostDocument:
    """Parse a document of an archive, optionally of this type and locale. Raises `RuleViolation` if it is invalid.

    Authors without an account here are left out.
    """
    try:
        _Document.model_validate(value)
    except ValidationError as error:
        raise invalid(*first_fault(error, describe_translated, root="document")) from None
    post = cast("Mapping[str, Json]", value["post"])
    unknown = set(post) - {"type", "locale", "customFields", *FIELD_NAMES}
    if unknown:
        name = min(unknown)[:80]
        raise invalid(name, _("There is no post field named %(name)r.") % {"name": name})
    is_named = isinstance(post.get("type"), str) and isinstance(post.get("locale"), str)
    if not is_named or not isinstance(post.get("customFields"), dict):
        raise invalid("post", _("A document needs a type, a locale and customFields."))
    if type_ and (post["type"], post["locale"]) != (type_, locale):
        raise invalid("post", _("The document has another type or language than its post."))
    document = PostDocument.from_json({**value, "schemaVersion": SCHEMA_VERSION})
    people = document.fields[AUTHORS]
    if not isinstance(people, list) or not all(isinstance(one, str) for one in people):
        raise invalid(AUTHORS, _("A field has a value that cannot be stored."))
    known = [id_ for one in people if (id_ := job.person(str(one))) is not None]
    document = document.with_fields({AUTHORS: [*known]})
    address = document.fields.get("canonicalUrl")
    if isinstance(address, str) and address.startswith(_SITE):
        here = settings.SITE_URL + address.removeprefix(_SITE)
        document = document.with_fields({"canonicalUrl": here})
    return document


def require_kinds(document: PostDocument) -> None:
    """Raise `RuleViolation` if a value's type doesn't fit its database column."""
    for name, field in POST_FIELDS.items():
        value = document.fields.get(name)
        if value is None or field.kind in ("json", "media", "post-reference", "people"):
            continue
        try:
            # Not `isinstance`, because True and False are integers.
            is_fit = {
                "number": type(value) is int,
                "moment": isinstance(value, str) and parse_datetime(value) is not None,
            }.get(field.kind, isinstance(value, str))
        except ValueError:  # such as the year 0
            is_fit = False
        if not is_fit:
            raise invalid(name, _("A field has a value that cannot be stored."))


def document_row(document: PostDocument, export: Export) -> JsonObject:
    """Return the document in archive format, with references in place of the ids of accounts."""
    people = [export.person(id_) for id_ in authors_of(document)]
    document = document.with_fields({AUTHORS: [one for one in people if one is not None]})
    address = document.fields.get("canonicalUrl")
    # With a slash, so that another host that begins with the same name doesn't match.
    if isinstance(address, str) and (address + "/").startswith(settings.SITE_URL + "/"):
        portable = _SITE + address.removeprefix(settings.SITE_URL)
        document = document.with_fields({"canonicalUrl": portable})
    return document.to_json()


def empty_archive_document(post: Post, document: PostDocument) -> PostDocument:
    """Return the empty document of a post; a variation has its original's slug and parent."""
    fields = fields_of(Post(type=document.type, locale=document.locale))
    if post.variation_of_id is not None:
        fields |= {name: document.fields.get(name) for name in ("slug", "parentId")}
    return PostDocument(type=document.type, locale=document.locale, fields=fields)


def clean_document(
    post: Post,
    before: PostDocument,
    after: PostDocument,
    *,
    keeps_undefined: bool = False,
) -> tuple[PostDocument, list[str]]:
    """Return `after` validated by the rules of this installation, and notes on what is missing here.

    Missing are targets of references and, with `keeps_undefined`, definitions of modules and values, which stay
    unchanged. Raises `RuleViolation`.
    """
    notes: list[str] = []
    # `read_document` found their accounts, which may be inactive: who wrote a post stays its author.
    before = before.with_fields({AUTHORS: after.fields.get(AUTHORS)})
    whole = after
    if keeps_undefined and (names := list(_undefined(after))):
        notes.append(
            _("Kept, although this site has no definition of it: %(names)s.")
            % {"names": ", ".join(names[:20])}
        )
        before, after = _without_undefined(before), _without_undefined(after)
    try:
        cleaned = clean_changes(post, before, after)
    except RuleViolation as error:
        if error.code not in LOST_REFERENCES:
            raise
        notes.append(error.message)
        cleaned = clean_changes(post, before, after, taken_over=after)
    return (cleaned if after is whole else _with_undefined(cleaned, whole)), notes


def _undefined(document: PostDocument) -> Iterator[str]:
    """Yield names of modules and values without a definition. Raises `RuleViolation` if one can't be stored."""
    for module in document.modules:
        definition = modules.get(module.type)
        if definition is None:
            reject_unstorable([module.props, module.overrides], f"modules.{module.id}")
            yield _("module %(type)s") % {"type": module.type[:80]}
            continue
        for values in (module.props, module.overrides):
            for name in undefined_names(definition.Props, values):
                reject_unstorable(values, f"modules.{module.id}")
                yield f"{module.type}.{name}"[:200]
    for name in undefined_names(find_post_type(document.type).CustomFields, document.custom_fields):
        reject_unstorable(document.custom_fields, "customFields")
        yield f"{CUSTOM_PREFIX}{name}"[:200]


def _without_undefined(document: PostDocument) -> PostDocument:
    defined_modules = [
        replace(
            module,
            props=remove_undefined(definition.Props, module.props),
            overrides=remove_undefined(definition.Props, module.overrides),
        )
        for module in document.modules
        if (definition := modules.get(module.type)) is not None
    ]
    shape = find_post_type(document.type).CustomFields
    fields = {
        name: value for name, value in document.fields.items() if not name.startswith(CUSTOM_PREFIX)
    }
    custom = remove_undefined(shape, document.custom_fields)
    fields |= {CUSTOM_PREFIX + name: value for name, value in custom.items()}
    return replace(document, fields=fields, modules=tuple(defined_modules))


def _with_undefined(cleaned: PostDocument, whole: PostDocument) -> PostDocument:
    together: list[ModuleDocument] = []
    for module in whole.modules:
        definition, now = modules.get(module.type), cleaned.module(module.id)
        if definition is None or now is None:
            together.append(module)
            continue
        together.append(
            replace(
                now,
                props=restore_undefined(definition.Props, now.props, module.props),
                overrides=restore_undefined(definition.Props, now.overrides, module.overrides),
            )
        )
    shape = find_post_type(whole.type).CustomFields
    custom = restore_undefined(shape, cleaned.custom_fields, whole.custom_fields)
    return replace(cleaned.with_fields({"customFields": custom}), modules=tuple(together))


def adopt_modules(archived: PostDocument, here: PostDocument) -> PostDocument:
    """Return the archived document with the ids of this installation's modules.

    Modules with other ids are matched by type and global slug, in order.
    """
    free: dict[tuple[str, str | None], list[ModuleDocument]] = defaultdict(list)
    ids = set(archived.order)
    for module in here.modules:
        if module.id not in ids:
            free[module.type, module.global_slug].append(module)
    adopted = []
    for module in archived.modules:
        same = here.module(module.id)
        waiting = free[module.type, module.global_slug]
        if same is None and waiting:
            same = waiting.pop(0)
        if same is not None and same.type == module.type:
            module = replace(module, id=same.id, instance_id=same.instance_id)
        adopted.append(module)
    return replace(archived, modules=tuple(adopted))


def keep_missing_fields(
    archived: PostDocument,
    row: Mapping[str, Json],
    here: PostDocument,
) -> PostDocument:
    """Return the archived document, with current values for fields missing in its row.

    Archives from before a field was added don't contain it.
    """
    archived_fields = cast("Mapping[str, Json]", row["post"])
    return archived.with_fields(
        {name: here.fields.get(name) for name in FIELD_NAMES if name not in archived_fields}
    )


def is_same(one: PostDocument, other: PostDocument) -> bool:
    return len(diff(one, other)) == 0
