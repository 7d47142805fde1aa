"""A module's props as Markdown: the texts that `words_of` finds, with headings, links and pictures.

Built as rich-text nodes, which `proofroom.definitions.richtext.markdown_writer` writes: no text becomes syntax.
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
"""What templates get as `media`: by id, with `url` and `alt`."""

_TITLES = ("heading", "title", "question", "name", "label")
_LEAST_LEVEL, _MOST_LEVEL = 1, 6


def markdown_of_props(
    props: type[ModuleProps], values: Mapping[str, Json], media: Media, level: int
) -> str:
    """The text a reader of the props sees; their heading at `level`, those of their items below."""
    return written(list(nodes_of(props, values, media, level)))


def written(nodes: Sequence[Node]) -> str:
    """Rich-text nodes as Markdown."""
    return to_markdown({"type": "doc", "content": list(nodes)})


def nodes_of(
    props: type[ModuleProps], values: Mapping[str, Json], media: Media, level: int
) -> Iterator[Node]:
    """The props as rich-text nodes, in the order of their class."""
    known = props_of(props)
    title = _title(known, values)
    said = {title, *(_label_of(prop.name, known) for prop in known.values() if _leads(prop))}
    if title:
        yield heading(str(values[title]), level)
    for prop in known.values():
        if prop.name in said:
            continue
        value = values.get(prop.name)
        if prop.nested is not None:
            # Without a heading of the module, its items are not below one.
            below = level + 1 if title else level
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, Mapping):
                    yield from nodes_of(prop.nested, item, media, below)
        elif _leads(prop):
            # A button without its label shows nothing; a link that has none of its own is called by its item.
            label = _label_of(prop.name, known)
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
    level = max(_LEAST_LEVEL, min(level, _MOST_LEVEL))
    return {"type": "heading", "attrs": {"level": level}, "content": _texts(one_line(text))}


def paragraphs(value: object) -> Iterator[JsonObject]:
    """Plain text, a paragraph for every part between blank lines; nothing for what holds no text."""
    for part in str(value).replace("\r", "").split("\n\n") if isinstance(value, str) else ():
        content: list[Json] = []
        for line in filter(None, (line.strip() for line in part.split("\n"))):
            content += [*([{"type": "hardBreak"}] if content else []), *_texts(line)]
        if content:
            yield {"type": "paragraph", "content": content}


def link(text: object, address: object) -> Iterator[JsonObject]:
    """A paragraph with the link; nothing without text or for an address that no page may carry."""
    href = safe_href(address)
    if href and isinstance(text, str) and text.strip():
        mark: JsonObject = {"type": "link", "attrs": {"href": href}}
        run: JsonObject = {"type": "text", "text": one_line(text), "marks": [mark]}
        yield {"type": "paragraph", "content": [run]}


def image(media: Media, id_: object) -> Iterator[JsonObject]:
    """A paragraph with the picture; nothing for one that is gone."""
    found = media.get(id_) if isinstance(id_, str) else None
    src = safe_src(found.get("url")) if found else None
    if found and src:
        attrs: JsonObject = {"src": src, "alt": one_line(str(found.get("alt") or ""))}
        yield {"type": "paragraph", "content": [{"type": "image", "attrs": attrs}]}


def rich_text(document: object) -> Iterator[Node]:
    """The blocks of a document. As on the page, its headings begin at level 2."""
    for node in children(document) if isinstance(document, dict) else ():
        if kind(node) == "heading":
            level = integer(attributes(node).get("level"), default=2, least=2, most=6)
            yield {**node, "attrs": {"level": level}}
        else:
            yield node


def _texts(text: str) -> list[Json]:
    return [{"type": "text", "text": text}] if text else []


def _title(known: Mapping[str, Prop], values: Mapping[str, Json]) -> str:
    """The name of the text that stands above the others; "" for none."""
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


def _leads(prop: Prop) -> bool:
    return prop.kind in {"link", "url"}


def _label_of(name: str, known: Mapping[str, Prop]) -> str:
    """The prop that holds a link's text: `ctaLabel` of `ctaUrl`, `linkLabel` of `link`; "" for none."""
    for label in (f"{name.removesuffix('Url')}Label", f"{name}Label"):
        if label in known:
            return label
    return ""
