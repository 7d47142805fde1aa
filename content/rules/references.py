"""Checks that references of a value exist: media, posts, terms, forms, and files by address.

Only references added by a change are checked. A reference that the value had before, or that a copy takes from its
source, may be missing. So content with a deleted file can still be saved, staged and approved.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, cast
from uuid import UUID

from django.utils.translation import gettext_noop

from content.document.changes import ABSENT, Changes, Value
from content.document.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.document.post_fields import MEDIA_FIELDS
from content.models import Post
from content.store.scopes import hidden_post_ids
from media.queries import load_assets_by_name
from media.scopes import filter_visible_assets
from media.services.references import storage_name
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.i18n import in_words
from proofroom.core.json import Json
from proofroom.definitions import ModuleProps, modules, post_types, props_of
from proofroom.definitions.richtext.nodes import attributes, children, kind
from proofroom.taxonomies.models import Term

ReferenceKind = Literal["media", "file", "post-reference", "taxonomy-reference", "form-reference"]
Existing = Callable[[Collection[str]], Collection[str]]
"""A function that returns the existing references among the given ones. One query."""

_IDS: Final[Mapping[str, ReferenceKind]] = {
    "media": "media",
    "post-reference": "post-reference",
    "taxonomy-reference": "taxonomy-reference",
}
_SENTENCES: Final[Mapping[ReferenceKind, str]] = {
    "media": gettext_noop("There is no media file with the ID %(name)s."),
    "file": gettext_noop("There is no media file at the address %(name)s."),
    "post-reference": gettext_noop("No post has the ID %(name)s."),
    "taxonomy-reference": gettext_noop("No taxonomy term has the ID %(name)s."),
    "form-reference": gettext_noop("No form has the slug %(name)s."),
}
_CODES: Final[Mapping[ReferenceKind, str]] = {
    "media": "unknown_media",
    "file": "unknown_media",
    "post-reference": "unknown_post",
    "taxonomy-reference": "unknown_term",
    "form-reference": "unknown_form",
}
_OWN_NAME: Final = re.compile(r"[0-9a-f]{32}")
"""Part of the name of every uploaded file. Other files in the storage are unknown here."""
_BATCH_SIZE: Final = 5_000
"""Number of references per query. Requests practically never have more."""
_MOST_DETAILS: Final = 20
_MAX_DEPTH: Final = 12

reference_lookups: ExtensionPoint[Existing] = ExtensionPoint()
"""Lookups by kind of reference, registered by apps above content. Kinds without a lookup count as existing."""


@dataclass(frozen=True, slots=True)
class NamedReference:
    """A reference in a value, with its path."""

    path: str
    kind: ReferenceKind
    name: str

    @property
    def thing(self) -> tuple[ReferenceKind, str]:
        return self.kind, self.name


def check_references(
    before: PostDocument,
    after: PostDocument,
    changes: Changes,
    *,
    taken_over: PostDocument | None = None,
    actor: Actor | None = None,
) -> None:
    """Raise `RuleViolation` for each new reference in `after` that does not exist.

    References of `taken_over` may be missing. With an `actor`, posts and files they may not view count as missing.
    At most four queries in total, and two more for an actor with a limited scope.
    """
    new = _new_references(before, after, changes)
    if taken_over is not None and new:
        known = {reference.thing for reference in find_references(taken_over)}
        new = [reference for reference in new if reference.thing not in known]
    if new:
        _raise_for_missing(_find_missing(new, actor))


def find_references(document: PostDocument) -> Iterator[NamedReference]:
    """Yield all references in the fields and modules of a document, existing or not, except its terms."""
    for name, value in document.fields.items():
        yield from _references_at(f"post.{name}", value, document)
    for module in document.modules:
        yield from _module_references(module)


def find_props_references(
    props: type[ModuleProps], values: Mapping[str, Json]
) -> Iterator[NamedReference]:
    """Yield the references in the props of one module, as `find_references`."""
    yield from _props_references(props, values, "props")


@dataclass(frozen=True, slots=True)
class PropsChange:
    """A change of the props of a module outside of posts. Paths of errors start with `prefix`."""

    props: type[ModuleProps]
    before: Mapping[str, Json]
    after: Mapping[str, Json]
    prefix: str = "props"

    def added(self) -> list[NamedReference]:
        old = list(_props_references(self.props, self.before, self.prefix))
        return _added_references(old, list(_props_references(self.props, self.after, self.prefix)))


def check_props(*changed: PropsChange, actor: Actor | None = None) -> None:
    """Check references as `check_references`, for modules outside of posts: global modules and module groups."""
    _raise_for_missing(
        _find_missing([reference for change in changed for reference in change.added()], actor)
    )


def drop_missing_references(
    before: PostDocument, after: PostDocument, changes: Changes
) -> tuple[PostDocument, list[str]]:
    """Return `after` without missing references that `changes` add, and their paths.

    Addresses in rich text and links stay, because they are text.
    """
    missing = [
        reference
        for reference in _find_missing(_new_references(before, after, changes))
        if reference.kind != "file"
    ]
    for reference in missing:
        after = _without_reference(after, reference)
    return after, [reference.path for reference in missing]


def drop_missing_props_references(changed: PropsChange) -> dict[str, Json]:
    """Return the props of one module without missing references, as `drop_missing_references`."""
    props: Json = dict(changed.after)
    for reference in _find_missing(changed.added()):
        if reference.kind != "file":
            path = reference.path.removeprefix(f"{changed.prefix}.").split(".")
            props = _without_value(props, path, reference.name)
    return cast("dict[str, Json]", props)


def _raise_for_missing(missing: Sequence[NamedReference]) -> None:
    if not missing:
        return
    details: dict[str, list[str]] = {}
    for reference in missing[:_MOST_DETAILS]:
        details.setdefault(reference.path, []).append(_sentence(reference))
    first = missing[0]
    code = "invalid" if first.path in MEDIA_FIELDS else _CODES[first.kind]
    raise RuleViolation(_sentence(first), code=code, details=details)


def _sentence(reference: NamedReference) -> str:
    return in_words(_SENTENCES[reference.kind]) % {"name": reference.name[:200]}


def _find_missing(
    references: Sequence[NamedReference], actor: Actor | None = None
) -> list[NamedReference]:
    """Return the references that do not exist or are hidden from the actor.

    One query for files and one for each other kind. One more each for files and posts if the actor's scope is
    limited.
    """
    if not references:
        return []
    named: dict[ReferenceKind, set[str]] = {}
    for reference in references:
        named.setdefault(reference.kind, set()).add(reference.name)
    existing_names: dict[ReferenceKind, Collection[str]] = {}
    ids, addresses = named.pop("media", set()), named.pop("file", set())
    if ids or addresses:
        by_name = {storage_name(address) or "": address for address in addresses}
        known_ids, known_names = set[str](), set[str]()
        for part in _batches([*ids, *by_name]):
            found = load_assets_by_name(
                [name for name in part if name not in by_name], [n for n in part if n in by_name]
            )
            known_ids |= set(
                found.by_id if actor is None else filter_visible_assets(found.by_id, actor)
            )
            known_names |= set(
                found.by_name if actor is None else filter_visible_assets(found.by_name, actor)
            )
        existing_names["media"], existing_names["file"] = (
            known_ids,
            {address for address in addresses if (storage_name(address) or "") in known_names},
        )
    for kind_, names in named.items():
        existing = reference_lookups.get(kind_)
        # Without a lookup, references count as existing.
        existing_names[kind_] = names
        if existing is not None:
            existing_names[kind_] = {
                name for part in _batches(sorted(names)) for name in existing(part)
            }
    if actor is not None and "post-reference" in existing_names:
        posts = set(existing_names["post-reference"])
        existing_names["post-reference"] = posts - set(map(str, hidden_post_ids(posts, actor)))
    return [item for item in references if item.name not in existing_names[item.kind]]


reference_lookups.register(
    lambda ids: set(map(str, Post.objects.kept().filter(pk__in=ids).values_list("pk", flat=True))),
    name="post-reference",
)
reference_lookups.register(
    lambda ids: set(map(str, Term.objects.filter(pk__in=ids).values_list("pk", flat=True))),
    name="taxonomy-reference",
)


def _batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for begin in range(0, len(names), _BATCH_SIZE):
        yield names[begin : begin + _BATCH_SIZE]


def _new_references(
    before: PostDocument, after: PostDocument, changes: Changes
) -> list[NamedReference]:
    new: list[NamedReference] = []
    for change in changes:
        if change.kind in ("moved", "removed"):
            continue
        old = list(_references_at(change.path, change.before, before))
        new += _added_references(old, list(_references_at(change.path, change.after, after)))
    return new


def _added_references(
    old: Sequence[NamedReference], new: Sequence[NamedReference]
) -> list[NamedReference]:
    """Return the references of `new` that `old` lacks. List items may change places."""
    at = {(item.path, item.thing) for item in old}
    # Count per object, so that a reference that moved with its list item is not new.
    moved = Counter(item.thing for item in old)
    unmatched: list[NamedReference] = []
    for item in new:
        if (item.path, item.thing) in at:
            moved[item.thing] -= 1
        else:
            unmatched.append(item)
    added: list[NamedReference] = []
    for item in unmatched:
        if moved[item.thing] > 0:
            moved[item.thing] -= 1
        else:
            added.append(item)
    return added


def _references_at(path: str, value: Value, document: PostDocument) -> Iterator[NamedReference]:
    """Yield the references in the value at a path, with the paths of errors."""
    if value is ABSENT or isinstance(value, ModuleDocument):
        if isinstance(value, ModuleDocument):
            yield from _module_references(value)
        return
    if path.startswith("post."):
        name = path.removeprefix("post.")
        if name in MEDIA_FIELDS:
            yield from _id_references(name, "media", value)
        elif name.startswith(CUSTOM_PREFIX):
            post_type = post_types.get(document.type)
            own = name.removeprefix(CUSTOM_PREFIX)
            if post_type is not None:
                yield from _props_references(
                    post_type.CustomFields, {own: cast("Json", value)}, "customFields"
                )
        return
    _, module_id, part, name = path.split(".", 3)
    module = document.module(module_id)
    definition = modules.get(module.type) if module is not None else None
    if definition is not None:
        where = f"modules.{module_id}.{part}"
        yield from _props_references(definition.Props, {name: cast("Json", value)}, where)


def _module_references(module: ModuleDocument) -> Iterator[NamedReference]:
    definition = modules.get(module.type)
    if definition is not None:
        where = f"modules.{module.id}"
        yield from _props_references(definition.Props, module.props, f"{where}.props")
        yield from _props_references(definition.Props, module.overrides, f"{where}.overrides")


def _props_references(
    props: type[ModuleProps], values: Mapping[str, object], where: str, depth: int = 0
) -> Iterator[NamedReference]:
    """Yield the references in props. Values that do not fit their definition, which may be newer, are skipped."""
    known = props_of(props)
    for name, value in values.items():
        prop = known.get(name)
        if prop is not None and depth <= _MAX_DEPTH:
            path = f"{where}.{name}"
            if prop.kind in _IDS:
                yield from _id_references(path, _IDS[prop.kind], value)
            elif prop.kind == "form-reference":
                if isinstance(value, str) and value:
                    yield NamedReference(path, "form-reference", value)
            elif prop.kind == "richtext":
                waiting = [value] if isinstance(value, Mapping) else []
                while waiting:
                    node = waiting.pop()
                    if kind(node) == "image":
                        yield from _file_reference(path, attributes(node).get("src"))
                    marks = node.get("marks")
                    for mark in marks if isinstance(marks, list | tuple) else ():
                        if isinstance(mark, Mapping) and kind(mark) == "link":
                            yield from _file_reference(path, attributes(mark).get("href"))
                    # Reversed, because a stack returns the last child first.
                    waiting.extend(reversed(children(node)))
            elif prop.kind in ("link", "url"):
                yield from _file_reference(path, value)
            elif prop.nested is not None and isinstance(value, Mapping):
                yield from _props_references(prop.nested, value, path, depth + 1)
            elif prop.nested is not None and isinstance(value, list | tuple):
                for number, item in enumerate(value):
                    if isinstance(item, Mapping):
                        yield from _props_references(
                            prop.nested, item, f"{path}.{number}", depth + 1
                        )


def _id_references(path: str, kind_: ReferenceKind, value: object) -> Iterator[NamedReference]:
    listed = isinstance(value, list | tuple)
    for number, item in enumerate(value if isinstance(value, list | tuple) else [value]):
        if isinstance(item, str) and (id_ := _canonical(item)):
            yield NamedReference(f"{path}.{number}" if listed else path, kind_, id_)


def _canonical(value: str) -> str:
    try:
        return str(UUID(value))
    except ValueError:
        return ""


def _file_reference(path: str, value: object) -> Iterator[NamedReference]:
    name = storage_name(value) if isinstance(value, str) else None
    if name is not None and _OWN_NAME.search(name):
        yield NamedReference(path, "file", str(value))


def _without_reference(document: PostDocument, reference: NamedReference) -> PostDocument:
    if reference.path in MEDIA_FIELDS:
        return document.with_fields({reference.path: None})
    head, *rest = reference.path.split(".")
    if head == "customFields":
        name = CUSTOM_PREFIX + rest[0]
        value = _without_value(document.fields.get(name), rest[1:], reference.name)
        return document.with_fields({name: value})
    module_id, part, *rest = rest
    module = document.module(module_id)
    if module is None:
        return document
    values = module.props if part == "props" else module.overrides
    emptied = cast("Mapping[str, Json]", _without_value(dict(values), rest, reference.name))
    module = (
        replace(module, props=emptied) if part == "props" else replace(module, overrides=emptied)
    )
    return document.with_module(module)


def _without_value(value: Json, path: Sequence[str], name: str) -> Json:
    """Return the value without the reference at the path.

    It is replaced by null (id) or "" (slug), or removed from its list of ids.
    """
    if not path:
        return None if _canonical(name) else ""
    head, *rest = path
    if isinstance(value, Mapping):
        return {**value, head: _without_value(value.get(head), rest, name)}
    if not isinstance(value, list | tuple):
        return value
    if not rest:
        # By name, because the removal of an earlier entry changes the positions of later ones.
        return [item for item in value if _canonical(str(item)) != name]
    place = int(head)
    return [
        _without_value(item, rest, name) if number == place else item
        for number, item in enumerate(value)
    ]
