"""How a page looks as a result of a search, and as a card of a social network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest

from content.document import PostDocument
from content.models import Post
from media.models import Asset
from media.presenters import site_image

TITLE_MOST: Final = 60
WORDS_MOST: Final = 160


@dataclass(frozen=True, slots=True)
class SearchPreview:
    """The parts of a result. `path` is the address of the post as it stands."""

    host: str
    path: str
    title: str
    words: str
    image: str
    has_title: bool
    has_words: bool
    is_hidden: bool

    @property
    def trail(self) -> str:
        return " › ".join(part for part in self.path.split("/") if part)

    @property
    def is_long_title(self) -> bool:
        return len(self.title) > TITLE_MOST

    @property
    def is_long_words(self) -> bool:
        return len(self.words) > WORDS_MOST

    @property
    def cut_words(self) -> str:
        if not self.is_long_words:
            return self.words
        return self.words[: WORDS_MOST - 1].rstrip() + " …"


def search_preview(request: HttpRequest, post: Post, document: PostDocument) -> SearchPreview:
    """Of what is stored in this layer. One query where the post has an image."""
    fields = document.fields
    title, words = fields.get("metaTitle"), fields.get("metaDescription")
    robots = fields.get("robotsJson")
    id_ = fields.get("featuredMediaId")
    asset = Asset.objects.filter(pk=id_).first() if isinstance(id_, str) else None
    image = site_image(asset) if asset else None
    return SearchPreview(
        host=request.get_host(),
        path=post.path or "",
        title=str(title or fields.get("title") or ""),
        words=str(words or fields.get("excerpt") or ""),
        image=(image["srcset"].partition(" ")[0] or image["url"]) if image else "",
        has_title=bool(title),
        has_words=bool(words),
        is_hidden=isinstance(robots, dict) and robots.get("index") is False,
    )
