"""The base of modules that show other posts: chosen ones, or the newest of a type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from proofroom.core.json import Json
from proofroom.definitions.fields import Boolean, ModuleProps, Number, Text, Textarea
from proofroom.definitions.module import Module, PostList

MOST_CARDS = 24


class ListingProps(ModuleProps):
    """A listing adds `post_ids` (with its type) and `term_id` to these."""

    heading: str = Text(max_length=160)
    intro: str = Textarea(max_length=600, label="Introduction")
    count: int = Number(
        default=3, minimum=1, maximum=MOST_CARDS, label="How many", help="Of the newest posts."
    )
    show_all_link: bool = Boolean(default=True, label="Link to all of them")
    all_label: str = Text(max_length=60, label="Text of that link", help="Empty says See all.")


class Listing(Module):
    """Shows posts of `post_type` as cards: those of `post_ids` in their order, else the newest."""

    post_type: ClassVar[str]
    stylesheet: ClassVar[str] = "cms/modules/post-lists.css"
    Props: ClassVar[type[ModuleProps]] = ListingProps

    @classmethod
    def lists(cls, props: Mapping[str, Json]) -> Iterable[PostList]:
        wanted = cls._newest(props)
        return () if wanted is None else (wanted,)

    @classmethod
    def template_context(
        cls, props: Mapping[str, Json], context: Mapping[str, object]
    ) -> Mapping[str, object]:
        """`cards`, and the address of the page that lists the type."""
        # The site stands above the definitions.
        from proofroom.definitions.list_urls import list_path

        path = list_path(cls.post_type, str(context.get("locale"))) if props["showAllLink"] else ""
        return {"cards": cls._cards(props, context), "all_url": path}

    @classmethod
    def _cards(cls, props: Mapping[str, Json], context: Mapping[str, object]) -> Sequence[object]:
        wanted = cls._newest(props)
        found = context.get("posts" if wanted is None else "lists")
        if not isinstance(found, Mapping):
            return ()
        if wanted is not None:
            listed: Sequence[object] = found.get(wanted, ())
            return listed
        chosen = [found[id_] for id_ in _chosen(props) if id_ in found]
        # Two languages of one post are the same one here.
        return list({card.id: card for card in chosen if card.type == cls.post_type}.values())

    @classmethod
    def _newest(cls, props: Mapping[str, Json]) -> PostList | None:
        """None where posts were chosen."""
        if _chosen(props):
            return None
        count, term = props.get("count"), props.get("termId")
        limit = count if isinstance(count, int) and not isinstance(count, bool) else 3
        terms = (term,) if isinstance(term, str) and term else ()
        return PostList(cls.post_type, min(limit, MOST_CARDS), terms)


def _chosen(props: Mapping[str, Json]) -> list[str]:
    ids = props.get("postIds")
    return (
        [id_ for id_ in ids if isinstance(id_, str)][:MOST_CARDS] if isinstance(ids, list) else []
    )
