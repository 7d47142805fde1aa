"""References: what a value names must be there. Media, posts, terms and forms, and files by their addresses.

Only references that a change brings are judged. One that stood in the value before, or that a copy takes over from
its source, may name what is gone: content whose file was deleted can still be saved, staged and approved.
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
from content.store.scopes import hidden_ids
from media.queries import load_assets_by_name
from media.scopes import only_visible
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
"""From what fields name to what of it there is. One query."""

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
"""What the name of every uploaded file holds; other files of the storage are known to nobody here."""
_AT_ONCE: Final = 5_000
"""Names in one query. More than a body can carry in practice."""
_MOST_DETAILS: Final = 20
_DEEPEST: Final = 12

reference_lookups: ExtensionPoint[Existing] = ExtensionPoint()
"""By kind of reference; apps above content register their own. What has none is taken to be there."""


@dataclass(frozen=True, slots=True)
class NamedReference:
    """A thing that a value names, and the path of the place that names it."""

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
    """Raise `RuleViolation` on each place of `after` that names what is not there, and did not name it before.

    What `taken_over` names may be gone. For an `actor`, posts and files that they may not see are not there either.
    At most four queries, and two more for who is limited, however many references there are.
    """
    new = _new_references(before, after, changes)
    if taken_over is not None and new:
        known = {reference.thing for reference in find_references(taken_over)}
        new = [reference for reference in new if reference.thing not in known]
    if new:
        _refuse(_missing(new, actor))


def find_references(document: PostDocument) -> Iterator[NamedReference]:
    """Everything that the fields and modules of a document name, there or not; not its terms."""
    for name, value in document.fields.items():
        yield from _at(f"post.{name}", value, document)
    for module in document.modules:
        yield from _of_module(module)


def find_props_references(
    props: type[ModuleProps], values: Mapping[str, Json]
) -> Iterator[NamedReference]:
    """As `find_references`, of the props of one module."""
    yield from _of_props(props, values, "props")


@dataclass(frozen=True, slots=True)
class PropsChange:
    """The props of one module outside of a post; refusals of them begin with `prefix`."""

    props: type[ModuleProps]
    before: Mapping[str, Json]
    after: Mapping[str, Json]
    prefix: str = "props"

    def added(self) -> list[NamedReference]:
        old = list(_of_props(self.props, self.before, self.prefix))
        return _added(old, list(_of_props(self.props, self.after, self.prefix)))


def check_props(*changed: PropsChange, actor: Actor | None = None) -> None:
    """As `check_references`, of modules that stand in no post: shared ones, and those of module groups."""
    _refuse(_missing([reference for change in changed for reference in change.added()], actor))


def without_missing(
    before: PostDocument, after: PostDocument, changes: Changes
) -> tuple[PostDocument, list[str]]:
    """`after` without the references that `changes` bring and that name what is not there, and their paths.

    Addresses in rich text and links stay: they are text.
    """
    missing = [
        reference
        for reference in _missing(_new_references(before, after, changes))
        if reference.kind != "file"
    ]
    for reference in missing:
        after = _without(after, reference)
    return after, [reference.path for reference in missing]


def props_without_missing(changed: PropsChange) -> dict[str, Json]:
    """As `without_missing`, of the props of one module."""
    kept: Json = dict(changed.after)
    for reference in _missing(changed.added()):
        if reference.kind != "file":
            path = reference.path.removeprefix(f"{changed.prefix}.").split(".")
            kept = _emptied(kept, path, reference.name)
    return cast("dict[str, Json]", kept)


def _refuse(missing: Sequence[NamedReference]) -> None:
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


def _missing(
    references: Sequence[NamedReference], actor: Actor | None = None
) -> list[NamedReference]:
    """Those that name what is not there, or hidden from the actor.

    One query for files, and one for each other kind that is named; one more for files and one for posts where the
    actor is limited to a part of the content.
    """
    if not references:
        return []
    named: dict[ReferenceKind, set[str]] = {}
    for reference in references:
        named.setdefault(reference.kind, set()).add(reference.name)
    there: dict[ReferenceKind, Collection[str]] = {}
    ids, addresses = named.pop("media", set()), named.pop("file", set())
    if ids or addresses:
        by_name = {storage_name(address) or "": address for address in addresses}
        known_ids, known_names = set[str](), set[str]()
        for part in _parts([*ids, *by_name]):
            found = load_assets_by_name(
                [name for name in part if name not in by_name], [n for n in part if n in by_name]
            )
            known_ids |= set(found.by_id if actor is None else only_visible(found.by_id, actor))
            known_names |= set(
                found.by_name if actor is None else only_visible(found.by_name, actor)
            )
        there["media"], there["file"] = (
            known_ids,
            {address for address in addresses if (storage_name(address) or "") in known_names},
        )
    for kind_, names in named.items():
        existing = reference_lookups.get(kind_)
        # What no app answers for, nobody can say is missing.
        there[kind_] = names
        if existing is not None:
            there[kind_] = {name for part in _parts(sorted(names)) for name in existing(part)}
    if actor is not None and "post-reference" in there:
        posts = set(there["post-reference"])
        there["post-reference"] = posts - set(map(str, hidden_ids(posts, actor)))
    return [item for item in references if item.name not in there[item.kind]]


reference_lookups.register(
    lambda ids: set(map(str, Post.objects.kept().filter(pk__in=ids).values_list("pk", flat=True))),
    name="post-reference",
)
reference_lookups.register(
    lambda ids: set(map(str, Term.objects.filter(pk__in=ids).values_list("pk", flat=True))),
    name="taxonomy-reference",
)


def _parts(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for begin in range(0, len(names), _AT_ONCE):
        yield names[begin : begin + _AT_ONCE]


def _new_references(
    before: PostDocument, after: PostDocument, changes: Changes
) -> list[NamedReference]:
    new: list[NamedReference] = []
    for change in changes:
        if change.kind in ("moved", "removed"):
            continue
        old = list(_at(change.path, change.before, before))
        new += _added(old, list(_at(change.path, change.after, after)))
    return new


def _added(old: Sequence[NamedReference], new: Sequence[NamedReference]) -> list[NamedReference]:
    """Those of `new` that `old` lacks: each place keeps its own, and items of a list may change places."""
    at = {(item.path, item.thing) for item in old}
    moved = Counter(item.thing for item in old)
    left: list[NamedReference] = []
    for item in new:
        if (item.path, item.thing) in at:
            moved[item.thing] -= 1
        else:
            left.append(item)
    added: list[NamedReference] = []
    for item in left:
        if moved[item.thing] > 0:
            moved[item.thing] -= 1
        else:
            added.append(item)
    return added


def _at(path: str, value: Value, document: PostDocument) -> Iterator[NamedReference]:
    """The references in the value at a path of a document, keyed as refusals are."""
    if value is ABSENT or isinstance(value, ModuleDocument):
        if isinstance(value, ModuleDocument):
            yield from _of_module(value)
        return
    if path.startswith("post."):
        name = path.removeprefix("post.")
        if name in MEDIA_FIELDS:
            yield from _ids(name, "media", value)
        elif name.startswith(CUSTOM_PREFIX):
            post_type = post_types.get(document.type)
            own = name.removeprefix(CUSTOM_PREFIX)
            if post_type is not None:
                yield from _of_props(
                    post_type.CustomFields, {own: cast("Json", value)}, "customFields"
                )
        return
    _, module_id, part, name = path.split(".", 3)
    module = document.module(module_id)
    definition = modules.get(module.type) if module is not None else None
    if definition is not None:
        where = f"modules.{module_id}.{part}"
        yield from _of_props(definition.Props, {name: cast("Json", value)}, where)


def _of_module(module: ModuleDocument) -> Iterator[NamedReference]:
    definition = modules.get(module.type)
    if definition is not None:
        where = f"modules.{module.id}"
        yield from _of_props(definition.Props, module.props, f"{where}.props")
        yield from _of_props(definition.Props, module.overrides, f"{where}.overrides")


def _of_props(
    props: type[ModuleProps], values: Mapping[str, object], where: str, depth: int = 0
) -> Iterator[NamedReference]:
    """Yield what is stored can be older than its definition: what does not fit is passed over."""
    known = props_of(props)
    for name, value in values.items():
        prop = known.get(name)
        if prop is not None and depth <= _DEEPEST:
            path = f"{where}.{name}"
            if prop.kind in _IDS:
                yield from _ids(path, _IDS[prop.kind], value)
            elif prop.kind == "form-reference":
                if isinstance(value, str) and value:
                    yield NamedReference(path, "form-reference", value)
            elif prop.kind == "richtext":
                waiting = [value] if isinstance(value, Mapping) else []
                while waiting:
                    node = waiting.pop()
                    if kind(node) == "image":
                        yield from _address(path, attributes(node).get("src"))
                    marks = node.get("marks")
                    for mark in marks if isinstance(marks, list | tuple) else ():
                        if isinstance(mark, Mapping) and kind(mark) == "link":
                            yield from _address(path, attributes(mark).get("href"))
                    waiting.extend(reversed(children(node)))
            elif prop.kind in ("link", "url"):
                yield from _address(path, value)
            elif prop.nested is not None and isinstance(value, Mapping):
                yield from _of_props(prop.nested, value, path, depth + 1)
            elif prop.nested is not None and isinstance(value, list | tuple):
                for number, item in enumerate(value):
                    if isinstance(item, Mapping):
                        yield from _of_props(prop.nested, item, f"{path}.{number}", depth + 1)


def _ids(path: str, kind_: ReferenceKind, value: object) -> Iterator[NamedReference]:
    listed = isinstance(value, list | tuple)
    for number, item in enumerate(value if isinstance(value, list | tuple) else [value]):
        if isinstance(item, str) and (id_ := _canonical(item)):
            yield NamedReference(f"{path}.{number}" if listed else path, kind_, id_)


def _canonical(value: str) -> str:
    try:
        return str(UUID(value))
    except ValueError:
        return ""


def _address(path: str, value: object) -> Iterator[NamedReference]:
    name = storage_name(value) if isinstance(value, str) else None
    if name is not None and _OWN_NAME.search(name):
        yield NamedReference(path, "file", str(value))


def _without(document: PostDocument, reference: NamedReference) -> PostDocument:
    if reference.path in MEDIA_FIELDS:
        return document.with_fields({reference.path: None})
    head, *rest = reference.path.split(".")
    if head == "customFields":
        name = CUSTOM_PREFIX + rest[0]
        value = _emptied(document.fields.get(name), rest[1:], reference.name)
        return document.with_fields({name: value})
    module_id, part, *rest = rest
    module = document.module(module_id)
    if module is None:
        return document
    values = module.props if part == "props" else module.overrides
    emptied = cast("Mapping[str, Json]", _emptied(dict(values), rest, reference.name))
    module = (
        replace(module, props=emptied) if part == "props" else replace(module, overrides=emptied)
    )
    return document.with_module(module)


def _emptied(value: Json, path: Sequence[str], name: str) -> Json:
    """The value with nothing at the path: null, no text where there was a slug, no entry in a list of ids."""
    if not path:
        return None if _canonical(name) else ""
    head, *rest = path
    if isinstance(value, Mapping):
        return {**value, head: _emptied(value.get(head), rest, name)}
    if not isinstance(value, list | tuple):
        return value
    if not rest:
        # By its name: the places of later ones move when an earlier one goes.
        return [item for item in value if _canonical(str(item)) != name]
    place = int(head)
    return [
        _emptied(item, rest, name) if number == place else item for number, item in enumerate(value)
    ]
