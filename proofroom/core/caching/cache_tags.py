"""Tags of public answers, by which CDNs and frontends drop what a change made stale.

`Cache-Tag` has them on answers, `content.changed` has them for changes. They are collected with the tags of
`content_tags`, marked with a prefix. Most are derived from those, and `content_tags` owns the names that both have.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final
from uuid import UUID

from django.conf import settings

from proofroom.core.caching.content_tags import ANY_TYPE, LIST, MEDIA, POST, depend_on
from proofroom.core.post_type_names import post_type_labels

SITE: Final = "site"
"""The tag of settings. All answers carry it."""
REDIRECTS: Final = "redirects"
MAX_BYTES: Final = 4096
"""Bytes of `Cache-Tag`. Longer sets are replaced by their types."""
STALE_SECONDS: Final = 60
"""Seconds for which a cache may send an outdated answer while it reads a new one."""
_MARK: Final = "="
_TYPE: Final = "type"
_TERM: Final = "term"
_SINGLE: Final = (f"{POST}:", f"{MEDIA}:", f"{_TERM}:")
"""Beginnings of the tags that a `type:` tag includes: a change of any of them tells the types of the posts it
changes."""
_TERMS: Final = re.compile(rb'"taxonomyTermIds"\s*:\s*\[([^\]]*)\]')
_UUID: Final = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_GLOBAL: Final = re.compile(rb'"globalSlug"\s*:\s*"([^"\\]+)"')


def post_tag(post_id: UUID | str) -> str:
    return f"{POST}:{post_id}"


def type_tag(post_type: str, locale: str) -> str:
    return f"{_TYPE}:{post_type}:{locale}"


def term_tag(term_id: UUID | str) -> str:
    return f"{_TERM}:{term_id}"


def menu_tag(slug: str) -> str:
    return f"menu:{slug}"


def global_tag(slug: str) -> str:
    return f"global:{slug}"


def media_tag(asset_id: UUID | str) -> str:
    return f"{MEDIA}:{asset_id}"


def form_tag(slug: str) -> str:
    return f"form:{slug}"


def add_cache_tags(*tags: str) -> None:
    """Add tags to `Cache-Tag` of the answer that is being built, if there is one."""
    depend_on(*(_MARK + tag for tag in tags))


def marked_tags(tags: Iterable[str]) -> list[str]:
    """Return these tags as `depend_on` takes them."""
    return [_MARK + tag for tag in tags]


def tags_in_post(body: bytes) -> list[str]:
    """Return the tags of the terms and global modules in the JSON of a post."""
    # Strings in JSON escape their quotation marks, so text cannot look like a member.
    terms = [id_.decode() for found in _TERMS.findall(body) for id_ in _UUID.findall(found)]
    slugs = [slug.decode() for slug in _GLOBAL.findall(body)]
    return [*map(term_tag, terms), *map(global_tag, slugs)]


def dependencies_of(tags: Iterable[str]) -> frozenset[str]:
    """Return the tags that invalidate the caches of this process."""
    return frozenset(tag for tag in tags if not tag.startswith(_MARK))


def cache_tags_of(tags: Collection[str]) -> list[str]:
    """Return the tags of `Cache-Tag` for the collected tags of an answer."""
    words = {tag.removeprefix(_MARK) for tag in tags if tag.startswith(_MARK)} | {SITE}
    named_types = {word.split(":")[1] for word in words if word.startswith(f"{_TYPE}:")}
    for tag in tags:
        kind, _colon, name = tag.partition(":")
        if kind in (POST, MEDIA) and name:
            words.add(f"{kind}:{UUID(name)}")
        elif kind == LIST and name == ANY_TYPE and not named_types:
            words |= all_type_tags()
        elif kind == LIST and name not in (ANY_TYPE, *named_types):
            words |= {type_tag(name, locale) for locale in settings.CMS_ENV.locales}
    if len(",".join(words)) > MAX_BYTES:
        # Of single posts the types are unknown here, so all of them stand for these posts.
        words = {word for word in words if not word.startswith(_SINGLE)} | all_type_tags()
    return sorted(words)


def cache_headers(tags: Collection[str]) -> dict[str, str]:
    """Return `Cache-Tag`, and `Surrogate-Key` if the settings ask for it."""
    words = cache_tags_of(tags)
    headers = {"Cache-Tag": ",".join(words)}
    return {**headers, "Surrogate-Key": " ".join(words)} if settings.SURROGATE_KEY else headers


def public_cache_control(max_age: int) -> str:
    """Return `Cache-Control` of an answer that shared caches may store."""
    return f"public, max-age={max_age}, stale-while-revalidate={STALE_SECONDS}"


def all_type_tags() -> set[str]:
    """Return the tags of every type in every language."""
    return {
        type_tag(name, locale) for name in post_type_labels() for locale in settings.CMS_ENV.locales
    }
