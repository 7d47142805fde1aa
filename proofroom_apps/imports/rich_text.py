"""Converts rich text in JSON to HTML: Slate, ProseMirror, Lexical, Portable Text, EditorJS."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape
from typing import Final

_MARKS: Final[Mapping[str, str]] = {
    "bold": "strong", "strong": "strong", "italic": "em", "em": "em", "strikethrough": "s",
    "strike": "s", "strike-through": "s", "code": "code", "superscript": "sup", "sup": "sup",
    "subscript": "sub", "sub": "sub",
}  # fmt: skip
_FORMAT_BITS: Final = {1: "strong", 2: "em", 4: "s", 16: "code", 32: "sub", 64: "sup"}
"""Format bits of Lexical text."""
_TAGS: Final[Mapping[str, str]] = {
    "paragraph": "p", "p": "p", "block": "p", "quote": "blockquote", "blockquote": "blockquote",
    "list-item": "li", "listitem": "li", "li": "li", "list-item-child": "p", "lic": "p",
    "bulletlist": "ul", "bulleted-list": "ul", "unordered-list": "ul", "ul": "ul",
    "orderedlist": "ol", "numbered-list": "ol", "ordered-list": "ol", "ol": "ol",
    "table": "table", "tablerow": "tr", "table-row": "tr", "tr": "tr", "tablecell": "td",
    "table-cell": "td", "td": "td", "tableheader": "th", "table-header-cell": "th", "th": "th",
}  # fmt: skip
_PLAIN: Final = frozenset({"doc", "root", "document", "layout", "fragment", "none"})
_HEADINGS: Final = ("one", "two", "three", "four", "five", "six")
_DEEPEST: Final = 60


def html_of(value: object, unknown: Counter[str]) -> str:
    """Return the HTML of a document or list of nodes. `unknown` counts nodes reduced to their text."""
    if isinstance(value, Mapping) and isinstance(value.get("blocks"), list):
        made = "".join(_editor_block(block, unknown) for block in value["blocks"])
    elif isinstance(value, Mapping) and isinstance(value.get("root"), Mapping):
        made = _node(value["root"], unknown, 0)
    elif isinstance(value, list):
        made = "".join(_node(node, unknown, 0) for node in value)
    else:
        made = _node(value, unknown, 0)
    # Portable Text writes list items as consecutive blocks.
    return re.sub(r"</(ul|ol)><\1>", "", made)


def _node(node: object, unknown: Counter[str], depth: int) -> str:
    if isinstance(node, str):
        return escape(node)
    if not isinstance(node, Mapping):
        return ""
    if depth > _DEEPEST:
        raise RecursionError
    if isinstance(text := node.get("text"), str):
        return _marked(escape(text).replace("\n", "<br>"), node, {})
    children = node.get("children", node.get("content"))
    # Portable Text defines links in the block, and the marks of its texts name them by key.
    links = {
        str(one.get("_key")): str(one.get("href") or "")
        for one in node.get("markDefs") or ()
        if isinstance(one, Mapping)
    }
    inside = "".join(
        _marked(escape(str(child.get("text"))), child, links)
        if links and isinstance(child, Mapping) and "text" in child
        else _node(child, unknown, depth + 1)
        for child in (children if isinstance(children, list) else ())
    )
    name = str(node.get("type") or node.get("_type"))
    kind = name.lower().replace("_", "-")
    attrs = node.get("attrs") or node.get("fields")
    attrs = attrs if isinstance(attrs, Mapping) else {}
    level = _level(kind, node, attrs)
    if level:
        return f"<h{level}>{inside}</h{level}>"
    if kind == "block" and node.get("listItem"):
        tag = "ol" if node["listItem"] == "number" else "ul"
        return f"<{tag}><li>{inside}</li></{tag}>"
    if kind == "block" and node.get("style") == "blockquote":
        return f"<blockquote><p>{inside}</p></blockquote>"
    if kind == "list":
        is_ordered = node.get("format") == "ordered" or node.get("listType") == "number"
        return f"<ol>{inside}</ol>" if is_ordered else f"<ul>{inside}</ul>"
    if kind in ("quote", "blockquote") and "<p>" not in inside:
        inside = f"<p>{inside}</p>"
    if kind in _TAGS:
        return f"<{_TAGS[kind]}>{inside}</{_TAGS[kind]}>"
    if kind in ("link", "a", "autolink"):
        address = node.get("url") or node.get("href") or attrs.get("url") or attrs.get("href")
        return f'<a href="{escape(str(address or ""))}">{inside}</a>'
    if kind in ("code", "codeblock", "code-block"):
        text = inside or escape(str(node.get("code") or ""))
        return f"<pre><code>{text}</code></pre>"
    if kind in ("hr", "horizontalrule", "horizontal-rule", "thematic-break"):
        return "<hr>"
    if kind in ("hardbreak", "hard-break", "linebreak", "br"):
        return "<br>"
    picture = _picture(node, attrs)
    if kind in ("image", "img", "upload", "media") and picture:
        described = (node, attrs, node.get("image"), node.get("value"), node.get("file"))
        captions = (one.get("caption") for one in described if isinstance(one, Mapping))
        caption = next((one for one in captions if isinstance(one, str) and one.strip()), "")
        return _figure(picture, escape(caption))
    if kind not in _PLAIN:
        unknown[f"node {name}"] += 1
    if inside:
        return inside
    return "".join(f"<p>{escape(word)}</p>" for word in _words(node))


def _level(kind: str, node: Mapping[str, object], attrs: Mapping[str, object]) -> int:
    """Return the level of a heading; 0 for other nodes."""
    named = re.fullmatch(
        r"h([1-6])", str(node.get("style") if kind == "block" else node.get("tag") or kind)
    )
    if named:
        return int(named[1])
    if not kind.startswith("heading"):
        return 0
    word = kind.removeprefix("heading").strip("-")
    if word in _HEADINGS:
        return _HEADINGS.index(word) + 1
    level = node.get("level") or attrs.get("level") or node.get("depth") or word
    found = re.fullmatch("[1-6]", str(level))
    return int(found[0]) if found else 2


def _marked(html: str, node: Mapping[str, object], links: Mapping[str, str]) -> str:
    bits = node.get("format")
    tags = [tag for bit, tag in _FORMAT_BITS.items() if isinstance(bits, int) and bits & bit]
    tags += [tag for name, tag in _MARKS.items() if node.get(name) is True]
    marks = node.get("marks")
    for mark in marks if isinstance(marks, list) else ():
        name = str(mark.get("type") if isinstance(mark, Mapping) else mark)
        attrs = mark.get("attrs") if isinstance(mark, Mapping) else None
        address = attrs.get("href") if isinstance(attrs, Mapping) else links.get(name)
        if name in _MARKS:
            tags.append(_MARKS[name])
        elif address:
            html = f'<a href="{escape(str(address))}">{html}</a>'
    for tag in dict.fromkeys(tags):
        html = f"<{tag}>{html}</{tag}>"
    return html


def _figure(picture: str, caption: str) -> str:
    return f"<figure>{picture}<figcaption>{caption}</figcaption></figure>" if caption else picture


def _picture(node: Mapping[str, object], attrs: Mapping[str, object]) -> str:
    for one in (
        node.get("image"),
        node.get("value"),
        node.get("asset"),
        node.get("file"),
        attrs,
        node,
    ):
        if not isinstance(one, Mapping):
            continue
        source = one.get("url") or one.get("src")
        if isinstance(source, str) and source:
            alt = str(one.get("alternativeText") or one.get("alt") or node.get("alt") or "")
            return f'<p><img src="{escape(source)}" alt="{escape(alt)}"></p>'
    return ""


def _editor_block(block: object, unknown: Counter[str]) -> str:
    """Return the HTML of an EditorJS block; its texts are HTML."""
    if not isinstance(block, Mapping):
        return ""
    kind = str(block.get("type"))
    data = block.get("data")
    if not isinstance(data, Mapping):
        return ""
    text, caption = str(data.get("text") or ""), str(data.get("caption") or "")
    after = f"<p><em>{caption}</em></p>" if caption else ""
    if kind == "paragraph":
        return f"<p>{text}</p>"
    if kind == "header":
        level = data.get("level")
        number = level if isinstance(level, int) and 1 <= level <= 6 else 2
        return f"<h{number}>{text}</h{number}>"
    if kind in ("list", "nestedList", "checklist"):
        return _editor_list(data.get("items"), "ol" if data.get("style") == "ordered" else "ul", 0)
    if kind == "quote":
        return f"<blockquote><p>{text}</p>{after}</blockquote>"
    if kind == "code":
        return f"<pre><code>{escape(str(data.get('code') or ''))}</code></pre>"
    if kind == "delimiter":
        return "<hr>"
    if kind == "raw":
        return str(data.get("html") or "")
    if kind == "embed" and data.get("source"):
        return f'<iframe src="{escape(str(data["source"]))}"></iframe>{after}'
    if kind in ("image", "simpleImage") and (picture := _picture(data, {})):
        return _figure(picture, caption)
    if kind == "table" and isinstance(rows := data.get("content"), list):
        tag = "th" if data.get("withHeadings") else "td"
        made = ""
        for number, row in enumerate(rows):
            cell = tag if number == 0 else "td"
            cells = row if isinstance(row, list) else ()
            made += "<tr>" + "".join(f"<{cell}>{one}</{cell}>" for one in cells) + "</tr>"
        return f"<table>{made}</table>"
    unknown[f"block {kind}"] += 1
    return "".join(f"<p>{word}</p>" for word in _words(data))


def _editor_list(items: object, tag: str, depth: int) -> str:
    if depth > _DEEPEST:
        raise RecursionError
    made = ""
    for item in items if isinstance(items, list) else ():
        if isinstance(item, Mapping):
            below = _editor_list(item.get("items"), tag, depth + 1) if item.get("items") else ""
            made += f"<li>{item.get('content') or item.get('text') or ''}{below}</li>"
        else:
            made += f"<li>{item}</li>"
    return f"<{tag}>{made}</{tag}>"


def _words(value: object, depth: int = 0) -> Iterator[str]:
    """Yield the texts in a value in order, without type names and keys."""
    if isinstance(value, str) and value.strip():
        yield value
    elif isinstance(value, list) and depth < _DEEPEST:
        for one in value:
            yield from _words(one, depth + 1)
    elif isinstance(value, Mapping) and depth < _DEEPEST:
        for name, one in value.items():
            if name not in ("type", "_type", "_key", "id", "version", "format", "style"):
                yield from _words(one, depth + 1)
