"""The texts, links, images, headings and references of a document, each with its path. Pure: no queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote, urlsplit

from django.conf import settings

from content.document.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.document.post_fields import POST_FIELDS
from proofroom.core.json import Json
from proofroom.core.site_urls import canonical_form
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.definitions import ModuleProps, modules, post_types, props_of
from proofroom.definitions.props import Prop
from proofroom.definitions.richtext.links import is_external, safe_href
from proofroom.definitions.richtext.nodes import (
    MAX_DEPTH,
    Node,
    attributes,
    children,
    gathered,
    integer,
    kind,
    runs,
    string,
)

SharedProps = Mapping[str, Mapping[str, Json]]
"""Props of global modules by instance id. Documents do not contain them."""
NO_SHARED_PROPS: Final[SharedProps] = {}
_MAX_NESTED: Final = 8
EMBED: Final = "embed"
_TITLES: Final = ("heading", "title")
"""Props that module templates show as the heading of the module."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """A text that readers see: a field, a line of a list, or one block of rich text.

    `is_prose`: running text, not a title or a label.
    """

    path: str
    text: str
    is_prose: bool = False


@dataclass(frozen=True, slots=True)
class LinkPart:
    """A link. `href` is as stored."""

    path: str
    href: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image: the id of a media item, or the address and alternative text of an image in rich text."""

    path: str
    media_id: str = ""
    src: str = ""
    alt: str = ""


@dataclass(frozen=True, slots=True)
class HeadingPart:
    """A heading of level 1 to 6. `is_written`: it is a heading in rich text, not the title of a module."""

    path: str
    level: int
    text: str
    is_written: bool = True


@dataclass(slots=True)
class DocumentContents:
    """The contents of a document in reading order. `references`: pairs of a path and the id of a post."""

    texts: list[TextPart] = field(default_factory=list)
    links: list[LinkPart] = field(default_factory=list)
    images: list[ImagePart] = field(default_factory=list)
    headings: list[HeadingPart] = field(default_factory=list)
    references: list[tuple[str, str]] = field(default_factory=list)


def read_contents(
    document: PostDocument, shared: SharedProps = NO_SHARED_PROPS
) -> DocumentContents:
    """Return the contents of a document. Global modules without `shared` props have only their overrides."""
    found = DocumentContents()
    for name, declared in POST_FIELDS.items():
        value = document.fields.get(name)
        if declared.kind in ("text", "textarea") and not declared.format:
            if isinstance(value, str) and value.strip():
                is_prose = declared.kind == "textarea" and declared.panel == "main"
                found.texts.append(TextPart(f"post.{name}", value, is_prose=is_prose))
        elif declared.kind == "media" and isinstance(value, str):
            found.images.append(ImagePart(f"post.{name}", media_id=value))
    definition = post_types.get(document.type)
    if definition is not None:
        _read_props(found, definition.CustomFields, document.custom_fields, f"post.{CUSTOM_PREFIX}")
    for place, module in enumerate(document.modules):
        _read_module(found, module, shared, is_first=place == 0)
    return found


def hrefs_in(document: object) -> Iterator[str]:
    """Yield the addresses of the links in a rich text, without building its runs."""
    waiting = [document] if isinstance(document, Mapping) else []
    while waiting:
        node = waiting.pop()
        marks = node.get("marks")
        for mark in marks if isinstance(marks, list) else ():
            is_link = isinstance(mark, Mapping) and kind(mark) == "link"
            if is_link and (href := safe_href(attributes(mark).get("href"))):
                yield href
        waiting.extend(reversed(children(node)))


def inside_path(href: str) -> str:
    """Return the canonical path of an address of this site, without query and fragment; empty for other addresses."""
    address = href.strip()
    base: str = settings.SITE_URL
    if address.startswith(base) and address[len(base) : len(base) + 1] in ("", "/", "?", "#"):
        address = address.removeprefix(base) or "/"
        address = address if address.startswith("/") else f"/{address}"
    if not address.startswith("/") or address.startswith("//"):
        return ""
    return canonical_form(unquote(address.split("#")[0].split("?")[0]) or "/")


def outside_url(href: str) -> str:
    """Return an address of another site without its fragment; empty for other addresses."""
    address = safe_href(href)
    if address is None or not is_external(address) or inside_path(address):
        return ""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return parts._replace(fragment="").geturl() if parts.hostname else ""


def _read_module(
    found: DocumentContents, module: ModuleDocument, shared: SharedProps, *, is_first: bool
) -> None:
    definition = modules.get(module.type)
    if definition is None:
        return
    values = {**shared.get(module.instance_id, {}), **module.props, **module.overrides}
    titles = (name for name in _TITLES if string(values.get(name)).strip())
    title = next(titles, "")
    if title and not (is_first and definition.opens_page):
        path = _path_of(module, title)
        found.headings.append(HeadingPart(path, 2, string(values[title]), is_written=False))
    for prop in props_of(definition.Props).values():
        # Browsers load an embed as a part of the page; it is no link.
        if not (module.type == EMBED and prop.kind == "url"):
            _read_value(found, prop, values.get(prop.name), _path_of(module, prop.name), 0)


def _path_of(module: ModuleDocument, name: str) -> str:
    part = "overrides" if module.scope == "global" else "props"
    return f"modules.{module.id}.{part}.{name}"


def _read_props(
    found: DocumentContents, props: type[ModuleProps], values: Mapping[str, Json], prefix: str
) -> None:
    for prop in props_of(props).values():
        _read_value(found, prop, values.get(prop.name), f"{prefix}{prop.name}", 0)


def _read_value(found: DocumentContents, prop: Prop, value: object, path: str, depth: int) -> None:
    """Add the contents of a value. Parts of lists and objects have the path of the whole value."""
    if isinstance(value, list):
        for item in value:
            _read_item(found, prop, item, path, depth)
    else:
        _read_item(found, prop, value, path, depth)


def _read_item(found: DocumentContents, prop: Prop, value: object, path: str, depth: int) -> None:
    if prop.nested is not None:
        if isinstance(value, Mapping) and depth < _MAX_NESTED:
            for inner in props_of(prop.nested).values():
                _read_value(found, inner, value.get(inner.name), path, depth + 1)
    elif prop.kind == "richtext":
        if isinstance(value, Mapping):
            _read_rich_text(found, value, path)
    elif not isinstance(value, str) or not value.strip():
        return
    elif prop.kind in ("text", "textarea"):
        found.texts.append(TextPart(path, value, is_prose=prop.kind == "textarea"))
    elif prop.kind in ("link", "url"):
        found.links.append(LinkPart(path, value))
    elif prop.kind == "media":
        found.images.append(ImagePart(path, media_id=value))
    elif prop.kind == "post-reference" and parse_uuid(value) is not None:
        found.references.append((path, value.lower()))


def _read_rich_text(found: DocumentContents, document: Node, path: str) -> None:
    for node in _blocks_of(document, 0):
        inline = runs([node] if kind(node) in ("text", "image") else children(node))
        last = ""
        words: list[str] = []
        for run in inline:
            href = next((mark.href for mark in run.marks if mark.kind == "link"), "")
            # Neighbouring runs with the same link are one link.
            if href and href != last:
                found.links.append(LinkPart(path, href))
            last = href
            if run.kind == "image":
                found.images.append(ImagePart(path, src=run.src, alt=run.text))
                if run.caption.strip():
                    found.texts.append(TextPart(path, run.caption, is_prose=True))
            elif run.kind == "hardBreak":
                words.append("\n")
            else:
                words.append(" " if run.is_code else run.text)
        text = "".join(words).strip()
        if kind(node) == "heading":
            level = integer(attributes(node).get("level"), default=2, least=1, most=6)
            # An image with alternative text is a heading that people can read.
            whole = text or " ".join(run.text for run in inline if run.kind == "image").strip()
            found.headings.append(HeadingPart(path, level, whole))
        if text:
            found.texts.append(TextPart(path, text, is_prose=kind(node) != "heading"))


def _blocks_of(node: Node, depth: int) -> Iterator[Node]:
    """Yield the blocks with inline content, without blocks of code."""
    for child in children(node):
        name = kind(child)
        if name in ("paragraph", "heading", "text", "image"):
            yield child
        elif name in ("codeBlock", "horizontalRule", "hardBreak"):
            continue
        elif depth < MAX_DEPTH:
            yield from _blocks_of(child, depth + 1)
        elif text := gathered(child):
            yield {"type": "paragraph", "content": [{"type": "text", "text": text}]}
