"""All that the page of a post shows beside its own fields and props: three queries at most, with those of the
surroundings five."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from content.menus.links import PageLocation
from content.models import Post
from media.presenters import SiteImage
from proofroom.definitions import PostList
from proofroom.website.module_sources import module_sources
from proofroom.website.page_frame import Surroundings, surroundings_of
from proofroom.website.page_media import images
from proofroom.website.post_cards import PostCard, card_of, media_of
from proofroom.website.prefetch import needs_of
from proofroom.website.rendering import RenderableModule


@dataclass(frozen=True, slots=True)
class PageData:
    """What was loaded for a page. `sources` is by the names that apps above content registered."""

    around: Surroundings
    media: Mapping[str, SiteImage]
    posts: Mapping[str, PostCard]
    lists: Mapping[PostList, Sequence[PostCard]]
    sources: Mapping[str, Mapping[str, object]]

    def context(self) -> dict[str, object]:
        """The names that the templates of modules know it by."""
        return {**self.sources, "media": self.media, "posts": self.posts, "lists": self.lists}


def data_of(post: Post, items: Sequence[RenderableModule]) -> PageData:
    """At most four queries, and one for each source: menus, linked posts, files."""
    needs = needs_of(post, items)
    around = surroundings_of(
        PageLocation(post.path, post.locale),
        group=post.translation_group,
        post_ids=needs.post_ids,
        lists=tuple(needs.lists),
    )
    found = around.linked
    named = {
        str(id_): found.referenced[str(id_)]
        for id_ in needs.post_ids
        if str(id_) in found.referenced
    }
    for rows in (named.values(), *found.listed.values()):
        needs.media.update(id_ for row in rows for id_ in media_of(row))
    media = images(needs.media, post.locale)
    return PageData(
        around=around,
        media=media,
        posts={id_: card_of(row, media) for id_, row in named.items()},
        lists={
            wanted: [card_of(row, media) for row in rows] for wanted, rows in found.listed.items()
        },
        sources={
            source.name: source.load(sorted(needs.named[source.name]), post.locale)
            for source in module_sources
            if source.name in needs.named
        },
    )
