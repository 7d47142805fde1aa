"""Converts HTML of other systems to rich text blocks. It is parsed like in a browser, including invalid HTML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from html.parser import HTMLParser
from typing import Final, cast

from proofroom.core.json import Json, JsonObject
from proofroom.definitions.richtext.links import safe_href, safe_src
from proofroom.definitions.richtext.nodes import (
    MARK_ORDER,
    SCRIPT_SIGNS,
    code_lines,
    one_line,
)
from proofroom.definitions.richtext.schema import ALIGNMENTS, LANGUAGE, MAX_WORDS
from proofroom_apps.imports.formulas import with_formulas_as_text
from proofroom_apps.imports.html_elements import MARKS, PLAIN_SIGNS, SIGNS, HtmlElement
from proofroom_apps.imports.pasted_blocks import convert_code_lines, convert_word_lists, lines_of

_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_FLOW: Final = frozenset(
    {"p", "div", "section", "article", "aside", "header", "footer", "main", "nav", "center", "address"}
    | {"figure", "figcaption", "details", "summary", "dl", "dt", "dd", "ul", "ol", "li", "blockquote"}
    | {"pre", "hr", "table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption", "fieldset"}
    | {"iframe", "video", "audio", "object", "embed", "form", "noscript", "menu", "dir", *_HEADINGS}
)  # fmt: skip
_INLINE: Final = frozenset(
    {"a", "img", "br", "span", "u", "mark", "small", "abbr", "q", "ins", "time", "font", "input"}
    | {"bdi", "bdo", "big", "data", "label", "picture", "source", "wbr", "acronym", *MARKS}
    | {"ruby", "rt", "rp"}
)  # fmt: skip
KNOWN_TAGS: Final = (
    _FLOW | _INLINE | {"script", "style", "html", "head", "body", "title", "svg", "math"}
)
"""Tags read as markup. Other text between angle brackets stays text, such as `<your name>`."""
_FRAMES: Final = frozenset({"iframe", "video", "audio", "object", "embed"})
_ATTRIBUTES: Final = frozenset(
    {
        "href",
        "src",
        "alt",
        "title",
        "class",
        "start",
        "type",
        "colspan",
        "rowspan",
        "align",
        "style",
    }
    | {"data-src", "data", "cite", "id", "name", "value", "reversed", "checked"}
)
SOURCE_IDS: Final = "sourceIds"
"""Attribute of a heading with its ids in the source. It is not stored."""
_VOID: Final = frozenset({"br", "img", "hr", "source", "wbr", "embed", "input"})
_STYLES: Final = (
    ("bold", re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)", re.IGNORECASE)),
    ("italic", re.compile(r"font-style\s*:\s*italic", re.IGNORECASE)),
    ("strike", re.compile(r"text-decoration[^;:]*:[^;]*line-through", re.IGNORECASE)),
    (
        "superscript",
        re.compile(r"vertical-align\s*:\s*super|mso-text-raise\s*:\s*[1-9.]", re.IGNORECASE),
    ),
    (
        "subscript",
        re.compile(r"vertical-align\s*:\s*sub(?!\w)|mso-text-raise\s*:\s*-", re.IGNORECASE),
    ),
)
"""Marks that an element gets from its style."""
_NOT_BOLD: Final = re.compile(r"font-weight\s*:\s*(?:normal|400)", re.IGNORECASE)
_HIDDEN: Final = re.compile(r"display\s*:\s*none|mso-hide\s*:\s*all", re.IGNORECASE)
_WORD_COMMENT: Final = re.compile(
    r"mso-element\s*:\s*comment|mso-special-character\s*:\s*comment", re.IGNORECASE
)
_ALIGNMENTS: Final = {
    "alignleft": "left",
    "aligncenter": "center",
    "alignright": "right",
    "alignwide": "full",
    "alignfull": "full",
}
"""Alignment of an image by the class that WordPress writes."""
_EMOJI: Final = frozenset({"emoji", "wp-smiley", "emojione", "joypixels", "twemoji"})
_START_OR_END: Final = re.compile(r"<(?P<close>/?)(?P<name>[a-zA-Z][a-zA-Z0-9-]{0,40})(?=[\s/>])")
_IMPLICITLY_CLOSED: Final = frozenset(
    {"p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option", "optgroup"}
    | {"area", "base", "col", "input", "link", "meta", "param", "track", "body", "html", "head"}
    | {"rt", "rp", "colgroup"}
)
"""Elements without an own end tag, or closed by a sibling: they don't count as nested."""
_RAW: Final = frozenset({"script", "style", "title", "textarea", "xmp", "noframes"})
_MAX_OPEN_TAGS: Final = 150
"""Maximum depth of nested tags for the parser, whose time grows with the depth."""
_MAX_OPEN: Final = 60
"""Maximum depth of elements in the tree; deeper ones are reduced to their text."""
_DEEPEST: Final = 13
_DEEPEST_QUOTE: Final = 4
_DRAWING: Final = re.compile(
    r"<svg\b(?:[^<>]*/>|[^<>]*>(.*?)(?:</svg\s*>|\Z))", re.DOTALL | re.IGNORECASE
)
_DRAWN_WORDS: Final = re.compile(
    r"<(text|tspan|title|desc|p|div|span)\b[^<>]*>([^<]*\S[^<]*)", re.DOTALL | re.IGNORECASE
)
_NOTHING: Final = re.compile(
    r"<!--(?P<comment>.*?)(?:-->|\Z)|<(?P<tag>script|style|template|title|input|canvas|svg)\b"
    r"|<img\b(?P<image>[^<>]*)>|<iframe\b(?P<frame>[^<>]*)>",
    re.DOTALL | re.IGNORECASE,
)
_WITH_WORDS: Final = re.compile(
    r"<(?!(?:img|a|iframe|video|audio|object|embed)[\s/>])(?P<tag>[a-z][a-z0-9-]{0,40})\s(?P<attributes>[^<>]*)>",
    re.IGNORECASE,
)
_WORDS: Final = re.compile(
    r"""(?<![\w-])(title|alt|label|placeholder|aria-label)\s*=\s*(?:"([^"]*)"|'([^']*)')""",
    re.IGNORECASE,
)
"""Attributes with readable text. They are dropped, so the report names them."""
_IMAGE_ADDRESS: Final = re.compile(
    r"\b(?:data-)?src\s*=\s*(?:[\"']\s*)?(?!data:)[^\s\"'<>]", re.IGNORECASE
)
_STYLE: Final = re.compile(r"<[a-z][^<>]*\sstyle\s*=[^<>]*>", re.IGNORECASE)
_SIMPLER: Final = re.compile(r"<(?P<name>math|rt|ol|input)(?=[\s>/])[^<>]*>", re.IGNORECASE)
_CHECK_BOX: Final = re.compile(r"<input\b[^<>]*\stype\s*=\s*[\"']?checkbox\b", re.IGNORECASE)
_MARKERS: Final = re.compile(r"\A\s*(?:/?wp:|(?:more|nextpage|noteaser)\s*\Z)")
_BLANK: Final = re.compile(r"[ \t\r\n\f]+")
_PARAGRAPHS: Final = re.compile(r"\n[ \t\r]*\n\s*")


@dataclass(frozen=True, slots=True)
class EmbeddedFrame:
    """An embedded page, video or playable file between blocks."""

    tag: str
    address: str
    title: str = ""


def replace_elements_by_signs(html: str) -> str:
    """Return the HTML with signs in place of elements that change the meaning, before tags are removed."""

    def text_of(found: re.Match[str]) -> str:
        element = HtmlElement(found["tag"].lower(), {}, [unescape(found["text"])])
        return escape(element.text, quote=False)

    return SIGNS.sub(text_of, html)


def _is_hidden(element: HtmlElement, before: HtmlElement | str | None) -> bool:
    """Return whether a browser shows nothing of an element, or it is only for the program that made it."""
    values = element.attributes
    if not values:
        return False
    style = values.get("style", "")
    if _HIDDEN.search(style) or _WORD_COMMENT.search(style):
        return True
    if element.tag in ("a", "hr") and element.classes & {"msocomanchor", "msocomoff"}:
        return True
    if element.tag == "a" and values.get("href", "").startswith("#_msocom_"):
        return True
    # KaTeX draws the formula of the element before a second time.
    is_drawn = "katex-html" in element.classes
    return is_drawn and isinstance(before, HtmlElement) and "katex-mathml" in before.classes


class _TreeBuilder(HTMLParser):
    """Builds a tree from well-formed HTML. Elements that are nested too deeply become text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = HtmlElement("body")
        self.open = [self.root]
        self.too_deep = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "wbr":
            return  # it says nothing
        if len(self.open) > _MAX_OPEN and tag not in _VOID:
            self.too_deep += 1
            return
        element = HtmlElement(tag, {name: value or "" for name, value in attrs})
        siblings = self.open[-1].content
        # A hidden element is opened but not added, so that its content is dropped with it.
        if not _is_hidden(element, siblings[-1] if siblings else None):
            siblings.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if self.too_deep and tag not in _VOID:
            self.too_deep -= 1
        elif len(self.open) > 1 and self.open[-1].tag == tag:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].content.append(data)


def _words_of_drawing(drawing: re.Match[str]) -> str:
    words = " ".join(
        " ".join(found[2].split()) for found in _DRAWN_WORDS.finditer(drawing[1] or "")
    )
    return f" {words} " if words else ""


_CONTROL: Final = re.compile(
    r"(?=</?(?:label|legend|option|select|textarea|button)\b)", re.IGNORECASE
)
"""Start or end of a form control. Browsers separate its text from the text around it."""


def count_dropped_html(html: str) -> Counter[str]:
    """Return the number of parts of the HTML that are dropped or reduced to text, by name for the report."""
    found: Counter[str] = Counter()
    for one in _NOTHING.finditer(html):
        if one["comment"] is not None:
            found["comment <!-- … -->"] += not _MARKERS.match(one["comment"])
        elif one["tag"]:
            tag = one["tag"].lower()
            if tag == "input" and _CHECK_BOX.match(html, one.start()):
                continue
            found[
                "drawing <svg>, of which the words are kept" if tag == "svg" else f"element <{tag}>"
            ] += 1
        elif one["image"] is not None:
            found["picture without an address of its own"] += not _IMAGE_ADDRESS.search(
                one["image"]
            )
        else:
            found["frame without an address"] += not _IMAGE_ADDRESS.search(one["frame"])
    for style in _STYLE.finditer(html):
        found["hidden text"] += bool(_HIDDEN.search(style[0]))
        found["comment of Word"] += bool(_WORD_COMMENT.search(style[0]))
    for element in _WITH_WORDS.finditer(html):
        for name, quoted, single in _WORDS.findall(element["attributes"]):
            if words := " ".join(unescape(quoted or single).split()):
                found[f"{name.lower()} of <{element['tag'].lower()}>: “{words[:300]}”"] += 1
    # Unary plus removes the names that were counted zero times.
    return +found


def count_simplified_html(html: str) -> Counter[str]:
    """Return the number of parts of the HTML that are simplified, by name for the report."""
    found: Counter[str] = Counter()
    for tag in _SIMPLER.finditer(html):
        name = tag["name"].lower()
        if name == "math":
            found["formula <math>, of which the text is kept"] += 1
        elif name == "rt":
            found["reading of <ruby>, in brackets behind the words"] += 1
        elif name == "ol" and re.search(r"\sreversed(?=[\s=>/])", tag[0], re.IGNORECASE):
            found["list that counts backwards, with its numbers as text"] += 1
        elif name == "input" and _CHECK_BOX.match(tag[0]):
            found["check box, as ☐ or ☑"] += 1
    return found


def _without_comments(html: str) -> str:
    """Return the HTML without comments. As in browsers, an unclosed comment extends to the end."""
    parts: list[str] = []
    end = 0
    while (start := html.find("<!--", end)) >= 0:
        parts.append(html[end:start])
        # In HTML, `<!-->` and `<!--->` are complete comments.
        is_empty = html.startswith((">", "->"), start + 4)
        close = html.find(">" if is_empty else "-->", start + 4)
        if close < 0:
            return "".join(parts)
        end = close + (1 if is_empty else 3)
    return "".join([*parts, html[end:]])


def limit_depth(html: str) -> str:
    """Return the HTML with a limited depth of open elements, so that parsing time stays linear.

    Deeper tags become `<wbr>`; their content stays.
    """
    parts: list[str] = []
    open_tags = too_deep = end = at = 0
    while (found := _START_OR_END.search(html, at)) is not None:
        at = found.end()
        name = found["name"].lower()
        # Tags in scripts and similar elements are text; an unclosed one extends to the end.
        if name in _RAW and not found["close"]:
            close = re.compile(rf"</{name}\b", re.IGNORECASE).search(html, at)
            if close is None:
                break
            at = close.end()
        elif name in _VOID or name in _IMPLICITLY_CLOSED:
            continue
        elif not found["close"] and open_tags < _MAX_OPEN_TAGS:
            open_tags += 1
        elif found["close"] and not too_deep:
            open_tags = max(0, open_tags - 1)
        else:
            too_deep += -1 if found["close"] else 1
            parts += [html[end : found.start("name")], "wbr"]
            end = at
    return "".join([*parts, html[end:]])


def parse_html(html: str) -> HtmlElement:
    """Return the tree of the HTML, well nested, without scripts, styles and comments."""
    import nh3

    drawn = _DRAWING.sub(_words_of_drawing, with_formulas_as_text(_without_comments(html)))
    clean = nh3.clean(
        limit_depth(_CONTROL.sub(" ", drawn)),
        tags=set(_FLOW | _INLINE),
        clean_content_tags={"script", "style", "title", "svg", "o:p"},
        attributes={"*": set(_ATTRIBUTES)},
        url_schemes={"http", "https", "mailto", "tel", "ftp", "attachment"},
        link_rel=None,
    )
    builder = _TreeBuilder()
    builder.feed(clean)
    builder.close()
    return builder.root


def blocks_of_html(html: str, *, has_bare_lines: bool = False) -> list[JsonObject | EmbeddedFrame]:
    """Return the rich text blocks of HTML, with embedded frames between them.

    With `has_bare_lines`, an empty line outside of an element starts a paragraph, and a newline is a line
    break.
    """
    return blocks_of_element(parse_html(html), has_bare_lines=has_bare_lines)


def blocks_of_element(
    element: HtmlElement, *, has_bare_lines: bool = False
) -> list[JsonObject | EmbeddedFrame]:
    """Return the content of an element like `blocks_of_html`."""
    convert_word_lists(element)
    convert_code_lines(element)
    return _BlockReader(has_bare_lines).flow(element.content, 1, 0)


def frames_to_links(found: Sequence[JsonObject | EmbeddedFrame]) -> list[JsonObject]:
    """Return the blocks, with each frame replaced by a link."""
    return [
        link_paragraph(block.address, block.title) if isinstance(block, EmbeddedFrame) else block
        for block in found
    ]


def link_paragraph(address: str, text: str = "") -> JsonObject:
    """Return a paragraph with a link, or with its text only if the address cannot be stored."""
    words = one_line(text or address).strip() or "…"
    node: JsonObject = {"type": "text", "text": words}
    if (href := safe_href(address)) is not None:
        node["marks"] = [{"type": "link", "attrs": {"href": href}}]
    return {"type": "paragraph", "content": [node]}


def text_paragraph(text: str, *marks: str) -> JsonObject:
    words = one_line(text).strip()
    node: JsonObject = {"type": "text", "text": words}
    if marks:
        node["marks"] = [{"type": mark} for mark in marks]
    return {"type": "paragraph", "content": [node]} if words else {"type": "paragraph"}


def image_paragraph(address: str, alt: str = "") -> JsonObject:
    src = safe_src(address)
    if src is None:
        return text_paragraph(alt)
    attrs: JsonObject = {"src": src, "alt": one_line(alt)[:MAX_WORDS]}
    return {"type": "paragraph", "content": [{"type": "image", "attrs": attrs}]}


class _BlockReader:
    def __init__(self, has_bare_lines: bool) -> None:
        self.has_bare_lines = has_bare_lines

    def flow(
        self, nodes: Sequence[HtmlElement | str], depth: int, quotes: int
    ) -> list[JsonObject | EmbeddedFrame]:
        blocks: list[JsonObject | EmbeddedFrame] = []
        loose: list[HtmlElement | str] = []
        for node in nodes:
            if isinstance(node, HtmlElement) and self._is_block(node):
                blocks += self._paragraphs(loose)
                loose = []
                blocks += self._block(node, depth, quotes)
            else:
                loose.append(node)
        return blocks + self._paragraphs(loose)

    def _is_block(self, node: HtmlElement) -> bool:
        # Ignore links and spans around block elements such as headings and tables.
        return node.tag in _FLOW or (node.tag != "picture" and any(node.find(*_FLOW)))

    def _paragraphs(self, nodes: Sequence[HtmlElement | str]) -> list[JsonObject | EmbeddedFrame]:
        if not self.has_bare_lines:
            return self._paragraph(nodes)
        parts: list[list[HtmlElement | str]] = [[]]
        for node in nodes:
            if isinstance(node, HtmlElement):
                parts[-1].append(node)
                continue
            for number, text in enumerate(_PARAGRAPHS.split(node)):
                if number:
                    parts.append([])
                for line_number, line in enumerate(text.split("\n")):
                    if line_number and parts[-1] and line.strip():
                        parts[-1].append(HtmlElement("br"))
                    parts[-1].append(line)
        return [block for part in parts for block in self._paragraph(part)]

    def _paragraph(self, nodes: Sequence[HtmlElement | str]) -> list[JsonObject | EmbeddedFrame]:
        inline = _InlineReader().read(nodes)
        return [{"type": "paragraph", "content": inline}] if _has_content(inline) else []

    def _block(
        self, node: HtmlElement, depth: int, quotes: int
    ) -> list[JsonObject | EmbeddedFrame]:
        tag = node.tag
        if tag in _FRAMES:
            return self._frame(node)
        # A heading cannot contain these, so their content is read as blocks.
        if tag in _HEADINGS and not any(node.find(*_FRAMES, "table", "ul", "ol")):
            inline = _InlineReader().read(node.content)
            attrs: JsonObject = {"level": _HEADINGS[tag]}
            if ids := _ids_of(node):
                attrs[SOURCE_IDS] = cast("Json", ids)
            heading: JsonObject = {"type": "heading", "attrs": attrs}
            return [{**heading, "content": inline}] if inline else []
        if tag == "hr":
            return [{"type": "horizontalRule"}]
        if tag == "pre":
            # Code cannot contain pictures, so they follow it.
            pictures = [_InlineReader().read([image]) for image in node.find("img")]
            shown = [{"type": "paragraph", "content": one} for one in pictures if one]
            return [_code_block(node), *cast("list[JsonObject]", shown)]
        if tag in ("dt", "summary"):
            inline = _InlineReader(("bold",)).read(node.content)
            return [{"type": "paragraph", "content": inline}] if inline else []
        if tag == "figcaption":
            inline = _InlineReader(("italic",)).read(node.content)
            return [{"type": "paragraph", "content": inline}] if inline else []
        if tag == "figure":
            return self._figure(node, depth, quotes)
        if tag in ("ul", "ol", "menu", "dir") and depth < _DEEPEST:
            return self._list(node, depth, quotes)
        if tag == "blockquote" and depth < _DEEPEST and quotes < _DEEPEST_QUOTE:
            inside = frames_to_links(self.flow(node.content, depth + 1, quotes + 1))
            return [{"type": "blockquote", "content": cast("Json", inside)}] if inside else []
        if tag == "table" and depth < _DEEPEST - 2:
            return self._table(node, depth, quotes)
        return self.flow(node.content, depth, quotes)

    def _figure(
        self, node: HtmlElement, depth: int, quotes: int
    ) -> list[JsonObject | EmbeddedFrame]:
        """Read a figure. The caption of a single image becomes an attribute, unless it has links or images."""
        captions = [*node.find("figcaption")]
        align = next((_ALIGNMENTS[name] for name in sorted(node.classes & _ALIGNMENTS.keys())), "")
        if len(captions) > 1 or any(any(one.find("a", "img", "iframe")) for one in captions):
            return self.flow(node.content, depth, quotes)
        rest = [child for child in node.content if child not in captions]
        words = one_line(" ".join(" ".join(one.text for one in captions).split()))
        blocks = self.flow(rest, depth, quotes)
        content = (
            blocks[0].get("content") if len(blocks) == 1 and isinstance(blocks[0], dict) else None
        )
        image = content[0] if isinstance(content, list) and len(content) == 1 else None
        if not isinstance(image, dict) or image.get("type") != "image" or len(words) > MAX_WORDS:
            return self.flow(node.content, depth, quotes)
        attrs = cast("JsonObject", image["attrs"])
        layout = {"caption": words, "align": align}
        attrs |= {name: value for name, value in layout.items() if value}
        return blocks

    def _frame(self, node: HtmlElement) -> list[JsonObject | EmbeddedFrame]:
        values = node.attributes
        address = values.get("src") or values.get("data-src") or values.get("data") or ""
        if not address:
            address = next(
                (source.attributes.get("src", "") for source in node.find("source", "embed")), ""
            )
        if address.startswith("//"):
            address = f"https:{address}"
        inside = self.flow(node.content, 1, 0) if node.tag != "iframe" else []
        frame = EmbeddedFrame(node.tag, address, " ".join(values.get("title", "").split()))
        return [frame, *inside] if safe_href(address) else inside

    def _list(self, node: HtmlElement, depth: int, quotes: int) -> list[JsonObject | EmbeddedFrame]:
        lists = _ListBuilder(node)
        for child in node.content:
            if isinstance(child, str):
                inside = frames_to_links(self._paragraph([child]))
            elif child.tag in ("ul", "ol"):
                lists.add_list(frames_to_links(self._block(child, depth + 2, quotes)))
                continue
            else:
                content = child.content if child.tag == "li" else [child]
                inside = frames_to_links(self.flow(content, depth + 2, quotes))
            # An empty item still counts in a numbered list.
            if inside or (
                node.tag == "ol" and isinstance(child, HtmlElement) and child.tag == "li"
            ):
                lists.add_item(
                    inside, "" if isinstance(child, str) else child.attributes.get("value", "")
                )
        return lists.finish()

    def _table(
        self, node: HtmlElement, depth: int, quotes: int
    ) -> list[JsonObject | EmbeddedFrame]:
        blocks: list[JsonObject | EmbeddedFrame] = []
        rows: list[JsonObject] = []
        for caption in node.find("caption"):
            blocks += self._paragraph(caption.content)
        for row in _rows(node):
            cells: list[Json] = []
            for cell in row.content:
                if not isinstance(cell, HtmlElement) or cell.tag not in ("td", "th"):
                    continue
                inside = frames_to_links(self.flow(cell.content, depth + 3, quotes))
                made: JsonObject = {
                    "type": "tableHeader" if cell.tag == "th" else "tableCell",
                    "content": cast("Json", inside or [{"type": "paragraph"}]),
                }
                if attrs := _cell_attributes(cell.attributes):
                    made["attrs"] = attrs
                cells.append(made)
            if cells:
                rows.append({"type": "tableRow", "content": cells})
        return [*blocks, {"type": "table", "content": cast("Json", rows)}] if rows else blocks


def _has_content(inline: Sequence[Json]) -> bool:
    """Return whether inline content has more than white space."""
    return any(
        isinstance(node, dict)
        and (node["type"] == "image" or (node["type"] == "text" and str(node["text"]).strip()))
        for node in inline
    )


class _ListBuilder:
    """Builds list items, and splits them into several lists by their numbers."""

    def __init__(self, node: HtmlElement) -> None:
        self.is_ordered = node.tag == "ol"
        values = node.attributes
        self.start = _whole(values.get("start", ""), 1)
        self.style = values.get("type", "") if values.get("type") in ("a", "A", "i", "I") else ""
        self.counts_backwards = self.is_ordered and "reversed" in values
        self.number = self.start
        if self.counts_backwards:
            own = [one for one in node.content if isinstance(one, HtmlElement) and one.tag == "li"]
            self.number = _whole(values.get("start", ""), len(own))
        self.lists: list[JsonObject] = []
        self.items: list[JsonObject] = []

    def add_list(self, nested: list[JsonObject]) -> None:
        """Add a nested list to the item before it."""
        for one in nested:
            if self.items:
                cast("list[Json]", self.items[-1]["content"]).append(one)
            elif one["type"] == self._type:
                self.items += cast("list[JsonObject]", one["content"])
            else:
                self.lists.append(one)

    def add_item(self, content: list[JsonObject], value: str) -> None:
        # A list item has to begin with a paragraph.
        if not content or content[0]["type"] != "paragraph":
            content.insert(0, {"type": "paragraph"})
        if self.counts_backwards:
            number = _whole(value, self.number)
            self.number = number - 1
            inline = cast("list[JsonObject]", content[0].setdefault("content", []))
            if inline and inline[0]["type"] == "text" and "marks" not in inline[0]:
                inline[0]["text"] = f"{number}. {inline[0]['text']}"
            else:
                inline.insert(0, {"type": "text", "text": f"{number}. "})
        # Lists here have only a start, so an item with its own number starts a new list.
        elif self.is_ordered and _whole(value, self.start + len(self.items)) != (
            self.start + len(self.items)
        ):
            self._end()
            self.start = _whole(value, 1)
        self.items.append({"type": "listItem", "content": cast("Json", content)})

    def finish(self) -> list[JsonObject | EmbeddedFrame]:
        self._end()
        return list(self.lists)

    @property
    def _type(self) -> str:
        # Lists here cannot count backwards; their numbers are text of the items.
        return "orderedList" if self.is_ordered and not self.counts_backwards else "bulletList"

    def _end(self) -> None:
        if not self.items:
            return
        made: JsonObject = {"type": self._type, "content": cast("Json", self.items)}
        if self._type == "orderedList":
            made["attrs"] = (
                {"start": self.start, "type": self.style} if self.style else {"start": self.start}
            )
        self.lists.append(made)
        self.items = []


def _whole(text: str, default: int) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) else default


def _ids_of(node: HtmlElement) -> list[str]:
    """Return the ids and names of an element and its anchors, which links use."""
    found = [node, *node.find("a", "span")]
    ids = (one.attributes.get("id") or one.attributes.get("name") for one in found)
    return [one[:300] for one in ids if one]


def _rows(node: HtmlElement) -> Iterator[HtmlElement]:
    """Yield the rows of a table without the rows of nested tables."""
    for child in node.content:
        if isinstance(child, HtmlElement):
            if child.tag == "tr":
                yield child
            elif child.tag in ("thead", "tbody", "tfoot"):
                yield from _rows(child)


def _cell_attributes(values: Mapping[str, str]) -> JsonObject:
    attrs: JsonObject = {}
    for name in ("colspan", "rowspan"):
        if re.fullmatch(r"[0-9]{1,2}", values.get(name, ""), re.ASCII) and int(values[name]) > 1:
            attrs[name] = int(values[name])
    style = re.search(r"text-align:\s*(\w+)", values.get("style", ""))
    align = style[1] if style else values.get("align", "")
    if align in ALIGNMENTS:
        attrs["align"] = align
    return attrs


def _code_block(node: HtmlElement) -> JsonObject:
    words = [*node.classes, *(word for code in node.find("code") for word in code.classes)]
    named = (re.match(r"(?:language|lang|brush:?)-?(.+)", word) for word in words)
    language = next((found[1] for found in named if found), None)
    block: JsonObject = {
        "type": "codeBlock",
        "attrs": {"language": language if language and LANGUAGE.fullmatch(language) else None},
    }
    text = lines_of(node, keeps_space=True)
    if text := code_lines(text.replace("\r\n", "\n")).strip("\n"):
        block["content"] = [{"type": "text", "text": text}]
    return block


class _InlineReader:
    """Reads the inline content of one block. White space is collapsed like in browsers."""

    def __init__(self, marks: tuple[str, ...] = ()) -> None:
        self.content: list[JsonObject] = []
        self.marks: list[str] = list(marks)
        self.links: list[JsonObject] = []
        self.last: list[str] = []
        """Parts of the last text. They are joined once, since each join copies the text."""

    def read(self, nodes: Sequence[HtmlElement | str]) -> list[Json]:
        for node in nodes:
            self._node(node)
        self._end_text()
        while self.content and self.content[-1]["type"] == "hardBreak":
            self.content.pop()
        if self.content and self.content[-1]["type"] == "text":
            text = str(self.content[-1]["text"]).rstrip(" ")
            if text:
                self.content[-1]["text"] = text
            else:
                self.content.pop()
        return cast("list[Json]", self.content)

    def _node(self, node: HtmlElement | str) -> None:
        if isinstance(node, str):
            self._text(node)
        elif node.tag == "br":
            self._break()
        elif node.tag == "img":
            self._image(node)
        elif node.tag == "a":
            self._link(node)
        elif node.tag == "input":
            if node.attributes.get("type", "").lower() == "checkbox":
                self._text("☑ " if "checked" in node.attributes else "☐ ")
        elif marks := _marks_of(node):
            sign = SCRIPT_SIGNS.get(marks[0], "")
            if sign and marks[0] in self.marks:
                # Nested marks of one kind cannot be expressed, so write the sign.
                self._text(sign)
            self.marks += marks
            for child in node.content:
                self._node(child)
            del self.marks[-len(marks) :]
        elif node.tag in ("q", "rt") and node.text.strip():
            begin, end = PLAIN_SIGNS[node.tag]
            self._text(begin)
            for child in node.content:
                self._node(child)
            self._text(end)
        elif node.tag != "rp":
            if node.tag in _FLOW and self.content:
                self._text(" ")
            for child in node.content:
                self._node(child)

    def _text(self, text: str) -> None:
        text = _BLANK.sub(" ", one_line(text))
        last = self.content[-1] if self.content else None
        starts_anew = last is None or last["type"] == "hardBreak"
        if starts_anew or (self.last and self.last[-1].endswith(" ")):
            text = text.lstrip(" ")
        if not text:
            return
        marks = self._found_marks()
        if last is not None and last["type"] == "text" and last.get("marks", []) == marks:
            self.last.append(text)
            return
        self._end_text()
        node: JsonObject = {"type": "text", "text": ""}
        if marks:
            node["marks"] = cast("Json", marks)
        self.content.append(node)
        self.last = [text]

    def _end_text(self) -> None:
        if self.last:
            self.content[-1]["text"] = "".join(self.last)
        self.last = []

    def _break(self) -> None:
        self._end_text()
        last = self.content[-1] if self.content else None
        if last is None:
            return
        if last["type"] == "text":
            # A text node must not be empty.
            last["text"] = str(last["text"]).rstrip(" ") or " "
        self.content.append({"type": "hardBreak"})

    def _image(self, node: HtmlElement) -> None:
        values = node.attributes
        address = values.get("src", "")
        # Lazy loading: `src` is a placeholder, and `data-src` is the picture.
        if not address or address.startswith("data:"):
            address = values.get("data-src", "")
        if address.startswith("//"):
            address = f"https:{address}"
        src, alt = safe_src(address), one_line(values.get("alt", ""))[:MAX_WORDS]
        # The alternative text of an emoji picture is the character.
        if src is None or (alt and node.classes & _EMOJI):
            self._text(alt)
            return
        attrs: JsonObject = {"src": src, "alt": alt}
        if title := one_line(values.get("title", "")).strip()[:MAX_WORDS]:
            attrs["title"] = title
        for name in sorted(node.classes & _ALIGNMENTS.keys()):
            attrs["align"] = _ALIGNMENTS[name]
        image: JsonObject = {"type": "image", "attrs": attrs}
        if self.links:
            image["marks"] = [self.links[-1]]
        self._end_text()
        self.content.append(image)

    def _link(self, node: HtmlElement) -> None:
        address = node.attributes.get("href", "")
        if address.startswith("//"):
            address = f"https:{address}"
        href = safe_href(address)
        if href is not None:
            attrs: JsonObject = {"href": href}
            if title := one_line(node.attributes.get("title", "")).strip()[:MAX_WORDS]:
                attrs["title"] = title
            self.links.append({"type": "link", "attrs": attrs})
        for child in node.content:
            self._node(child)
        if href is not None:
            self.links.pop()

    def _found_marks(self) -> list[JsonObject]:
        found: list[JsonObject] = self.links[-1:]
        found += [{"type": name} for name in MARK_ORDER[1:] if name in self.marks]
        return found


def _marks_of(node: HtmlElement) -> list[str]:
    """Return the marks of an element from its tag, else from its style."""
    style = node.attributes.get("style", "")
    if node.tag in MARKS:
        return [] if node.tag in ("b", "strong") and _NOT_BOLD.search(style) else [MARKS[node.tag]]
    if node.tag not in ("span", "font") or not style:
        return []
    return [name for name, pattern in _STYLES if pattern.search(style)]
