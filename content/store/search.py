"""Search over live posts. The search words of a post are updated whenever its live content changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final
from uuid import UUID

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from content.document.document import PostDocument
from content.document.post_fields import POST_FIELDS, SearchWeight
from content.models import ModuleInstance, Post, PostModule, SearchEntry
from content.store import post_queries
from proofroom.core import outbox, search
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.database.compiled_queries import BoundUpdate
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.definitions import custom_text_of, text_of

TABLE: Final = search.SearchTable("content_searchentry", "post_id")
WEIGHTS: Final[tuple[SearchWeight, ...]] = ("A", "B", "C", "D")
_BATCH: Final = 100
_NEWEST: Final = ("-updated_at", "id")


def find_posts(
    posts: QuerySet[Post],
    words: str,
    locale: str | None = None,
    shown: Callable[[QuerySet[Post]], QuerySet[Any, Any]] = lambda posts: posts,
) -> search.RankedInstances[Post]:
    """Return posts whose live content contains every word, the best match first.

    `locale`: the common locale of the posts, if they have one. `shown`: turns the posts of a slice into its results.
    """
    locales = (locale,) if locale else tuple(settings.CMS_ENV.locales)
    searched = search.SearchedWords(TABLE, search.query_words(words), locales)
    return search.RankedInstances(posts, searched, _NEWEST, shown)


def find_near_posts(posts: QuerySet[Post], words: str) -> list[tuple[UUID, str, str]]:
    """Return id, title and path of posts whose title or slug has a similar word for every word, for a search that
    found nothing. One query; of many posts, the most recently changed ones are compared."""
    rows = posts.filter(is_placeholder=False).order_by(*_NEWEST)
    columns = rows.values_list("pk", "title", "path", "slug")[: search.MAX_NEAR_CANDIDATES]
    texts = (((pk, title, path), f"{title} {slug}") for pk, title, path, slug in columns)
    return search.near_matches(words, texts)


def find_keys(
    rows: Callable[[str], QuerySet[Post]], words: Sequence[search.Word], locale: str
) -> search.RankedKeys:
    """Return the keys of the results of `find_posts` among the posts of a locale, for a page of the site.

    `rows`: returns the posts of a locale.
    """
    searched = search.SearchedWords(TABLE, words, (locale,))
    return search.RankedKeys(Post, rows, (locale,), searched, _NEWEST)


def words_of_post(post: Post, document: PostDocument) -> list[BoundUpdate]:
    """Return the updates of the search words of a post, to be executed with the write of its live content.

    One query if the post has shared modules, else none.
    """
    # The document has no props for shared modules.
    shared_ids = [module.instance_id for module in document.modules if module.scope != "local"]
    shared: dict[str, JsonObject] = {}
    if shared_ids:
        rows = ModuleInstance.objects.filter(pk__in=shared_ids).values_list("pk", "props")
        shared = {str(pk): props for pk, props in rows}
    texts = [
        text_of(
            module.type, {**shared.get(module.instance_id, {}), **module.props, **module.overrides}
        )
        for module in document.modules
    ]
    return search.puts(TABLE, [_entry(post, document.custom_fields, texts)])


def reindex(post_ids: Iterable[UUID]) -> int:
    """Update the search words of posts from their live rows. Returns the number of posts.

    Batches of 100 posts, each with three queries and its own transaction (unless inside one).
    """
    ids = list(post_ids)
    return sum(_reindex(ids[begin : begin + _BATCH]) for begin in range(0, len(ids), _BATCH))


@transaction.atomic
def _reindex(post_ids: Sequence[UUID]) -> int:
    locked = SearchEntry.objects.filter(post_id__in=post_ids).order_by("id")
    # A concurrent live write locks the entry until it commits. Waiting for the lock ensures that its result is read
    # below.
    list(locked.select_for_update().values_list("id"))
    modules = post_queries.module_rows(post_ids)
    entries = []
    for post in Post.objects.filter(pk__in=post_ids):
        texts = [
            text_of(
                row["instance__type"],
                {**orjson.loads(row["props_text"]), **orjson.loads(row["overrides_text"])},
            )
            for row in modules.get(post.pk, [])
        ]
        entries.append(_entry(post, post.custom_fields, texts))
    search.put(TABLE, entries)
    return len(entries)


def _entry(post: Post, custom_fields: JsonObject, module_texts: Sequence[str]) -> search.SearchText:
    """Return the words of a post by weight, from A to D. Modules and custom fields have weight C."""
    texts = {weight: texts_of(post, weight) for weight in WEIGHTS}
    texts["C"] += [custom_text_of(post.type, custom_fields), *module_texts]
    first, second, third, fourth = ("\n".join(texts[weight]) for weight in WEIGHTS)
    return search.SearchText(post.pk, post.locale, (first, second, third, fourth))


def texts_of(post: Post, *weights: SearchWeight) -> list[str]:
    """Return the texts of the post's declared fields with these search weights."""
    return [
        str(getattr(post, field.column) or "")
        for field in POST_FIELDS.values()
        if field.search_weight in weights
    ]


STALE: Final = "search.stale"
POSTS_PER_TASK: Final = 100
"""Number of posts whose words are updated during the request, and number of posts per event."""


def keep_words(post_ids: Sequence[UUID], actor: Actor) -> None:
    """Update the search words of posts in the transaction of their change.

    Posts beyond the first 100 follow in the background.
    """
    reindex(post_ids[:POSTS_PER_TASK])
    later = post_ids[POSTS_PER_TASK:]
    parts = (
        later[begin : begin + POSTS_PER_TASK] for begin in range(0, len(later), POSTS_PER_TASK)
    )
    things: list[tuple[None, JsonObject]] = [
        (None, {"postIds": [str(id_) for id_ in part]}) for part in parts
    ]
    outbox.record_all(STALE, things, actor=actor)


def follow_word_rules() -> None:
    """Update the words that were made by older tokenizer rules. Called after `migrate`.

    The first 100 posts are updated immediately, the others in the background.
    """
    rows = SearchEntry.objects.filter(word_rules__lt=search.WORD_RULES).order_by("id")
    if post_ids := list(rows.values_list("post_id", flat=True)):
        with transaction.atomic():
            keep_words(post_ids, Actor(user=SYSTEM, via="system"))


def keep_words_of_global(instance_id: UUID, actor: Actor) -> None:
    """Update the search words of every post that places the global module live."""
    rows = PostModule.objects.filter(instance_id=instance_id).order_by("post_id")
    keep_words(list(rows.values_list("post_id", flat=True).distinct()), actor)


def follow(event: Event) -> None:
    """Update the search words of the posts in the event."""
    reindex([UUID(id_) for id_ in event.payload["postIds"]])
