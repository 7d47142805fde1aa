"""What a post says of itself in one line, for search engines, feeds and lists in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from content.models import Post
from proofroom.definitions import custom_text_of, text_of
from proofroom.website.rendering import RenderableModule

_LONGEST: Final = 160


def description_of(post: Post, items: Sequence[RenderableModule]) -> str:
    """What its authors wrote for that, else the first words of the page, else the title."""
    written = one_line(post.meta_description or "") or one_line(post.excerpt)
    return written or first_words(" ".join(_texts(post, items))) or post.title


def one_line(text: str) -> str:
    return " ".join(text.split())


def first_words(text: str, longest: int = _LONGEST) -> str:
    """The beginning of a text in one line, cut between two words where it is longer."""
    line = one_line(text[: longest * 4])
    if len(line) <= longest:
        return line
    cut = line[:longest].rpartition(" ")[0] or line[: longest - 1]
    return f"{cut.rstrip(' ,;:–-')}…"


def _texts(post: Post, items: Sequence[RenderableModule]) -> Iterator[str]:
    yield custom_text_of(post.type, post.custom_fields)
    size = 0
    for item in items:
        text = text_of(item.type, item.props)
        size += len(text)
        yield text
        if size > _LONGEST * 4:
            return
