"""A module's props as Markdown: its texts with headings, links and images.

The props become rich-text nodes first. `proofroom.definitions.richtext.markdown_writer` writes them and escapes all
text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from proofroom.core.json import Json, JsonObject
from proofroom.definitions.fields import ModuleProps
from proofroom.definitions.props import Prop, props_of
from proofroom.definitions.richtext.links import safe_href, safe_src
from proofroom.definitions.richtext.markdown_writer import to_markdown
from proofroom.definitions.richtext.nodes import Node, attributes, children, integer, kind, one_line

Media = Mapping[str, Mapping[str, object]]
"""The `media` of templates: by id, with `url` and `alt`."""

# The first of these props with a text becomes the heading.
_TITLES = ("heading", "title", "question", "name", "label")
_MIN_LEVEL, _MAX_LEVEL = 1, 6


def markdown_of_props(
    props: type[ModuleProps], values: Mapping[str, Json], media: Media, level: int
) -> str:
    """Return the text of the props as Markdown. Their heading has this level, headings of items one more."""
    return written(list(nodes_of(props, values, media, level)))


def written(nodes: Sequence[Node]) -> str:
    """Return rich-text nodes as Markdown."""
    return to_markdown({"type": "doc", "content": list(nodes)})


def nodes_of(
    props: type[ModuleProps], values: Mapping[str, Json], media: Media, level: int
) -> Iterator[Node]:
    """Yield the props as rich-text nodes, in the order of the class."""
    known = props_of(props)
    title = _title(known, values)
    used_names = {
        title,
        *(_label_name(prop.name, known) for prop in known.values() if _is_link(prop)),
    }
    if title:
        yield heading(str(values[title]), level)
    for prop in known.values():
        if prop.name in used_names:
            continue
        value = values.get(prop.name)
        if prop.nested is not None:
            # Without a heading of the module, its items keep its level.
            below = level + 1 if title else level
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, Mapping):
                    yield from nodes_of(prop.nested, item, media, below)
        elif _is_link(prop):
            # A button without a label shows nothing. A link without a label prop uses its item's title.
            label = _label_name(prop.name, known)
            text = values.get(label) if label else values.get(title) or values.get(prop.name)
            yield from link(text, value)
        else:
            if prop.kind == "richtext":
                yield from rich_text(value)
            elif prop.kind in {"text", "textarea"}:
                yield from paragraphs(value)
            elif prop.kind == "media":
                yield from image(media, value)


def heading(text: str, level: int) -> JsonObject:
    level = max(_MIN_LEVEL, min(level, _MAX_LEVEL))
    return {"type": "heading", "attrs": {"level": level}, "content": _texts(one_line(text))}


def paragraphs(value: object) -> Iterator[JsonObject]:
    """Yield one paragraph per part between blank lines; nothing for a value without text."""
    # Browsers send line breaks of text areas as CRLF.
    for part in str(value).replace("\r", "").split("\n\n") if isinstance(value, str) else ():
        content: list[Json] = []
        for line in filter(None, (line.strip() for line in part.split("\n"))):
            content += [*([{"type": "hardBreak"}] if content else []), *_texts(line)]
        if content:
            yield {"type": "paragraph", "content": content}


def link(text: object, address: object) -> Iterator[JsonObject]:
    """Yield a paragraph with the link; nothing without text or with an unsafe URL."""
    href = safe_href(address)
    if href and isinstance(text, str) and text.strip():
        mark: JsonObject = {"type": "link", "attrs": {"href": href}}
        run: JsonObject = {"type": "text", "text": one_line(text), "marks": [mark]}
        yield {"type": "paragraph", "content": [run]}


def image(media: Media, id_: object) -> Iterator[JsonObject]:
    """Yield a paragraph with the image; nothing if it was deleted."""
    found = media.get(id_) if isinstance(id_, str) else None
    src = safe_src(found.get("url")) if found else None
    if found and src:
        attrs: JsonObject = {"src": src, "alt": one_line(str(found.get("alt") or ""))}
        yield {"type": "paragraph", "content": [{"type": "image", "attrs": attrs}]}


def rich_text(document: object) -> Iterator[Node]:
    """Yield the blocks of a document. Headings have level 2 or more, as on the page."""
    for node in children(document) if isinstance(document, dict) else ():
        if kind(node) == "heading":
            level = integer(attributes(node).get("level"), default=2, least=2, most=6)
            yield {**node, "attrs": {"level": level}}
        else:
            yield node


def _texts(text: str) -> list[Json]:
    return [{"type": "text", "text": text}] if text else []


def _title(known: Mapping[str, Prop], values: Mapping[str, Json]) -> str:
    """Return the name of the prop that is the heading; "" if there is none."""
    for name in _TITLES:
        value = values.get(name)
        if (
            name in known
            and known[name].kind == "text"
            and isinstance(value, str)
            and value.strip()
        ):
            return name
    return ""


def _is_link(prop: Prop) -> bool:
    return prop.kind in {"link", "url"}


def _label_name(name: str, known: Mapping[str, Prop]) -> str:
    """Return the name of the prop with a link's text, such as `ctaLabel` for `ctaUrl`; "" if there is none."""
    for label in (f"{name.removesuffix('Url')}Label", f"{name}Label"):
        if label in known:
            return label
    return ""
