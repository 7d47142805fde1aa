"""A value as words, with the addresses that its links and images name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from content.richtext.nodes import Node, attributes, children, kind, string

ADDRESS: Final = re.compile(r"https?://[^\s<>()\"']+")


@dataclass(frozen=True, slots=True)
class Text:
    words: str
    links: tuple[str, ...] = ()
    images: tuple[str, ...] = ()

    @property
    def all_links(self) -> tuple[str, ...]:
        """Those of links, and those that stand in the words."""
        return self.links + tuple(ADDRESS.findall(self.words))


def addresses(document: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Every link and every image address of a rich-text document, in reading order."""
    links: list[str] = []
    images: list[str] = []
    waiting: list[Node] = [document] if isinstance(document, dict) else []
    while waiting:
        node = waiting.pop()
        if kind(node) == "image":
            images.append(string(attributes(node).get("src")))
        marks = node.get("marks")
        for mark in marks if isinstance(marks, list) else []:
            if isinstance(mark, dict) and mark.get("type") == "link":
                href = string(attributes(mark).get("href"))
                if not links or links[-1] != href:
                    links.append(href)
        waiting.extend(reversed(children(node)))
    return tuple(links), tuple(images)
