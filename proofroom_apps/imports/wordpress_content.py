"""Converts the content of a WordPress post to modules: blocks, classic HTML and shortcodes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape, unescape
from typing import Final, cast

from proofroom.core.json import Json, JsonObject
from proofroom.definitions.richtext.nodes import to_text
from proofroom_apps.imports.html_elements import HtmlElement
from proofroom_apps.imports.html_reader import (
    EmbeddedFrame,
    blocks_of_element,
    blocks_of_html,
    count_dropped_html,
    count_simplified_html,
    frames_to_links,
    image_paragraph,
    link_paragraph,
    parse_html,
)
from proofroom_apps.imports.items import ModuleItem, Remark, content_remarks
from proofroom_apps.imports.module_builder import GalleryPicture, ModuleBuilder, no_alt
from proofroom_apps.imports.wordpress_attributes import (
    AttributeValue,
    attribute_values,
    override_html,
    plain_words,
)

_COMMENT: Final = re.compile(
    r"<!--\s+(?P<close>/)?wp:(?P<name>[a-z][a-z0-9_-]*(?:/[a-z][a-z0-9_-]*)?)(?=\s)"
)
_MAX_ARROWS: Final = 20
"""Maximum number of `-->` in a block's attributes before the one that ends it."""
_SHORTCODE: Final = re.compile(
    r"\[(?P<escaped>\[)?(?P<close>/)?(?P<name>[a-zA-Z][\w-]{1,60})"
    r"(?P<attrs>(?:\s[^\[\]]{0,2000})?)\](?(escaped)\])"
)
_ATTRIBUTE: Final = re.compile(r"""(?<![\w-])([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))""")
# Words that authors write in square brackets.
_NOT_CODES: Final = frozenset({"x", "sic", "note", "todo", "ref", "link", "here"})
_CONTAINERS: Final = frozenset(
    {"social-links", "group", "columns", "column", "row", "stack", "freeform-group"}
)
_TEXT_BLOCKS: Final = frozenset(
    {"paragraph", "heading", "list", "list-item", "quote", "code", "preformatted", "verse", "table"}
    | {
        "image",
        "separator",
        "html",
        "freeform",
        "button",
        "buttons",
        "file",
        "missing",
        "footnotes",
    }
    | {"subhead", "social-links", "social-link", "audio", "video", "classic", "cover-text", "math"}
)
_SILENT: Final = frozenset({"nextpage", "spacer"})
_PICTURE: Final = re.compile(r"\.(?:jpe?g|png|gif|webp|avif)(?:$|[?#])", re.IGNORECASE)
_MORE: Final = re.compile(r"<!--more\s+([^<>]*?)\s*-->")
_DEEPEST: Final = 30
_MAX_REUSED: Final = 200
"""Maximum number of reusable blocks in a post."""


@dataclass(slots=True)
class Block:
    """A block of the editor; `name` is empty for HTML between blocks."""

    name: str
    attributes: Mapping[str, Json] = field(default_factory=dict)
    content: list[Block | str] = field(default_factory=list)

    @property
    def html(self) -> str:
        """Return the HTML of the block and its inner blocks."""
        return "".join(part if isinstance(part, str) else part.html for part in self.content)

    @property
    def blocks(self) -> Iterator[Block]:
        return (part for part in self.content if isinstance(part, Block))


def parse_blocks(content: str) -> Block:
    """Return the blocks of a post in a root block without name. Unclosed blocks end with the post."""
    root = Block("")
    open_blocks = [root]
    end = at = 0
    while (found := _COMMENT.search(content, at)) is not None:
        comment = _comment_of(content, found.end())
        if comment is None:
            break
        attrs, is_empty, at = comment
        if attrs is None:
            continue
        if found.start() > end:
            open_blocks[-1].content.append(content[end : found.start()])
        end = at
        name = found["name"].removeprefix("core/")
        if found["close"]:
            names = [block.name for block in open_blocks]
            if name in names[1:]:
                del open_blocks[len(names) - names[::-1].index(name) - 1 :]
            continue
        attributes: Json = {}
        try:
            attributes = json.loads(attrs or "{}")
        except (ValueError, RecursionError):
            attributes = {}
        block = Block(name, attributes if isinstance(attributes, dict) else {})
        open_blocks[-1].content.append(block)
        if not is_empty and len(open_blocks) < _DEEPEST:
            open_blocks.append(block)
    open_blocks[-1].content.append(content[end:])
    return root


def _comment_of(content: str, start: int) -> tuple[str | None, bool, int] | None:
    """Return a block's attributes, whether it is empty, and the end of its comment.

    None if no comment ends after `start`. The attributes are None if it is another comment. Reads each character a
    bounded number of times.
    """
    close = content.find("-->", start)
    if close < 0:
        return None
    end = close
    for _number in range(_MAX_ARROWS):
        rest = content[start:end].strip()
        attrs = rest.removesuffix("/").rstrip()
        if not attrs or (attrs.startswith("{") and attrs.endswith("}")):
            return attrs, rest.endswith("/"), end + 3
        if not attrs.startswith("{") or (end := content.find("-->", end + 3)) < 0:
            break
    return None, False, close + 3


@dataclass
class WordPressContent:
    """Reads the contents of posts.

    `attachment` returns the address of a file by its id, `reusable` the content of a shared block, `alt_of` the
    alternative text of a file by its address in the content.
    """

    allowed: frozenset[str]
    attachment: Callable[[str], str]
    reusable: Callable[[str], str]
    attached_images: Callable[[str], list[str]]
    alt_of: Callable[[str], str] = no_alt

    def read(
        self, content: str, post_id: str = "", place: str = ""
    ) -> tuple[tuple[ModuleItem, ...], list[Remark]]:
        """Return the modules, and remarks on the text."""
        builder = ModuleBuilder(self.allowed, self.alt_of)
        reading = _BlockReading(self, builder, post_id)
        if "<!-- wp:" in content:
            reading.children(parse_blocks(content), 0)
        else:
            reading.html(content, has_bare_lines=True)
        modules = builder.finish()
        counts = {
            "unknown": builder.unknown, "left_out": builder.left_out, "simpler": builder.simpler
        }  # fmt: skip
        return modules, list(content_remarks(place, **counts))


@dataclass
class _BlockReading:
    source: WordPressContent
    builder: ModuleBuilder
    post_id: str
    shown_in: list[str] = field(default_factory=list)
    """Reusable blocks being read, outermost first."""
    reused: int = 0

    def children(self, block: Block, depth: int) -> None:
        text: list[str] = []

        def flush() -> None:
            joined = "".join(text)
            text.clear()
            if joined.strip():
                self.html(joined, has_bare_lines=not block.name)

        for part in block.content:
            if isinstance(part, str):
                # Wrapper elements of a container have no content.
                if block.name not in _CONTAINERS:
                    text.append(part)
                elif bare := re.sub(r"<[^<>]*>", "", part).strip():
                    text.append(bare)
                continue
            flush()
            self.block(part, depth + 1)
        flush()

    def block(self, block: Block, depth: int) -> None:
        name = block.name
        if name in _SILENT:
            return
        if depth > _DEEPEST:
            self.builder.unknown[f"block {name}, nested too deeply"] += 1
            self.html(block.html)
            return
        # A slash marks a plugin's block, which these methods do not know.
        read = getattr(self, f"read_{name.replace('-', '_')}", None) if "/" not in name else None
        if name.startswith("core-embed/"):
            self.read_embed(block, depth)
        elif read is not None:
            read(block, depth)
        elif name in _CONTAINERS:
            self.children(block, depth)
        elif name in _TEXT_BLOCKS:
            self.html(block.html)
        else:
            is_empty = not re.sub(r"<[^<>]*>", "", block.html).strip()
            is_empty &= not self.attributes(block)
            self.builder.unknown[f"block {name}" + (", which has no text" if is_empty else "")] += 1
            if any(block.blocks):
                self.children(block, depth)
            else:
                self.html(block.html)

    def attributes(self, block: Block) -> bool:
        """Add the readable attributes of a plugin's block, which has most of its text there.

        For WordPress' own blocks they are labels of unsupported features, and only reported. Return whether there was
        any text.
        """
        shown = " ".join(unescape(re.sub(r"<[^<>]*>", " ", block.html)).split())
        values = [
            one for one in attribute_values(block.attributes)
            if not one.text or one.kind == "image" or " ".join(one.text.split()) not in shown
        ]  # fmt: skip
        if "/" not in block.name:
            if words := plain_words(values):
                self.builder.left_out[f"words of block {block.name}: {words}"] += 1
            return False
        for kind, text, address in values:
            if kind == "link":
                self.builder.add_blocks([link_paragraph(address, text)])
            elif kind == "image":
                if source := self.source.attachment(text):
                    self.builder.add_blocks([image_paragraph(source)])
            elif "<" in text:
                self.html(text, has_bare_lines=True)
            else:
                self.builder.add_blocks(blocks_of_html(escape(text), has_bare_lines=True))
        return bool(values)

    def read_more(self, block: Block, depth: int) -> None:
        text = block.attributes.get("customText")
        found = _MORE.search(block.html)
        self.more(text if isinstance(text, str) else found[1] if found else "")

    def more(self, text: str) -> None:
        """Report the text of a "more" link; lists on this site have their own."""
        if words := plain_words([AttributeValue("words", text)]):
            self.builder.left_out[f"words of the “more” link: {words}"] += 1

    def read_gallery(self, block: Block, depth: int) -> None:
        root = parse_html(_bare(block.html))
        figures = list(_figures(root))
        pictures = [_picture(figure) for figure in figures]
        if not pictures and isinstance(ids := block.attributes.get("ids"), list):
            pictures = [GalleryPicture(self.source.attachment(str(id_))) for id_ in ids]
            missing = sum(not picture.address for picture in pictures)
            self.builder.left_out["picture of a gallery that is not in the file"] += missing
        self.builder.add_gallery([picture for picture in pictures if picture.address])
        self.name_links(*figures)
        for caption in root.find("figcaption"):
            if "blocks-gallery-caption" in caption.classes:
                self.caption(caption)

    def caption(self, caption: HtmlElement) -> None:
        """Add a caption with its links below a module."""
        self.builder.add_blocks(blocks_of_element(HtmlElement("body", {}, [caption])))

    def name_links(self, *elements: HtmlElement) -> None:
        """Report links and titles in content that becomes plain text, except links to the picture itself."""
        for one in (one for element in elements for one in element.find("a", "img")):
            address = one.attributes.get("href", "")
            words = " ".join(one.text.split())[:100]
            if address and not (_PICTURE.search(address) and any(one.find("img"))):
                name = f"link of “{words}”" if words else "link of a picture"
                self.builder.left_out[f"{name}: {address[:300]}"] += 1
            if title := " ".join(one.attributes.get("title", "").split()):
                self.builder.left_out[f"title of a picture or link: “{title[:300]}”"] += 1

    def read_embed(self, block: Block, depth: int) -> None:
        url = block.attributes.get("url")
        root = parse_html(_bare(block.html))
        if not isinstance(url, str):
            url = next(iter(re.findall(r"https?://\S+", root.text)), "")
        captions = list(root.find("figcaption"))
        caption = captions[0].text.strip() if captions else ""
        if url:
            self.builder.add_frame(EmbeddedFrame("iframe", url), caption)
            self.name_links(*captions)
        else:
            self.builder.unknown[f"block {block.name} without an address"] += 1
            self.html(block.html)

    def read_pullquote(self, block: Block, depth: int) -> None:
        root = parse_html(_bare(block.html))
        who = next((one.text.strip() for one in root.find("cite")), "")
        quote = "\n".join(one.text.strip() for one in root.find("p")).strip()
        fits = bool(quote) and len(quote) <= 1200 and len(who) <= 120
        # The module is used only if it has a place for every word.
        fits = fits and not Counter(root.text.split()) - Counter(f"{quote} {who}".split())
        fits = fits and not any(root.find("a", "img"))
        props: JsonObject = {"quote": quote, "who": " ".join(who.split()), "look": "large"}
        if not (fits and self.builder.add_module("blockquote", props)):
            self.html(block.html)

    def read_media_text(self, block: Block, depth: int) -> None:
        root = parse_html(_bare(block.html))
        image = next(root.find("img"), None)
        figure = next(root.find("figure"), None)
        if image is None or "prose-with-media" not in self.builder.allowed:
            self.html(block.html)
            return
        for element in (root, *root.find("div")):
            element.content = [child for child in element.content if child is not figure]
        props: JsonObject = {
            "content": _document(frames_to_links(blocks_of_element(root))),
            "imageId": image.attributes.get("src", ""),
            "side": "end" if block.attributes.get("mediaPosition") == "right" else "start",
        }
        self.builder.add_module("prose-with-media", props)
        self.builder.note_alt(str(props["imageId"]), image.attributes.get("alt", ""))
        if figure is not None:
            bare = [
                one for one in figure.content if isinstance(one, str) or one.tag != "figcaption"
            ]
            self.name_links(HtmlElement("body", {}, [*bare]))
            for caption in figure.find("figcaption"):
                self.caption(caption)

    def read_cover(self, block: Block, depth: int) -> None:
        url = block.attributes.get("url")
        root = parse_html(_bare(block.html))
        if not isinstance(url, str):
            url = next((one.attributes.get("src", "") for one in root.find("img")), "")
        given = block.attributes.get("alt")
        alt = next((one.attributes.get("alt", "") for one in root.find("img")), "")
        alt = alt or (given if isinstance(given, str) else "")
        title = next((" ".join(one.text.split()) for one in root.find("h1", "h2", "h3")), "")
        lines = [" ".join(one.text.split()) for one in root.find("p")]
        is_first = not self.builder.modules and not self.builder.has_text
        fits = bool(title) and len(title) <= 160 and len(" ".join(lines)) <= 400
        buttons = [one for one in root.find("a") if one.text.strip()]
        labels = [" ".join(one.text.split()) for one in buttons]
        # Use a module only if it can store all texts of the cover and there is no second picture.
        words = Counter(" ".join([title, *lines, *labels]).split())
        fits = (
            fits
            and not Counter(root.text.split()) - words
            and all(len(one) <= 60 for one in labels)
        )
        fits = fits and all(one.attributes.get("src") == url for one in root.find("img"))
        if is_first and fits and len(buttons) <= 1 and not any(root.find("ul", "ol", "table")):
            props: JsonObject = {"title": title, "subtitle": " ".join(lines)}
            if url:
                props["imageId"] = url
            if buttons:
                props["ctaLabel"] = labels[0]
                props["ctaUrl"] = buttons[0].attributes.get("href", "")
            if self.builder.add_module("hero", props):
                self.builder.note_alt(url, alt)
                return
        if url and block.attributes.get("backgroundType") == "video":
            self.builder.add_frame(EmbeddedFrame("video", url))
        elif url:
            self.builder.add_blocks([image_paragraph(url, alt)])
        if any(block.blocks):
            self.children(Block("group", {}, block.content), depth)
            return
        for element in (root, *root.find("div", "section", "p")):
            element.content = [
                one
                for one in element.content
                if isinstance(one, str) or one.tag not in ("img", "video")
            ]
        self.builder.add_blocks(blocks_of_element(root))

    def read_details(self, block: Block, depth: int) -> None:
        root = parse_html(_bare(block.html))
        summary = next(root.find("summary"), None)
        title = " ".join(summary.text.split()) if summary else ""
        if not title or len(title) > 160 or "accordions" not in self.builder.allowed:
            self.html(block.html)
            return
        for element in (root, *root.find("details")):
            element.content = [child for child in element.content if child is not summary]
        section: JsonObject = {
            "title": title,
            "content": _document(frames_to_links(blocks_of_element(root))),
        }
        if summary is not None:
            self.name_links(summary)
        last = self.builder.modules[-1] if self.builder.modules else None
        if last is not None and last.type == "accordions" and not self.builder.has_text:
            sections = cast("list[Json]", last.props["items"])
            # The module's limit of items.
            if len(sections) < 30:
                sections.append(section)
                return
        self.builder.add_module("accordions", {"items": [section]})

    def read_block(self, block: Block, depth: int) -> None:
        name = str(block.attributes.get("ref") or "")
        content = self.source.reusable(name)
        if not content:
            self.builder.unknown["reusable block that is not in the file"] += 1
            return
        # A block that contains itself would never end, and blocks that repeat others would grow exponentially.
        if name in self.shown_in or self.reused >= _MAX_REUSED:
            self.builder.left_out["reusable block that is in itself, or one too many"] += 1
            return
        pattern = parse_blocks(content)
        own = block.attributes.get("content")
        if isinstance(own, dict):
            lost = _override(pattern, dict(own))
            if words := plain_words(lost):
                self.builder.left_out[
                    f"own words of a synced pattern, which has no place for them: {words}"
                ] += 1
        self.reused += 1
        self.shown_in.append(name)
        self.children(pattern, depth + 1)
        self.shown_in.pop()

    def read_social_link(self, block: Block, depth: int) -> None:
        """Add a social icon as a link with its name."""
        url, values = block.attributes.get("url"), block.attributes
        label = str(values.get("label") or values.get("service") or url)
        if isinstance(url, str) and url:
            self.builder.add_blocks([link_paragraph(url, label)])
        else:
            self.builder.left_out["social link without an address"] += 1

    def read_file(self, block: Block, depth: int) -> None:
        # The file's name and the button beside it are two links: without a space, their texts would run together.
        self.html(block.html.replace("</a><a", "</a> <a"))

    def read_shortcode(self, block: Block, depth: int) -> None:
        self.html(block.html, has_bare_lines=True)

    def html(self, html: str, *, has_bare_lines: bool = False) -> None:
        """Add HTML with shortcodes."""
        for found in _MORE.finditer(html):
            self.more(found[1])
        html = _MORE.sub("", html)
        self.builder.left_out += count_dropped_html(html)
        self.builder.simpler += count_simplified_html(html)
        html = _bare(html)
        parts: list[str] = []
        end = 0

        def flush() -> None:
            joined = "".join(parts)
            parts.clear()
            if not joined.strip():
                return
            blocks = blocks_of_html(joined, has_bare_lines=has_bare_lines)
            for block in blocks:
                bare = _bare_address(block) if has_bare_lines else ""
                self.builder.add_blocks([EmbeddedFrame("iframe", bare) if bare else block])

        waiting: tuple[str, Mapping[str, str], int] | None = None
        codes = list(_SHORTCODE.finditer(html))
        # Found in advance: a search from each code to the end would take quadratic time.
        last_closes = {code["name"].lower(): code.start() for code in codes if code["close"]}
        for found in codes:
            name = found["name"].lower()
            if (
                # `[[name]]` is the way to write a code as text.
                found["escaped"]
                or name in _NOT_CODES
                or html[found.start() - 1 : found.start()] == "="
            ):
                continue
            if waiting is not None:
                if not (found["close"] and name == waiting[0]):
                    continue
                code, values, start = waiting
                waiting = None
                inside = html[start : found.start()]
                end = found.end()
                if code == "caption" or code == "wp_caption":
                    parts.append(_captioned(inside, values))
                elif code == "code" or code == "sourcecode":
                    code_text = inside.replace("<", "&lt;").replace(">", "&gt;")
                    parts.append(f"<pre><code>{code_text}</code></pre>")
                else:
                    flush()
                    self.frame(inside.strip(), code)
                continue
            values = _attributes_of(found["attrs"])
            if name in (
                "caption",
                "wp_caption",
                "embed",
                "code",
                "sourcecode",
                "youtube",
                "vimeo",
            ) and (not found["close"] and last_closes.get(name, -1) > found.start()):
                parts.append(html[end : found.start()])
                waiting = (name, values, found.end())
                end = found.end()
            elif name == "gallery" and not found["close"]:
                parts.append(html[end : found.start()])
                end = found.end()
                flush()
                self.gallery(values)
            elif name in ("video", "audio", "youtube", "vimeo", "playlist") and not found["close"]:
                parts.append(html[end : found.start()])
                end = found.end()
                flush()
                kinds = (
                    "src",
                    "mp4",
                    "webm",
                    "m4v",
                    "ogv",
                    "mp3",
                    "m4a",
                    "ogg",
                    "wav",
                    "url",
                    "id",
                )
                self.frame(next((values[kind] for kind in kinds if kind in values), ""), name)
            elif name in ("video", "audio") and found["close"]:
                parts.append(html[end : found.start()])
                end = found.end()
            elif not found["close"]:
                # The text stays, so that an editor sees the place.
                self.builder.unknown[f"shortcode [{name}]"] += 1
        parts.append(html[end:])
        flush()

    def frame(self, address: str, code: str) -> None:
        address = re.sub(r"<[^<>]*>", "", address).strip()
        if code == "youtube" and re.fullmatch(r"[\w-]{6,20}", address):
            address = f"https://www.youtube.com/watch?v={address}"
        if code == "vimeo" and address.isdigit():
            address = f"https://vimeo.com/{address}"
        tag = code if code in ("video", "audio") else "iframe"
        if address.startswith(("http://", "https://", "/")):
            self.builder.add_frame(EmbeddedFrame(tag, address))
        else:
            self.builder.unknown[f"shortcode [{code}]"] += 1

    def gallery(self, values: Mapping[str, str]) -> None:
        ids = [part.strip() for part in values.get("ids", values.get("include", "")).split(",")]
        addresses = [self.source.attachment(id_) for id_ in ids if id_]
        # Without ids, WordPress shows the pictures that are attached to the post.
        if not any(ids):
            addresses = self.source.attached_images(self.post_id)
        found = [GalleryPicture(address) for address in addresses if address]
        if found:
            missing = len(addresses) - len(found)
            self.builder.left_out["picture of a gallery that is not in the file"] += missing
        if found:
            self.builder.add_gallery(found)
        else:
            self.builder.unknown["gallery whose pictures are not in the file"] += 1


def _override(pattern: Block, own: dict[str, Json]) -> list[AttributeValue]:
    """Apply the overrides of a synced pattern to its blocks by name. Return the values without a block."""
    lost: list[AttributeValue] = []
    waiting = [pattern]
    while waiting:
        block = waiting.pop()
        waiting += block.blocks
        metadata = block.attributes.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        values = own.get(name) if isinstance(name, str) else None
        if isinstance(name, str) and isinstance(values, dict) and not any(block.blocks):
            html, without_place = override_html(block.html, values)
            block.content[:] = [html]
            lost += without_place
            del own[name]
    return lost + attribute_values(own)


def _bare(html: str) -> str:
    """Return the HTML without comments; an unclosed one stays. A page break also ends the paragraph.

    Reads each character once.
    """
    parts: list[str] = []
    end = 0
    while (start := html.find("<!--", end)) >= 0 and (close := html.find("-->", start + 4)) >= 0:
        parts.append(html[end:start])
        if html[start + 4 : close].strip() == "nextpage":
            parts.append("\n\n")
        end = close + 3
    return "".join([*parts, html[end:]])


def _figures(root: HtmlElement) -> Iterator[HtmlElement]:
    """Yield the innermost figures or items with one picture each."""
    inner = [
        one
        for one in root.find("figure", "li")
        if any(one.find("img"))
        and not any(any(each.find("img")) for each in one.find("figure", "li"))
    ]
    yield from inner or root.find("img")


def _picture(element: HtmlElement) -> GalleryPicture:
    image = element if element.tag == "img" else next(element.find("img"))
    caption = next((one.text for one in element.find("figcaption")), "")
    values = image.attributes
    return GalleryPicture(
        values.get("src") or values.get("data-src", ""),
        values.get("alt", ""),
        " ".join(caption.split()),
    )


def _document(blocks: list[JsonObject]) -> JsonObject:
    return {"type": "doc", "content": cast("Json", blocks or [{"type": "paragraph"}])}


def _attributes_of(text: str) -> dict[str, str]:
    return {
        found[1].lower(): found[2] or found[3] or found[4] or ""
        # WordPress turns straight quotes into typographic ones.
        for found in _ATTRIBUTE.finditer(text.replace("”", '"').replace("“", '"').replace("″", '"'))
    }


def _captioned(inside: str, values: Mapping[str, str]) -> str:
    """Return a picture and its caption: an attribute in old posts, else the text after the picture."""
    caption = values.get("caption", "")
    if not caption:
        found = re.match(r"\s*((?:<a\b[^>]*>\s*)?<img\b[^>]*>(?:\s*</a>)?)(.*)", inside, re.DOTALL)
        if found:
            inside, caption = found[1], found[2].strip()
    return f"\n\n<figure>{inside}<figcaption>{caption}</figcaption></figure>\n\n"


def _bare_address(block: JsonObject | EmbeddedFrame) -> str:
    """Return the address if a paragraph is only a video's address, which WordPress embeds; otherwise empty."""
    if isinstance(block, EmbeddedFrame) or block["type"] != "paragraph":
        return ""
    text = to_text({"type": "doc", "content": [block]}).strip()
    hosts = r"https?://(?:www\.|m\.)?(?:youtube\.com|youtu\.be|vimeo\.com|player\.vimeo\.com)/\S+"
    return text if re.fullmatch(hosts, text) else ""
