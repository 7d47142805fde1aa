"""Elements of parsed HTML, and their text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from proofroom.definitions.richtext.nodes import script_text

MARKS: Final = {
    "strong": "bold", "b": "bold", "em": "italic", "i": "italic", "cite": "italic", "dfn": "italic",
    "var": "italic", "s": "strike", "del": "strike", "strike": "strike", "code": "code", "kbd": "code",
    "samp": "code", "tt": "code", "sup": "superscript", "sub": "subscript",
}  # fmt: skip


@dataclass(slots=True)
class HtmlElement:
    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    content: list[HtmlElement | str] = field(default_factory=list)

    def find(self, *tags: str) -> Iterator[HtmlElement]:
        """Yield the descendants with these tags in document order."""
        for child in self.content:
            if isinstance(child, HtmlElement):
                if child.tag in tags:
                    yield child
                yield from child.find(*tags)

    @property
    def text(self) -> str:
        text = "".join(child if isinstance(child, str) else child.text for child in self.content)
        if self.tag in PLAIN_SIGNS and text.strip():
            begin, end = PLAIN_SIGNS[self.tag]
            return begin + text + end
        return script_text(text, MARKS.get(self.tag, ""))

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())


PLAIN_SIGNS: Final = {
    "q": ("“", "”"), "rt": ("(", ")"), "s": ("~~", "~~"), "del": ("~~", "~~"), "strike": ("~~", "~~"),
}  # fmt: skip
"""Signs around the text of elements that change its meaning."""
SIGNS: Final = re.compile(
    r"<(?P<tag>sup|sub|s|del|strike|q|rt)(?:\s[^<>]*)?>(?P<text>[^<>]{1,200})</(?P=tag)\s*>",
    re.IGNORECASE,
)
