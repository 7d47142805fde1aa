"""Reads the content of Ghost posts: Lexical and Mobiledoc documents with their cards, else HTML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Final, cast

from django.utils.translation import gettext as _

from proofroom.core.errors import RuleViolation
from proofroom.core.json import Json
from proofroom_apps.imports.html_reader import EmbeddedFrame, blocks_of_html, frames_to_links
from proofroom_apps.imports.items import Remark, content_remarks
from proofroom_apps.imports.markdown_content import MarkdownContent, read_markdown
from proofroom_apps.imports.module_builder import GalleryPicture, ModuleBuilder
from proofroom_apps.imports.rich_text import html_of
from proofroom_apps.imports.wordpress_entries import plain_text

Values = Mapping[str, object]

_CARD_NAMES: Final[Mapping[str, str]] = {
    "card-markdown": "markdown", "codeblock": "code", "horizontalrule": "hr", "header-card": "header",
}  # fmt: skip
_CARDS: Final = frozenset(
    {
        *("image", "gallery", "html", "markdown", "embed", "bookmark", "code", "hr", "callout"),
        *("toggle", "button", "audio", "video", "file", "product", "header", "paywall", "email"),
        *("email-cta", "signup", "call-to-action", "transistor", "nft"),
    }
)
_NOT_ON_THE_SITE: Final = frozenset({"email", "email-cta"})
"""Cards that Ghost shows in newsletters only."""
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "product": ("productTitle", "productDescription"),
    "header": ("header", "heading", "subheader", "subheading"),
    "signup": ("header", "subheader", "disclaimer"),
    "call-to-action": ("textValue",),
    "nft": ("title",),
    "audio": ("title",),
    "file": ("fileTitle", "fileCaption"),
}
"""The texts of cards without an equivalent, in reading order. They may be HTML."""
_BUTTONS: Final = (
    ("buttonText", "buttonUrl"),
    ("productButton", "productUrl"),
    ("fileName", "src"),
    ("title", "src"),
)
_MOBILEDOC_TAGS: Final = frozenset(
    {"p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "aside", "pull-quote"}
)
_MARKUPS: Final = frozenset({"a", "strong", "b", "em", "i", "s", "code", "sub", "sup", "u", "del"})
_TITLE_MAX: Final = 160
_DEEPEST: Final = 60
MAX_CHARACTERS: Final = 10 * 1024 * 1024
"""Maximum length of a post as HTML. Mobiledoc repeats parts by their number, so a short file may be a long text."""


class GhostContent:
    """Reads one post. `allowed` are the module types of the post."""

    def __init__(self, allowed: frozenset[str]) -> None:
        self.builder = ModuleBuilder(allowed)
        self.text = MarkdownContent()

    def read(self, post: Values) -> None:
        """Add the content of a post, from the format in which it was written."""
        lexical, mobiledoc = _document(post.get("lexical")), _document(post.get("mobiledoc"))
        if isinstance(root := lexical.get("root"), Mapping):
            self._lexical(root)
        elif mobiledoc.get("sections"):
            self._mobiledoc(mobiledoc)
        else:
            self._html(str(post.get("html") or ""))

    def remarks(self, place: str) -> list[Remark]:
        text, builder = self.text, self.builder
        return list(
            content_remarks(
                place,
                unknown=text.unknown + builder.unknown,
                left_out=text.left_out + builder.left_out,
                simpler=text.simpler + builder.simpler,
            )
        )

    def _html(self, html: str) -> None:
        if html.strip():
            part = MarkdownContent()
            part.add_html(html)
            self._add(part)

    def _add(self, part: MarkdownContent) -> None:
        self.text.unknown += part.unknown
        self.text.left_out += part.left_out
        self.text.simpler += part.simpler
        self.builder.add_blocks(part.blocks)

    # Lexical.

    def _lexical(self, root: Values) -> None:
        html: list[str] = []
        for node in _objects(root.get("children")):
            name = str(node.get("type") or "")
            name = _CARD_NAMES.get(name, name)
            if name in _CARDS:
                self._html("".join(html))
                html.clear()
                self._card(name, node)
            else:
                html.append(html_of(_plain_lexical(node, 0), self.text.simpler))
        self._html("".join(html))

    # Mobiledoc.

    def _mobiledoc(self, document: Values) -> None:
        html: list[str] = []
        cards = _lists(document.get("cards"))
        length = _Length()
        reader = _Mobiledoc(_lists(document.get("markups")), _lists(document.get("atoms")), length)
        for section in _lists(document.get("sections")):
            kind = section[0] if section else None
            if kind == 10 and len(section) > 1:
                number = section[1]
                is_there = isinstance(number, int) and 0 <= number < len(cards)
                card = cards[cast("int", number)] if is_there else []
                if len(card) < 2 or not isinstance(card[1], Mapping):
                    continue
                length.add(str(card[1]))
                self._html("".join(html))
                html.clear()
                name = str(card[0])
                self._card(_CARD_NAMES.get(name, name), card[1])
            elif kind == 2 and len(section) > 1:
                html.append(f'<p><img src="{escape(str(section[1]))}" alt=""></p>')
            else:
                html.append(reader.html(section))
        self._html("".join(html))

    # Cards.

    def _card(self, name: str, values: Values) -> None:
        caption = str(values.get("caption") or "")
        match name:
            case "image":
                picture = _image(values)
                if caption.strip():
                    picture = f"<figure>{picture}<figcaption>{caption}</figcaption></figure>"
                self._html(picture)
            case "gallery":
                pictures = [
                    GalleryPicture(
                        str(one.get("src")), str(one.get("alt") or ""), _words(one.get("caption"))
                    )
                    for one in _objects(values.get("images"))
                    if one.get("src")
                ]
                self.builder.add_gallery(pictures)
                self._caption(caption)
            case "html":
                self._html(str(values.get("html") or ""))
            case "markdown":
                self._add(read_markdown(str(values.get("markdown") or "")))
            case "code":
                code = escape(str(values.get("code") or ""))
                language = re.sub(r"[^\w+#-]", "", str(values.get("language") or ""))
                self._html(f'<pre><code class="language-{language}">{code}</code></pre>')
                self._caption(caption)
            case "hr":
                self._html("<hr>")
            case "embed":
                self._embed(values)
                self._caption(caption)
            case "bookmark":
                self._bookmark(values)
                self._caption(caption)
            case "callout":
                emoji = str(values.get("calloutEmoji") or "")
                text = str(values.get("calloutText") or "")
                self._html(f"<blockquote><p>{escape(emoji)} {text}</p></blockquote>")
            case "toggle":
                self._toggle(values)
            case "button":
                self._buttons(values)
            case "video":
                self.builder.add_frame(
                    EmbeddedFrame("video", str(values.get("src") or ""), _words(caption))
                )
            case "paywall":
                self.text.left_out["paywall: the text below it is for everybody here"] += 1
            case _:
                self._other(name, values)

    def _caption(self, caption: str) -> None:
        if caption.strip():
            self._html(f"<p><em>{caption}</em></p>")

    def _embed(self, values: Values) -> None:
        html, url = str(values.get("html") or ""), str(values.get("url") or "")
        frames = [one for one in blocks_of_html(html) if isinstance(one, EmbeddedFrame)]
        metadata = values.get("metadata")
        title = _words(metadata.get("title")) if isinstance(metadata, Mapping) else ""
        if frames and frames[0].address:
            self.builder.add_frame(frames[0], title or frames[0].title)
        elif url:
            self.builder.add_frame(EmbeddedFrame("iframe", url, title), title)
        else:
            self._html(html)

    def _bookmark(self, values: Values) -> None:
        metadata = values.get("metadata")
        metadata = metadata if isinstance(metadata, Mapping) else {}
        url = str(values.get("url") or metadata.get("url") or "")
        title = _words(metadata.get("title")) or url
        description = _words(metadata.get("description"))
        self._html(
            f'<p><a href="{escape(url)}">{escape(title)}</a></p>'
            + (f"<p>{escape(description)}</p>" if description else "")
        )
        self.text.simpler["bookmark"] += 1

    def _toggle(self, values: Values) -> None:
        title = _words(values.get("heading"))
        html = str(values.get("content") or "")
        builder = self.builder
        if not title or len(title) > _TITLE_MAX or "accordions" not in builder.allowed:
            self._html(f"<p><strong>{escape(title)}</strong></p>{html}")
            self.text.simpler["toggle"] += 1
            return
        part = MarkdownContent()
        part.add_html(html)
        self.text.left_out += part.left_out
        self.text.simpler += part.simpler
        blocks = frames_to_links(part.blocks)
        section: Json = {
            "title": title,
            "content": {"type": "doc", "content": cast("Json", blocks)},
        }
        last = builder.modules[-1] if builder.modules and not builder.has_text else None
        if last is not None and last.type == "accordions":
            items = last.props["items"]
            if isinstance(items, list) and len(items) < 30:
                items.append(section)
                return
        builder.add_module("accordions", {"items": [section]})

    def _buttons(self, values: Values) -> None:
        for text, address in _BUTTONS:
            url = str(values.get(address) or "")
            if url and (label := _words(values.get(text))):
                self._html(f'<p><a href="{escape(url)}">{escape(label)}</a></p>')

    def _other(self, name: str, values: Values) -> None:
        """Add the texts, picture and link of a card without an equivalent here."""
        if name in _NOT_ON_THE_SITE:
            self.text.left_out[f"card {name}, which only newsletters show"] += 1
            return
        self.text.simpler[f"card {name}"] += 1
        for key in ("productImageSrc", "imageUrl", "backgroundImageSrc"):
            if isinstance(source := values.get(key), str) and source:
                self._html(f'<p><img src="{escape(source)}" alt=""></p>')
        for key in _WORDS.get(name, ()):
            text = str(values.get(key) or "")
            if text.strip():
                self._html(text if text.lstrip().startswith("<") else f"<p>{text}</p>")
        self._buttons(values)


class _Length:
    """Counts the characters of a post."""

    def __init__(self) -> None:
        self.number = 0

    def add(self, text: str) -> str:
        """Return the text. Raises `RuleViolation` if the post is too long with it."""
        self.number += len(text)
        if self.number > MAX_CHARACTERS:
            sentence = _("The text of the post is larger than %(most)s MB.")
            raise RuleViolation(sentence % {"most": MAX_CHARACTERS // 1024**2})
        return text


class _Mobiledoc:
    """Converts sections of text to HTML. Raises `RuleViolation` if they are too long together."""

    def __init__(
        self, markups: Sequence[list[object]], atoms: Sequence[list[object]], length: _Length
    ) -> None:
        self.markups, self.atoms, self.length = markups, atoms, length

    def html(self, section: Sequence[object]) -> str:
        kind, tag = section[0] if section else None, str(section[1]) if len(section) > 1 else ""
        parts = section[2] if len(section) > 2 else None
        if kind == 3:
            tag = "ol" if tag == "ol" else "ul"
            items = "".join(f"<li>{self._line(_lists(item))}</li>" for item in _lists(parts))
            return f"<{tag}>{items}</{tag}>"
        line = self._line(_lists(parts))
        if kind != 1 or tag not in _MOBILEDOC_TAGS:
            return f"<p>{line}</p>"
        if tag in ("aside", "pull-quote", "blockquote"):
            return f"<blockquote><p>{line}</p></blockquote>"
        return f"<{tag}>{line}</{tag}>"

    def _line(self, markers: Sequence[list[object]]) -> str:
        made: list[str] = []
        opened: list[str] = []
        for marker in markers:
            if len(marker) < 4:
                continue
            kind, opening, closing, value = marker[:4]
            for number in opening if isinstance(opening, list) else ():
                begin, end = self._markup(number)
                made.append(self.length.add(begin))
                opened.append(self.length.add(end))
            text = self._atom(value) if kind == 1 else escape(str(value))
            made.append(self.length.add(text))
            count = closing if isinstance(closing, int) else 0
            for _closed in range(min(count, len(opened))):
                made.append(opened.pop())
        return "".join([*made, *reversed(opened)])

    def _markup(self, number: object) -> tuple[str, str]:
        markup = (
            self.markups[number]
            if isinstance(number, int) and 0 <= number < len(self.markups)
            else []
        )
        tag = str(markup[0]).lower() if markup else ""
        if tag not in _MARKUPS:
            return "", ""
        if tag != "a":
            return f"<{tag}>", f"</{tag}>"
        pairs = markup[1] if len(markup) > 1 and isinstance(markup[1], list) else []
        values = dict(zip(map(str, pairs[::2]), pairs[1::2], strict=False))
        return f'<a href="{escape(str(values.get("href") or ""))}">', "</a>"

    def _atom(self, number: object) -> str:
        atom = (
            self.atoms[number] if isinstance(number, int) and 0 <= number < len(self.atoms) else []
        )
        if atom and atom[0] == "soft-return":
            return "<br>"
        return escape(str(atom[1])) if len(atom) > 1 else ""


def _plain_lexical(node: object, depth: int) -> object:
    """Return a node with the names that Lexical itself uses instead of Ghost's."""
    if not isinstance(node, Mapping):
        return node
    if depth > _DEEPEST:
        raise RecursionError
    kind = str(node.get("type") or "").removeprefix("extended-")
    kind = {"aside": "quote", "at-link": "link"}.get(kind, kind)
    children = node.get("children")
    changed = {**node, "type": kind}
    if isinstance(children, list):
        changed["children"] = [_plain_lexical(child, depth + 1) for child in children]
    return changed


def _document(value: object) -> Values:
    """Return a document that is stored as JSON text; empty if there is none."""
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return value if isinstance(value, Mapping) else {}


def _image(values: Values) -> str:
    source = escape(str(values.get("src") or ""))
    alt = escape(str(values.get("alt") or ""))
    image = f'<img src="{source}" alt="{alt}">'
    href = str(values.get("href") or "")
    linked = f'<a href="{escape(href)}">{image}</a>' if href else image
    return f"<p>{linked}</p>"


def _words(html: object) -> str:
    """Return HTML as one line of text."""
    return plain_text(html) if isinstance(html, str) else ""


def _objects(value: object) -> list[Values]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _lists(value: object) -> list[list[object]]:
    return [one for one in value if isinstance(one, list)] if isinstance(value, list) else []
