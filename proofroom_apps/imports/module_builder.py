"""Converts a sequence of rich text blocks to modules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, cast

import orjson

from proofroom.core.json import Json, JsonObject
from proofroom.definitions.fields import RICH_TEXT_MAX_BYTES
from proofroom_apps.imports.html_reader import (
    EmbeddedFrame,
    image_paragraph,
    link_paragraph,
    text_paragraph,
)
from proofroom_apps.imports.items import ModuleItem

_PLAYERS: Final = frozenset({"iframe", "embed", "object"})
_TITLE_MAX: Final = 160
_CAPTION_MAX: Final = 300
"""Maximum length of a caption in characters; a longer one is also text below the module."""
# Addresses of the site may be longer than those of the source, so a part of the limit stays free.
MAX_PROSE: Final = RICH_TEXT_MAX_BYTES * 3 // 4
"""Maximum size in bytes of a prose module with the source's addresses. A longer text continues in the next one."""


class GalleryPicture(NamedTuple):
    """A picture of a gallery, by its address in the source."""

    address: str
    alt: str = ""
    caption: str = ""


def no_alt(address: str) -> str:
    """Return no alternative text, for sources that have it only at the picture."""
    return ""


@dataclass
class ModuleBuilder:
    """Collects text into prose modules, with other modules between them.

    `allowed` are the module types of the post; content for other types becomes text. `alt_of` returns the alternative
    text that a file will have in the library. `unknown`, `left_out` and `simpler` (simplified) parts are counted by
    name.
    """

    allowed: frozenset[str]
    alt_of: Callable[[str], str] = no_alt
    modules: list[ModuleItem] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    simpler: Counter[str] = field(default_factory=Counter)
    _blocks: list[JsonObject] = field(default_factory=list)
    _length: int = 0

    @property
    def has_text(self) -> bool:
        """Return whether there is text since the last module."""
        return bool(self._blocks)

    def add_blocks(self, blocks: Sequence[JsonObject | EmbeddedFrame]) -> None:
        for block in blocks:
            if isinstance(block, EmbeddedFrame):
                self.add_frame(block, block.title)
                continue
            length = len(orjson.dumps(block)) + 1
            if self._length + length > MAX_PROSE:
                self.end_prose()
            self._blocks.append(block)
            self._length += length

    def add_frame(self, frame: EmbeddedFrame, title: str = "") -> None:
        """Add an embedded page or video as a module, else as a link."""
        is_page = frame.address.startswith(("https://", "http://"))
        if frame.tag in _PLAYERS and is_page and "embed" in self.allowed:
            self.add_module("embed", {"url": frame.address, "title": title[:_TITLE_MAX]})
            if len(title) > _TITLE_MAX:
                self.add_blocks([text_paragraph(title, "italic")])
        else:
            self.add_blocks([link_paragraph(frame.address, title)])

    def add_module(self, type: str, props: JsonObject) -> bool:
        """Append a module. Returns False, and adds nothing, if the post may not have the type."""
        if type not in self.allowed:
            return False
        self.end_prose()
        self.modules.append(ModuleItem(type, props))
        return True

    def note_alt(self, address: str, alt: str) -> None:
        """Report the alternative text of a picture here if the library file has another, which modules will show."""
        words = " ".join(alt.split())
        if words and words != self.alt_of(address):
            self.left_out[f"alternative text of a picture in this place: “{words[:300]}”"] += 1

    def add_gallery(self, pictures: Sequence[GalleryPicture]) -> None:
        for start in range(0, len(pictures), 60):
            part = pictures[start : start + 60]
            items = [
                {"imageId": one.address, "caption": one.caption[:_CAPTION_MAX]} for one in part
            ]
            if self.add_module("gallery", {"items": cast("Json", items)}):
                whole = [one.caption for one in part if len(one.caption) > _CAPTION_MAX]
                self.add_blocks([text_paragraph(one, "italic") for one in whole])
                for one in part:
                    self.note_alt(one.address, one.alt)
            else:
                for one in part:
                    self.add_blocks([image_paragraph(one.address, one.alt)])
                    if one.caption:
                        self.add_blocks([text_paragraph(one.caption, "italic")])

    def end_prose(self) -> None:
        """Close the current prose module."""
        if self._blocks and "prose" in self.allowed:
            document: JsonObject = {"type": "doc", "content": cast("Json", self._blocks)}
            self.modules.append(ModuleItem("prose", {"content": document}))
        elif self._blocks:
            self.unknown["text (this post type has no prose module)"] += 1
        self._blocks, self._length = [], 0

    def finish(self) -> tuple[ModuleItem, ...]:
        self.end_prose()
        return tuple(self.modules)
