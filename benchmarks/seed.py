"""The posts for the benchmarks: 10,000 with five modules each, written in bulk.

No two modules have the same words, because the product caches rendered modules by content, for all posts.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from uuid import UUID

import orjson
from django.db import connection, models

from content.models import ModuleInstance, Post, PostModule, PostTerm
from content.store import search
from content.store.post_paths import path_for
from proofroom.accounts.models import User
from proofroom.accounts.roles import Role
from proofroom.core.caching.content_version import bump_content_version
from proofroom.core.json import JsonObject
from proofroom.definitions import find_post_type
from proofroom.taxonomies.models import Term

WORDS = """
    garden kettle filter bloom pour roast bean water grind scale time taste river street path
    morning winter repair tool wheel chain bread flour oven slow table window light paper letter
""".split()  # noqa: SIM905  # thirty lines otherwise
LOCALES = ("en", "de")
TAXONOMY = "topics"
TYPES = ("blog", "blog", "blog", "page", "testimonial")
STATUSES = ("published",) * 14 + ("draft",) * 5 + ("archived",)
BATCH = 1000
_dice = random.Random(7)  # noqa: S311  # the same rows each time
_SPREAD_TIMES = """
    UPDATE content_post SET created_at = moment, updated_at = moment FROM (
        SELECT id, timestamptz '2026-01-01' + make_interval(mins => hashtext(id::text) & 262143)
            AS moment FROM content_post
    ) AS made WHERE made.id = content_post.id
"""


@dataclass(frozen=True, slots=True)
class Seeded:
    """The seeded content: ids and paths of published posts, ids of all posts, and an editor."""

    published: list[str]
    pages: list[str]
    any: list[str]
    editor_id: int


def seed(posts: int) -> Seeded:
    """Fill the migrated, empty database, always with the same rows."""
    editor = User.objects.create_user("editor@example.com", "demo-password", role=Role.EDITOR)
    terms = [
        Term(taxonomy=TAXONOMY, slug=f"topic-{number}", name=f"Topic {number}")
        for number in range(20)
    ]
    Term.objects.bulk_create(terms)
    rows = [_post(number, editor.pk) for number in range(posts)]
    in_batches(rows)
    seen: set[bytes] = set()
    for begin in range(0, posts, BATCH):
        _add_modules(rows[begin : begin + BATCH], seen)
    # Only for types that use the taxonomy. An import of an archive would refuse other terms.
    in_batches(
        [
            PostTerm(post=post, term=term)
            for post in rows
            if any(use.slug == TAXONOMY for use in find_post_type(post.type).taxonomies)
            for term in _dice.sample(terms, 2)
        ]
    )
    search.reindex([post.pk for post in rows])
    # The model sets these to the time of the insert, which would be equal within a batch.
    bump_content_version()
    with connection.cursor() as cursor:
        cursor.execute(_SPREAD_TIMES)
        cursor.execute("VACUUM ANALYZE")
    live = [post for post in rows if post.status == "published"]
    return Seeded(
        published=[str(post.pk) for post in live],
        pages=[post.path for post in live if post.type == "blog" and post.locale == "en"],
        any=[str(post.pk) for post in rows],
        editor_id=editor.pk,
    )


def in_batches(rows: Sequence[models.Model]) -> None:
    type(rows[0])._default_manager.bulk_create(rows, batch_size=BATCH)


def _uuid() -> UUID:
    return UUID(int=_dice.getrandbits(128), version=4)


def _words(count: int) -> str:
    return " ".join(_dice.choices(WORDS, k=count))


def _post(number: int, author_id: int) -> Post:
    moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=_dice.randrange(400_000))
    group, locale = divmod(number, len(LOCALES))
    post = Post(
        id=_uuid(),
        type=TYPES[group % len(TYPES)],
        locale=LOCALES[locale],
        slug=f"post-{group}",
        title=f"{_words(5).capitalize()} {number}",
        excerpt=_words(20),
        status=STATUSES[number % len(STATUSES)],
        meta_title=_words(6),
        translation_group=UUID(int=group + 1),
        author_id=author_id,
    )
    post.published_at = moment if post.status == "published" else None
    post.created_at = moment
    post.path = path_for(post)
    return post


def _add_modules(posts: Sequence[Post], seen: set[bytes]) -> None:
    """Add modules to the posts. Raises `SystemExit` if a module's words are in `seen`."""
    instances: list[ModuleInstance] = []
    places: list[PostModule] = []
    for post in posts:
        for index, (type_name, props) in enumerate(new_modules()):
            digest = blake2b(orjson.dumps(props), digest_size=16).digest()
            if digest in seen:
                raise SystemExit(f"Two modules of the seed have the same words: {props!r:.200}")
            seen.add(digest)
            instance = ModuleInstance(id=_uuid(), type=type_name, scope="local", props=props)
            instances.append(instance)
            places.append(PostModule(id=_uuid(), post=post, instance=instance, order_index=index))
    in_batches(instances)
    in_batches(places)


def rich_text(paragraphs: Sequence[str]) -> JsonObject:
    """Return paragraphs as rich text. Parsing Markdown would take most of the seeding time."""
    return {
        "type": "doc",
        "content": [
            {"type": "paragraph", "content": [{"type": "text", "text": text}]}
            for text in paragraphs
        ],
    }


def _text(paragraphs: int) -> JsonObject:
    return rich_text([_words(40) for _ in range(paragraphs)])


def new_modules() -> Iterator[tuple[str, JsonObject]]:
    """Yield the modules of one post, with new words."""
    yield "hero", {
        "title": _words(6), "subtitle": _words(15), "ctaLabel": "Read on", "ctaUrl": "/blog",
        "imageId": None, "theme": "light",
    }  # fmt: skip
    yield "prose", {"content": _text(6)}
    features = [{"icon": "star", "title": _words(3), "text": _words(12)} for _ in range(6)]
    yield "features-list", {"heading": _words(3), "items": features}
    yield (
        "faq",
        {
            "heading": _words(3),
            "items": [{"question": _words(8), "answer": _text(1)} for _ in range(4)],
        },
    )
    yield "callout", {
        "title": _words(4), "body": _text(1), "tone": "info", "ctaLabel": "", "ctaUrl": "",
    }  # fmt: skip
