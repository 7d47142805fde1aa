"""Blocks of rich text, one after the other, as modules."""

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
"""What is longer stands below the module too."""
MAX_PROSE: Final = RICH_TEXT_MAX_BYTES * 3 // 4
"""Bytes of one prose module as the source has it; a longer text goes on in the next one."""


class GalleryPicture(NamedTuple):
    """A picture of a gallery by its address in the source."""

    address: str
    alt: str = ""
    caption: str = ""


def no_alt(address: str) -> str:
    """What a file is described by where the source says it at the picture only."""
    return ""


@dataclass
class ModuleBuilder:
    """Gathers text into prose, and puts other modules where they stand in it.

    `allowed` are the modules that the post may have: what would need another one becomes text. `alt_of` answers the
    alternative text that a file will have in the library. `unknown` counts what was not understood, by its name,
    `left_out` what nothing was made of, `simpler` what is kept in a simpler form.
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
        """Whether text was gathered since the last module."""
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
        """A page or film of another site as a module, else a link to it."""
        is_page = frame.address.startswith(("https://", "http://"))
        if frame.tag in _PLAYERS and is_page and "embed" in self.allowed:
            self.add_module("embed", {"url": frame.address, "title": title[:_TITLE_MAX]})
            if len(title) > _TITLE_MAX:
                self.add_blocks([text_paragraph(title, "italic")])
        else:
            self.add_blocks([link_paragraph(frame.address, title)])

    def add_module(self, type: str, props: JsonObject) -> bool:
        """Put a module after what is there. Answers False, and adds nothing, where the post may not have it."""
        if type not in self.allowed:
            return False
        self.end_prose()
        self.modules.append(ModuleItem(type, props))
        return True

    def note_alt(self, address: str, alt: str) -> None:
        """Name the alternative text of a picture in this place where modules will show another, that of its file."""
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
        """Close the text that was gathered: the next one is a module of its own."""
        if self._blocks and "prose" in self.allowed:
            document: JsonObject = {"type": "doc", "content": cast("Json", self._blocks)}
            self.modules.append(ModuleItem("prose", {"content": document}))
        elif self._blocks:
            self.unknown["text (this post type has no prose module)"] += 1
        self._blocks, self._length = [], 0

    def finish(self) -> tuple[ModuleItem, ...]:
        self.end_prose()
        return tuple(self.modules)
