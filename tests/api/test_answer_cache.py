"""The cache of whole answers stays within its bounds."""

from __future__ import annotations

from typing import Any

from proofroom.core.caching.answer_cache import AnswerCache, CachedAnswer, answers
from proofroom.core.caching.content_memo import content_memo
from proofroom.core.caching.content_version_cache import LiveState

FIRST = LiveState(1, None)


def test_addresses_count_as_well_as_bodies() -> None:
    """Otherwise empty answers, each at its own URL, would be cached without limit."""
    cache = AnswerCache(most_bytes=10_000)

    for number in range(1_000):
        cache.put(FIRST, f"/api/public/posts?x={number}", CachedAnswer(b"{}", ""))

    kept = [n for n in range(1_000) if cache.get(FIRST, f"/api/public/posts?x={n}") is not None]
    assert 10 <= len(kept) <= 40
    assert kept == list(range(1_000 - len(kept), 1_000))


def test_an_answer_in_place_of_another_counts_once() -> None:
    cache = AnswerCache(most_bytes=1_000)

    for number in range(50):
        cache.put(FIRST, "/a", CachedAnswer(b"x" * number, ""))

    assert cache.get(FIRST, "/a") is not None


def test_what_was_cleared_may_begin_at_any_version() -> None:
    cache = AnswerCache(most_bytes=1_000_000)
    cache.put(LiveState(9, None), "/a", CachedAnswer(b"x", ""))

    cache.clear()
    cache.put(FIRST, "/a", CachedAnswer(b"y", ""))

    found = cache.get(FIRST, "/a")
    assert found is not None
    assert found.body == b"y"


def test_a_process_keeps_as_much_as_its_setting_says(settings: Any) -> None:
    bounds = (settings.KEPT_ANSWERS_BYTES, settings.CONTENT_MEMO_BYTES)

    assert (answers.most_bytes, content_memo.most_bytes) == bounds
    assert sum(bounds) == settings.CMS_ENV.cms_cache_mib * 1024 * 1024
