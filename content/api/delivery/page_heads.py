"""The metadata of a post's page in delivery answers.

The app that renders the site's pages registers how it is computed, so that a frontend's head and the built-in site's
are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from content.models import Post
from content.store.ai_disclosure import AiDisclosure
from content.store.linked_posts import Neighbour
from media.presenters import SiteImage
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.json import JsonObject


class HeadAlternateAnswer(TypedDict):
    """The page in a language, with its absolute address; `x-default` is that for all other languages."""

    locale: str
    url: str


class HeadImageAnswer(TypedDict):
    """An image with its absolute address."""

    url: str
    alt: str
    width: int | None
    height: int | None


class OpenGraphAnswer(TypedDict):
    """The values of the Open Graph elements."""

    type: str
    title: str
    description: str
    url: str
    siteName: str
    locale: str
    image: HeadImageAnswer | None
    publishedTime: str | None
    modifiedTime: str | None


class PageHeadAnswer(TypedDict):
    """What the head of the page says, as the built-in site computes it."""

    title: str
    description: str
    canonical: str
    robots: Annotated[str, Field(description="Empty if search engines may index and follow.")]
    alternates: Annotated[
        list[HeadAlternateAnswer],
        Field(description="The page in all of its languages; empty if it has one."),
    ]
    openGraph: OpenGraphAnswer
    jsonLd: Annotated[
        list[dict[str, Any]],
        Field(description="Structured data (schema.org), one object a script."),
    ]


@dataclass(frozen=True, slots=True)
class HeadModule:
    """A module of the page. `props` include the overrides of the post."""

    id: str
    type: str
    props: JsonObject


@dataclass(frozen=True, slots=True)
class DeliveredPage:
    """What the metadata of a page is computed from, without a query.

    `images`: the page's images by id and by file name. `neighbours`: the published home pages, posts above the page
    and translations.
    """

    post: Post
    modules: Sequence[HeadModule]
    images: Mapping[str, SiteImage] = field(default_factory=dict)
    neighbours: Sequence[Neighbour] = ()
    disclosure: AiDisclosure | None = None
    author_names: Sequence[str] = ()


head_builders: ExtensionPoint[Callable[[DeliveredPage], PageHeadAnswer]] = ExtensionPoint()
"""The last registered function computes the metadata of pages."""


def build_head(page: DeliveredPage) -> PageHeadAnswer | None:
    """Return the metadata of a page; None if no app renders pages."""
    builder = next(reversed(list(head_builders)), None)
    return builder(page) if builder is not None else None


def neighbour(id_: str, locale: str, title: str, path: str, group: UUID) -> Neighbour:
    """Return a published post as a neighbour of a page."""
    return Neighbour(id=id_, locale=locale, title=title, path=path, group=group, is_published=True)
