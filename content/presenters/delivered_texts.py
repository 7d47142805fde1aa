"""Modules of the delivery API: complete props, present addresses of links, ids of headings, and the chosen format.

Works on the JSON of posts, in place. What is stored stays as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from typing import Any, Final, Literal, cast, get_args
from uuid import UUID

import orjson
from django.conf import settings

from content.store.link_targets import HeldLink, LinkTarget, find_targets
from media.queries import load_assets_by_name
from media.services.references import storage_name
from proofroom.core.caching.content_tags import depend_on, tag_of_media
from proofroom.core.json import JsonObject
from proofroom.definitions import FieldType, ModuleProps, modules, post_types
from proofroom.definitions.props import props_of
from proofroom.definitions.richtext.html import to_html, unique_heading_id
from proofroom.definitions.richtext.markdown_writer import to_markdown
from proofroom.definitions.richtext.nodes import gathered

TextFormat = Literal["json", "html", "markdown"]
TEXT_FORMATS: Final[tuple[TextFormat, ...]] = get_args(TextFormat)
_MAX_NESTED: Final = 8
_PRESENTED: Final = re.compile(r'"type"\s*:\s*"(?:link|image|heading)"')
"""In the JSON of a post: a mark or a node that is not answered as it is stored."""
_OWN_IDS: Final = "main"
"""The id that the pages of the site use themselves. Headings get the same ids here and there."""


@dataclass(frozen=True, slots=True)
class DeliveredContent:
    """The content of a post: its JSON, which may have only some of the fields.

    `source`: the text of that JSON. If it shows that no rich text has to be changed, none is walked through.
    """

    post_id: UUID
    post_type: str
    wire: JsonObject
    source: str = ""


@dataclass(frozen=True, slots=True)
class StoredContent:
    """The content of a post as the JSON text that the database wrote, and `wire`, the same parsed, where it is."""

    post_id: UUID
    post_type: str
    text: str
    wire: JsonObject | None = None

    def find(self, text_format: TextFormat) -> _Found:
        wire = orjson.loads(self.text) if self.wire is None else self.wire
        content = wire if isinstance(wire, dict) else {"modules": wire}
        source = self.text if text_format == "json" else ""
        return _find_in(DeliveredContent(self.post_id, self.post_type, content, source))


_PlainLinks = dict[tuple[UUID, bytes], frozenset[HeldLink]]
_plain_links: Final[_PlainLinks] = {}
"""The links of contents that are answered as they are stored unless a link leads to a post."""
_MOST_PLAIN: Final = 5_000


def present_stored(
    posts: Sequence[StoredContent], text_format: TextFormat = "json"
) -> list[JsonObject | None]:
    """Return the contents of posts in the form of the delivery API; None for each that is answered as it is stored.

    Without `wire`, most such contents are not even parsed. Otherwise like `present_texts`.
    """
    keys = [(one.post_id, blake2b(one.text.encode(), digest_size=16).digest()) for one in posts]
    found: list[_Found | None] = []
    links: list[frozenset[HeldLink]] = []
    for one, key in zip(posts, keys, strict=True):
        known = _plain_links.get(key) if text_format == "json" else None
        content = one.find(text_format) if known is None else None
        if content is not None and content.is_plain and text_format == "json":
            if len(_plain_links) >= _MOST_PLAIN:
                _plain_links.clear()
            _plain_links[key] = content.links
        found.append(content)
        links.append(known if content is None else content.links)  # type: ignore[arg-type]  # one of them
    targets = find_targets(frozenset().union(*links))
    for place, one in enumerate(posts):
        content = found[place]
        is_plain = content is None or (content.is_plain and text_format == "json")
        if is_plain and targets.keys().isdisjoint(links[place]):
            found[place] = None
        elif content is None:
            found[place] = one.find(text_format)
    _write([one for one in found if one is not None], targets, text_format)
    return [one.post.wire if one is not None else None for one in found]


def present_texts(posts: Sequence[DeliveredContent], text_format: TextFormat = "json") -> None:
    """Change the modules and custom fields of posts to the form of the delivery API.

    At most three queries for all posts, none for posts without links of the site and images in texts. The answer
    that is being built depends on what is linked.
    """
    found = [
        _find_in(post if text_format == "json" else replace(post, source="")) for post in posts
    ]
    _write(found, find_targets(frozenset().union(*(one.links for one in found))), text_format)


def _write(
    found: Sequence[_Found], targets: Mapping[HeldLink, LinkTarget], text_format: TextFormat
) -> None:
    texts = [text for one in found for text in one.texts]
    media = _media_ids(texts)
    for text in texts:
        text.write(targets, media, text_format)
    for one in found:
        for link_field in one.fields:
            link_field.write(targets)
        for part in one.parts:
            if part.module is not None and part.links:
                part.module["links"] = part.links


def present_global(
    module_id: UUID, type_name: str, wire: JsonObject, text_format: TextFormat = "json"
) -> None:
    """Change the `props` of a global module that is answered alone, as `present_texts` does."""
    module: JsonObject = {
        "type": type_name,
        "scope": "global",
        "moduleInstanceId": str(module_id),
        "props": wire["props"],
        "overrides": None,
    }
    present_texts([DeliveredContent(module_id, "", {"modules": [module]})], text_format)
    wire["props"] = module["props"]
    if "links" in module:
        wire["links"] = module["links"]


@dataclass(slots=True)
class _Found:
    """The values of a content that may be answered otherwise than they are stored."""

    post: DeliveredContent
    texts: list[_Text] = field(default_factory=list)
    fields: list[_LinkField] = field(default_factory=list)
    parts: list[_Part] = field(default_factory=list)
    is_completed: bool = False
    """True if modules got fields that their definition has now."""

    @property
    def links(self) -> frozenset[HeldLink]:
        in_texts = {link for text in self.texts for link in text.links()}
        return frozenset(in_texts | {(one.holder, one.href) for one in self.fields})

    @property
    def is_plain(self) -> bool:
        """Return whether it is answered as it is stored in the format `json`, unless a link leads to a post."""
        return not self.is_completed and not any(
            text.images or text.headings for text in self.texts
        )


def _find_in(post: DeliveredContent) -> _Found:
    found = _Found(post)
    page = _PageIds()
    is_stored = bool(post.source) and _PRESENTED.search(post.source) is None
    for part in _parts_of(found):
        found.parts.append(part)
        texts, fields = _find(part, page)
        found.fields += fields
        if not is_stored:
            found.texts += texts
    for text in found.texts:
        text.find_nodes()
    return found


@dataclass(slots=True)
class _PageIds:
    """The ids of headings on a page, in the order of its modules."""

    used: set[str] = field(default_factory=lambda: {_OWN_IDS})


@dataclass(frozen=True, slots=True)
class _Part:
    """Values of a module or of custom fields. `holder` is the post or global module that stores them.

    `hidden`: names of values that overrides replace. `links` receives the references of link fields; both parts of
    a `module` share it.
    """

    holder: UUID
    props: type[ModuleProps]
    values: JsonObject
    path: str
    links: JsonObject
    module: JsonObject | None = None
    hidden: frozenset[str] = frozenset()


def _parts_of(found: _Found) -> Iterator[_Part]:
    post = found.post
    custom, post_type = post.wire.get("customFields"), post_types.get(post.post_type)
    if isinstance(custom, dict) and post_type is not None:
        yield _Part(post.post_id, post_type.CustomFields, custom, "customFields", {})
    placed = post.wire.get("modules")
    for wire in cast("list[dict[str, Any]]", placed or ()):
        definition = modules.get(wire["type"])
        if definition is None:
            continue
        if not wire["props"].keys() >= props_of(definition.Props).keys():
            # Stored before the definition got these fields.
            found.is_completed = True
            wire["props"] = {**definition.default_props(), **wire["props"]}
        links: JsonObject = {}
        overrides = wire["overrides"] or {}
        is_global = wire["scope"] == "global"
        holder = UUID(wire["moduleInstanceId"]) if is_global else post.post_id
        hidden = frozenset(overrides)
        yield _Part(holder, definition.Props, wire["props"], "props", links, wire, hidden)
        yield _Part(post.post_id, definition.Props, overrides, "overrides", links, wire)


@dataclass(frozen=True, slots=True)
class _LinkField:
    """The value of a link field, at `container[key]`."""

    holder: UUID
    container: JsonObject
    key: str
    path: str
    links: JsonObject

    @property
    def href(self) -> str:
        return str(self.container[self.key])

    def write(self, targets: Mapping[HeldLink, LinkTarget]) -> None:
        target = targets.get((self.holder, self.href))
        if target is not None and target.is_published:
            self.container[self.key] = target.path + _suffix(self.href)
            self.links[self.path] = {"post": _reference(target)}


@dataclass(slots=True)
class _Text:
    """A document at `container[key]`, with the nodes that are not answered as they are stored."""

    holder: UUID
    container: JsonObject
    key: str
    page: _PageIds
    is_hidden: bool
    linked: list[tuple[dict[str, Any], list[dict[str, Any]]]] = field(default_factory=list)
    """Nodes with their marks of links."""
    images: list[dict[str, Any]] = field(default_factory=list)
    """Attributes of images."""
    headings: list[dict[str, Any]] = field(default_factory=list)

    @property
    def document(self) -> dict[str, Any]:
        return cast("dict[str, Any]", self.container[self.key])

    def find_nodes(self) -> None:
        """Find the nodes in the order of reading. Stored documents can have any shape."""
        waiting: list[Any] = [self.document]
        while waiting:
            node = waiting.pop()
            if not isinstance(node, dict):
                continue
            kind = node.get("type")
            if kind == "heading":
                self.headings.append(node)
            elif kind == "image":
                attrs = node.get("attrs")
                if isinstance(attrs, dict) and isinstance(attrs.get("src"), str):
                    self.images.append(attrs)
            if "marks" in node and (marks := _link_marks(node)):
                self.linked.append((node, marks))
            content = node.get("content")
            if isinstance(content, list):
                waiting.extend(reversed(content))

    def links(self) -> Iterator[HeldLink]:
        for _node, marks in self.linked:
            for mark in marks:
                yield self.holder, mark["attrs"]["href"]

    def write(
        self,
        targets: Mapping[HeldLink, LinkTarget],
        media: Mapping[str, str],
        text_format: TextFormat,
    ) -> None:
        # Overridden texts are not shown, so they must not take ids from texts that are.
        used = set(self.page.used) if self.is_hidden else self.page.used
        for attrs in self.images:
            name = storage_name(attrs["src"])
            attrs["mediaId"] = media.get(name) if name is not None else None
            if attrs["src"].startswith("/"):
                attrs["src"] = settings.SITE_URL + attrs["src"]
        for node, marks in self.linked:
            for mark in marks:
                href = mark["attrs"]["href"]
                target = targets.get((self.holder, href))
                if target is None:
                    continue
                if target.is_published:
                    mark["attrs"]["href"] = target.path + _suffix(href)
                    mark["attrs"]["post"] = _reference(target)
                elif len(node["marks"]) > 1:
                    node["marks"].remove(mark)
                else:
                    del node["marks"]
        if text_format == "json":
            for node in self.headings:
                present = node.get("attrs")
                id_ = unique_heading_id(gathered(node), used)
                node["attrs"] = {**(present if isinstance(present, dict) else {}), "id": id_}
        elif text_format == "html":
            self.container[self.key] = to_html(self.document, heading_ids=used)
        else:
            self.container[self.key] = to_markdown(self.document)


def _find(part: _Part, page: _PageIds) -> tuple[list[_Text], list[_LinkField]]:
    texts: list[_Text] = []
    fields: list[_LinkField] = []

    def walk(
        props: type[ModuleProps], values: object, path: str, is_hidden: bool, depth: int
    ) -> None:
        if not isinstance(values, dict) or depth > _MAX_NESTED:
            return
        for name, kind, nested in _texts_and_links(props):
            value = values.get(name)
            if not value:
                continue
            here = f"{path}.{name}"
            hides = is_hidden or (depth == 0 and name in part.hidden)
            if kind == "richtext":
                if isinstance(value, dict):
                    texts.append(_Text(part.holder, values, name, page, hides))
            elif kind == "link":
                if isinstance(value, str):
                    fields.append(_LinkField(part.holder, values, name, here, part.links))
            elif nested is not None and isinstance(value, list):
                for number, item in enumerate(value):
                    walk(nested, item, f"{here}.{number}", hides, depth + 1)
            elif nested is not None:
                walk(nested, value, here, hides, depth + 1)

    walk(part.props, part.values, part.path, False, 0)
    return texts, fields


_Field = tuple[str, FieldType, type[ModuleProps] | None]


@cache
def _texts_and_links(props: type[ModuleProps]) -> Sequence[_Field]:
    """Return the fields with rich text or links, and the fields with other fields in them."""
    return [
        (prop.name, prop.kind, prop.nested)
        for prop in props_of(props).values()
        if prop.kind in ("richtext", "link") or prop.nested is not None
    ]


def _link_marks(node: Mapping[str, Any]) -> list[dict[str, Any]]:
    marks = node.get("marks")
    return [
        mark
        for mark in (marks if isinstance(marks, list) else ())
        if isinstance(mark, dict)
        and mark.get("type") == "link"
        and isinstance(mark.get("attrs"), dict)
        and isinstance(mark["attrs"].get("href"), str)
    ]


def _media_ids(texts: Iterable[_Text]) -> Mapping[str, str]:
    """Return the ids of the files that texts show, by the name of the file. One query, none without images."""
    names = {
        name for text in texts for attrs in text.images if (name := storage_name(attrs["src"]))
    }
    found = load_assets_by_name((), names).by_name
    depend_on(*(tag_of_media(asset.pk) for asset in found.values()))
    return {name: str(asset.pk) for name, asset in found.items()}


def _reference(target: LinkTarget) -> JsonObject:
    return {"id": str(target.id), "url": target.path}


def _suffix(href: str) -> str:
    """Return the query and fragment of an address."""
    at = min((place for sign in "?#" if (place := href.find(sign)) >= 0), default=len(href))
    return href[at:]
