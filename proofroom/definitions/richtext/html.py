"""Rendering of a document as HTML. All text is escaped here; no part of a document is used as markup."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from proofroom.core.slugs import join_words
from proofroom.definitions.richtext.links import is_external
from proofroom.definitions.richtext.nodes import (
    INLINE,
    MAX_DEPTH,
    Node,
    TextMark,
    TextRun,
    attributes,
    children,
    code_lines,
    gathered,
    integer,
    kind,
    runs,
    steps,
    string,
)
from proofroom.definitions.richtext.schema import ALIGNMENTS, LANGUAGE

_TAGS = {
    "bold": "strong",
    "italic": "em",
    "strike": "s",
    "superscript": "sup",
    "subscript": "sub",
    "code": "code",
}
_LIST_TYPES = frozenset({"1", "a", "A", "i", "I"})


@dataclass(frozen=True, slots=True)
class TextImage:
    """An image of the site for display. An empty `url` means that its file was deleted."""

    url: str = ""
    alt: str = ""
    width: int | None = None
    height: int | None = None
    srcset: str = ""
    sizes: str = ""
    dark_srcset: str = ""


class PageTexts(set[str]):
    """State shared by all texts of a page: used heading ids, and a lookup of the site's images by URL."""

    def __init__(self, ids: Iterable[str], image_at: Callable[[str], TextImage | None]) -> None:
        super().__init__(ids)
        self.image_at = image_at


def to_html(
    document: object, *, heading_ids: set[str] | None = None, remote_images: bool = True
) -> str:
    """Return safe HTML of a document of any shape; "" for a value that is not a document.

    `heading_ids`: ids already used on the page. Every heading gets an id and adds it to the set; without the set,
    headings have no ids. A `PageTexts` also finds the site's images: they get all their sizes, and deleted ones are
    left out.
    `remote_images=False` replaces images of other hosts by their alternative text.
    """
    # Loading a remote image sends its URL to the other host. In text that no person has approved, the URL can
    # contain data to leak.
    if not isinstance(document, dict):
        return ""
    return _Renderer(heading_ids, remote_images).blocks(children(document), 1)


@dataclass
class _Renderer:
    heading_ids: set[str] | None
    remote_images: bool

    def blocks(self, nodes: Sequence[Node], depth: int) -> str:
        parts: list[str] = []
        inline: list[Node] = []
        for node in nodes:
            if kind(node) in INLINE:
                inline.append(node)
                continue
            parts += self._wrap_inline(inline)
            inline = []
            parts.append(self._block(node, depth))
        return "\n".join(parts + self._wrap_inline(inline))

    def _wrap_inline(self, nodes: Sequence[Node]) -> list[str]:
        # Inline content between blocks is invalid, but shown anyway.
        return [f"<p>{self._inline(nodes)}</p>"] if nodes else []

    def _block(self, node: Node, depth: int) -> str:
        if depth >= MAX_DEPTH:
            # Deeper nodes become plain text, so that recursion is bounded.
            return f"<p>{escape(gathered(node))}</p>"
        match kind(node):
            case "paragraph":
                return self._paragraph(children(node))
            case "heading":
                return self._heading(node)
            case "bulletList":
                return f"<ul>\n{self._items(node, depth)}\n</ul>"
            case "orderedList":
                attrs = attributes(node)
                start = integer(attrs.get("start"), default=1, least=0, most=999_999_999)
                extra = f' start="{start}"' if start != 1 else ""
                style = string(attrs.get("type"))
                extra += f' type="{style}"' if style in _LIST_TYPES - {"1"} else ""
                return f"<ol{extra}>\n{self._items(node, depth)}\n</ol>"
            case "blockquote":
                return f"<blockquote>\n{self.blocks(children(node), depth + 1)}\n</blockquote>"
            case "codeBlock":
                language = string(attributes(node).get("language"))
                extra = (
                    f' class="language-{escape(language)}"' if LANGUAGE.fullmatch(language) else ""
                )
                text = "".join(
                    string(child.get("text")) if kind(child) == "text" else gathered(child)
                    for child in children(node)
                )
                # HTML parsers drop a line break right after <pre>. The code element in between protects ours.
                return f'<pre tabindex="0"><code{extra}>{escape(code_lines(text))}</code></pre>'
            case "horizontalRule":
                return "<hr>"
            case "table":
                return self._table(node, depth)
        return f"<p>{escape(gathered(node))}</p>"

    def _paragraph(self, nodes: Sequence[Node]) -> str:
        """Render a paragraph. Its figures stand between the paragraphs of the text around them."""
        if not any(_is_figure(node) for node in nodes):
            return f"<p>{self._inline(nodes)}</p>"
        parts: list[str] = []
        for is_figure, group in groupby(nodes, _is_figure):
            if is_figure:
                parts += [self._figure(node) for node in group]
            elif (text := self._inline(_trimmed([*group]))).strip():
                parts.append(f"<p>{text}</p>")
        return "\n".join(filter(None, parts))

    def _figure(self, node: Node) -> str:
        run = runs([node])[0]
        image = self._inline([node])
        if not image and not run.caption:
            return ""
        names = ["rich-figure"]
        names += [f"align-{run.align}"] if run.align else []
        names += [f"size-{run.size}"] if run.size else []
        caption = f"<figcaption>{escape(run.caption)}</figcaption>" if run.caption else ""
        # An image of another host may be shown as its text only.
        shown = f"<p>{image}</p>" if image and not self._shows(run) else image
        return f'<figure class="{" ".join(names)}">{shown}{caption}</figure>'

    def _shows(self, run: TextRun) -> bool:
        return run.kind == "image" and (self.remote_images or not is_external(run.src))

    def _heading(self, node: Node) -> str:
        level = integer(attributes(node).get("level"), default=2, least=1, most=6)
        anchor = ""
        if self.heading_ids is not None:
            slug = unique_heading_id(gathered(node), self.heading_ids)
            anchor = f' id="{escape(slug)}"'
        nodes = children(node)
        figures = [node for node in nodes if _is_figure(node)]
        text = self._inline([node for node in nodes if not _is_figure(node)] if figures else nodes)
        heading = f"<h{level}{anchor}>{text}</h{level}>"
        return "\n".join(filter(None, [heading, *map(self._figure, figures)]))

    def _items(self, node: Node, depth: int) -> str:
        return "\n".join(
            f"<li>{self._compact(children(item), depth + 2)}</li>" for item in children(node)
        )

    def _compact(self, nodes: Sequence[Node], depth: int) -> str:
        """Render the blocks of an item or a cell. A single first paragraph gets no tag."""
        if (
            not nodes
            or kind(nodes[0]) != "paragraph"
            or any(kind(node) == "paragraph" for node in nodes[1:])
            or any(map(_is_figure, children(nodes[0])))
        ):
            return self.blocks(nodes, depth)
        rest = self.blocks(nodes[1:], depth)
        return self._inline(children(nodes[0])) + (f"\n{rest}" if rest else "")

    def _table(self, node: Node, depth: int) -> str:
        rows = children(node)
        first = children(rows[0]) if rows else []
        is_header = bool(first) and all(kind(cell) == "tableHeader" for cell in first)
        head = rows[:1] if is_header else []
        body = rows[len(head) :]
        parts = ["<table>"]
        if head:
            parts.append(f"<thead>\n{self._row(head[0], depth, 'col')}\n</thead>")
        if body:
            lines = "\n".join(self._row(row, depth, "row") for row in body)
            parts.append(f"<tbody>\n{lines}\n</tbody>")
        parts.append("</table>")
        # A wide table scrolls in a box, which must be reachable by keyboard.
        box = '<div class="table-scroll" role="region" aria-label="Table" tabindex="0">'
        return box + "\n" + "\n".join(parts) + "\n</div>"

    def _row(self, row: Node, depth: int, scope: str) -> str:
        return "<tr>" + "".join(self._cell(cell, depth, scope) for cell in children(row)) + "</tr>"

    def _cell(self, cell: Node, depth: int, scope: str) -> str:
        attrs = attributes(cell)
        tag, extra = ("th", f' scope="{scope}"') if kind(cell) == "tableHeader" else ("td", "")
        for name in ("colspan", "rowspan"):
            span = integer(attrs.get(name), default=1, least=1, most=100)
            extra += f' {name}="{span}"' if span > 1 else ""
        if attrs.get("align") in ALIGNMENTS:
            extra += f' class="align-{attrs["align"]}"'
        return f"<{tag}{extra}>{self._compact(children(cell), depth + 3)}</{tag}>"

    def _inline(self, nodes: Sequence[Node]) -> str:
        found = runs(nodes)
        if len(found) == 1 and not found[0].marks:  # most paragraphs
            return self._run(found[0])
        parts: list[str] = []
        for step in steps(found):
            parts += [f"</{_TAGS.get(mark.kind, 'a')}>" for mark in step.closes]
            parts += [_opening(mark) for mark in step.opens]
            if step.run:
                parts.append(self._run(step.run))
        return "".join(parts)

    def _run(self, run: TextRun) -> str:
        if run.kind == "hardBreak":
            return "<br>"
        if not self._shows(run):
            return escape(run.text)
        title = f' title="{escape(run.title)}"' if run.title else ""
        site_image = (
            self.heading_ids.image_at(run.src) if isinstance(self.heading_ids, PageTexts) else None
        )
        if site_image is not None:
            return _own_image(site_image, run.text, title) if site_image.url else ""
        source, alt = escape(run.src), escape(run.text)
        return f'<img src="{source}" alt="{alt}"{title} loading="lazy" decoding="async">'


def _is_figure(node: Node) -> bool:
    return kind(node) == "image" and runs([node])[0].is_figure


def _trimmed(nodes: list[Node]) -> list[Node]:
    """Return the nodes without line breaks at the ends, which would leave an empty line beside a figure."""
    while nodes and kind(nodes[0]) == "hardBreak":
        del nodes[0]
    while nodes and kind(nodes[-1]) == "hardBreak":
        del nodes[-1]
    return nodes


def _own_image(image: TextImage, alt: str, title: str) -> str:
    """Render an image of the site with its sizes, and its dark variant if it has one."""
    sizes = f' sizes="{escape(image.sizes)}"'
    shape = f' width="{image.width}" height="{image.height}"' if image.width else ""
    choice = f' srcset="{escape(image.srcset)}"{sizes}' if image.srcset else ""
    html = (
        f'<img src="{escape(image.url)}" alt="{escape(alt or image.alt)}"{title}{shape}{choice}'
        ' loading="lazy" decoding="async">'
    )
    if not image.dark_srcset:
        return html
    dark = f'media="(prefers-color-scheme: dark)" srcset="{escape(image.dark_srcset)}"{sizes}'
    return f"<picture><source {dark}>{html}</picture>"


def _opening(mark: TextMark) -> str:
    if mark.kind != "link":
        return f"<{_TAGS[mark.kind]}>"
    extra = f' title="{escape(mark.title)}"' if mark.title else ""
    extra += ' target="_blank"' if mark.new_tab else ""
    if is_external(mark.href) or mark.new_tab:
        # `noopener` protects this page from the opened one. `noreferrer` hides the address of the page.
        extra += ' rel="noopener noreferrer"'
    return f'<a href="{escape(mark.href)}"{extra}>'


def unique_heading_id(text: str, taken: set[str]) -> str:
    """Return a heading id that is not in `taken`, and add it."""
    slug = join_words(text, 80) or "section"
    unique, number = slug, 1
    while unique in taken:
        number += 1
        unique = f"{slug}-{number}"
    taken.add(unique)
    return unique
