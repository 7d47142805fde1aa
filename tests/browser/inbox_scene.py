"""Pending work of agents and people, for the inbox, home and the matrix."""

from __future__ import annotations

from content.models import Layer, Post
from content.translations.translate import create_translation, propose_translation
from tests import make

_TITLES = (
    "How to brew filter coffee",
    "Espresso at home",
    "Cold brew in ten minutes",
    "What a grinder does",
    "Water, the other ingredient",
)


def full(titles: tuple[str, ...] = _TITLES, typo: str = " is") -> list[Post]:
    """Create five posts: an agent corrects a typo in search texts, others change a number, a slug and a module."""
    seo, writer = make.agent_actor(), make.agent_actor("proofreader")
    posts = [
        make.post(
            title,
            metaDescription=f"{title}: what you need, and how it {typo} done",
            excerpt="Use 60 g of coffee for a litre of water, and take your time",
        )
        for title in titles
    ]
    for post in posts:
        text = f"{post.title}: what you need, and how it is done."
        make.staged(post, {"metaDescription": text}, by=seo)
    first, second, third, fourth, _ = posts
    make.staged(first, {"excerpt": "Use 65 g of coffee for a litre of water."}, by=writer)
    make.staged(second, {"slug": "espresso-without-a-cafe"}, by=seo)
    text = "Use 60 g of coffee for a litre of water, and take your time."
    make.staged(third, {"excerpt": text}, layer=Layer.REVIEW)
    make.staged_addition(
        fourth, type="prose", content_markdown="Burrs cut evenly; blades do not.", by=writer
    )
    return posts


def translated(titles: tuple[str, ...] = _TITLES, typo: str = " is") -> list[Post]:
    """Create German translations: one current, one outdated, one only proposed."""
    posts = full(titles, typo)
    for post in posts[:2]:
        create_translation(post_id=post.pk, locale="de", actor=make.actor("admin"))
    make.edited(posts[1], {"title": "Espresso at home, without noise"})
    propose_translation(post_id=posts[2].pk, locale="de", actor=make.agent_actor("translator"))
    return posts
