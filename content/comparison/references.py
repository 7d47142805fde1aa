"""Titles and thumbnails of referenced objects: ids are collected first, then loaded together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, get_args

from django.utils.translation import gettext as _

from content.comparison.change_comparison import kind_at, shared_props
from content.document.changes import ABSENT, Change
from content.document.differences import Difference, ReferenceKind, ShownReference
from content.document.document import ModuleDocument, PostDocument
from content.document.labels import type_label
from content.models import Post
from content.store.scopes import hidden_post_ids, hidden_title
from media.models import Asset
from media.queries import load_assets
from proofroom.accounts.models import User
from proofroom.core.content_scope import Scoped
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.json import Json
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.definitions import ModuleProps, modules
from proofroom.definitions.props import values_in
from proofroom.taxonomies.models import Term

TitleLookup = Callable[[Collection[str] | None], Mapping[str, str]]
"""A function that returns titles by reference: of the given references, or of all for None. One query."""

title_lookups: ExtensionPoint[TitleLookup] = ExtensionPoint()
"""Title lookups by kind of reference, registered by apps above content."""

_KINDS: Final[tuple[ReferenceKind, ...]] = get_args(ReferenceKind)


@dataclass(frozen=True, slots=True)
class MediaView:
    """The thumbnail of an asset. `url` is empty if the asset is not an image."""

    name: str
    url: str
    alt: str
    width: int | None = None
    height: int | None = None

    @property
    def described(self) -> str:
        """The name and the alternative text."""
        alt = f"“{self.alt}”" if self.alt else _("no alt text")
        return f"{self.name} · {alt}"

    @property
    def size(self) -> str:
        return f"{self.width} × {self.height}" if self.width and self.height else ""


@dataclass(frozen=True, slots=True)
class References:
    """The titles found, by id, with details that distinguish objects of the same title."""

    media: Mapping[str, MediaView] = field(default_factory=dict)
    posts: Mapping[str, str] = field(default_factory=dict)
    terms: Mapping[str, str] = field(default_factory=dict)
    forms: Mapping[str, str] = field(default_factory=dict)
    people: Mapping[str, str] = field(default_factory=dict)
    shared: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """Props of global modules by instance id."""

    def title(self, reference: ShownReference) -> str:
        """Return the title of a reference with distinguishing details and the start of its id."""
        if reference.kind == "people":
            name = self.people.get(reference.id)
            return name if name else _("(missing) %(id)s") % {"id": reference.id}
        if reference.kind == "media":
            found = self.media.get(reference.id)
            title = found.described if found else None
        else:
            known = {"post-reference": self.posts, "taxonomy-reference": self.terms}
            title = known.get(reference.kind, self.forms).get(reference.id)
        if reference.kind == "form-reference":
            # Forms are distinguished by slug.
            return f"{title} · {reference.id}" if title else reference.id
        if title is None:
            return _("(missing) %(id)s") % {"id": reference.id}
        return f"{title} · {reference.id[:13]}"


@dataclass(slots=True)
class ReferenceIds:
    """Ids to look up, by kind of field."""

    ids: dict[str, set[str]] = field(default_factory=lambda: {str(kind): set() for kind in _KINDS})

    def add(self, kind: str, value: object) -> None:
        for item in value if isinstance(value, list | tuple) else [value]:
            if kind == "people":
                if str(item).isdecimal():
                    self.ids[kind].add(str(item))
                continue
            if not isinstance(item, str) or not item:
                continue
            if kind != "form-reference" and parse_uuid(item) is None:
                continue
            self.ids[kind].add(item)

    def add_props(self, type_name: str, props: Mapping[str, Json]) -> None:
        """Add the references in the props of a module."""
        definition = modules.get(type_name)
        if definition is not None:
            self.add_nested(definition.Props, props)

    def add_nested(self, props: type[ModuleProps], values: object) -> None:
        for _name, kind, value in values_in(props, values):
            if kind in self.ids:
                self.add(kind, value)

    def add_differences(self, differences: Iterable[Difference]) -> None:
        for difference in differences:
            for side in (difference.before, difference.after):
                if isinstance(side, ShownReference):
                    self.add(side.kind, side.id)


def collect_references(changes: Iterable[Change], document: PostDocument) -> ReferenceIds:
    """Return every id in the changed values, before and after."""
    wanted = ReferenceIds()
    for change in changes:
        for value in (change.before, change.after):
            if isinstance(value, ModuleDocument):
                wanted.add_props(value.type, {**value.props, **value.overrides})
            elif value is not ABSENT:
                kind, nested = kind_at(change.path, document)
                if kind in wanted.ids:
                    wanted.add(kind, value)
                elif nested is not None:
                    for item in value if isinstance(value, list) else [value]:
                        wanted.add_nested(nested, item)
    return wanted


def references_of(changes: Iterable[Change], *documents: PostDocument, who: Scoped) -> References:
    """Load the titles for the references in these changes. At most six queries."""
    wanted = ReferenceIds()
    listed = list(changes)
    shared = shared_props(listed, *documents)
    for instance_id, props in shared.items():
        for document in documents:
            types = {module.instance_id: module.type for module in document.modules}
            if instance_id in types:
                wanted.add_props(types[instance_id], props)
    for document in documents:
        for kind, ids in collect_references(listed, document).ids.items():
            wanted.ids[kind] |= ids
    return replace(load_titles(wanted, who), shared=shared)


def load_titles(wanted: ReferenceIds, who: Scoped) -> References:
    """Load the titles of objects. For a post the user may not view, only its existence is shown."""
    posts, terms = wanted.ids["post-reference"], wanted.ids["taxonomy-reference"]
    forms, titles_of_forms = wanted.ids["form-reference"], title_lookups.get("form-reference")
    found = Post.objects.filter(pk__in=posts).only("title", "type", "path", "locale")
    hidden = hidden_post_ids(posts, who)
    people = User.objects.filter(pk__in=wanted.ids["people"]).values_list("pk", "username")
    named = Term.objects.filter(pk__in=terms).values_list("pk", "name", "taxonomy")
    # Querysets are lazy: without ids there is no query.
    return References(
        media={id_: media_view(asset) for id_, asset in load_assets(wanted.ids["media"]).items()},
        posts={
            str(post.pk): hidden_title()
            if post.pk in hidden
            else f"{post.title} · {type_label(post.type)} · {post.path or post.locale}"
            for post in (found if posts else ())
        },
        terms={str(pk): f"{name} · {taxonomy}" for pk, name, taxonomy in (named if terms else ())},
        people={str(pk): name for pk, name in (people if wanted.ids["people"] else ())},
        forms=titles_of_forms(forms) if titles_of_forms is not None and forms else {},
    )


def media_view(asset: Asset) -> MediaView:
    """Return the thumbnail of an asset."""
    small = asset.variants.get("small") if isinstance(asset.variants, dict) else None
    url = ""
    if asset.mime.startswith("image/") and asset.file:
        name = small.get("file") if isinstance(small, dict) else small
        url = asset.file.storage.url(str(name)) if name else asset.file.url
    return MediaView(asset.filename, url, asset.alt_text, asset.width, asset.height)
