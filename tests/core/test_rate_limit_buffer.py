"""Hits answered from memory reach the shared counter, in batches."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from proofroom.core.caching import rate_limit_buffer
from proofroom.core.caching.rate_limit_buffer import MAX_UNTOLD, BufferedHits
from proofroom.core.caching.redis_cache import count_hit


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    return clock


def shared(key: str) -> int:
    """Return the hits known to all processes."""
    return count_hit(key, 60, 0)


def test_this_process_counts_each_hit_and_the_others_hear_of_many_at_once(
    now: list[float],
) -> None:
    batches = BufferedHits()

    counted = [batches.count("key", 60) for _ in range(MAX_UNTOLD)]

    assert counted == list(range(1, MAX_UNTOLD + 1))
    assert shared("key") == 1
    assert batches.count("key", 60) == shared("key") == MAX_UNTOLD + 1


def test_what_others_counted_is_known_a_second_later(now: list[float]) -> None:
    batches = BufferedHits()
    batches.count("key", 60)
    count_hit("key", 60, 40)

    now[0] += 0.9
    assert batches.count("key", 60) == 2
    now[0] += 0.1
    assert batches.count("key", 60) == shared("key") == 43


def test_a_callers_last_hits_are_sent_with_anothers(now: list[float]) -> None:
    batches = BufferedHits()
    batches.count("gone", 60)
    batches.count("gone", 60)
    assert shared("gone") == 1

    now[0] += 1
    batches.count("other", 60)

    assert shared("gone") == 2


def test_buffered_hits_may_be_sent_later(now: list[float]) -> None:
    later: list[Callable[[], None]] = []
    batches = BufferedHits()

    assert batches.count("key", 60, tell=later.append) == 1
    assert shared("key") == 0
    for task in later:
        task()

    assert shared("key") == batches.count("key", 60) - 1 == 1


def test_callers_are_as_many_as_may_be(monkeypatch: pytest.MonkeyPatch, now: list[float]) -> None:
    monkeypatch.setattr(rate_limit_buffer, "MAX_CALLERS", 3)
    batches = BufferedHits()
    for number in range(5):
        batches.count(f"key-{number}", 60)
        batches.count(f"key-{number}", 60)

    assert [shared(f"key-{number}") for number in range(5)] == [2, 2, 1, 1, 1]


def test_many_threads_lose_no_hit() -> None:
    batches = BufferedHits()

    def count(_: int) -> None:
        for _ in range(100):
            batches.count("key", 60)

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(count, range(20)))

    assert batches.count("key", 60) == 2001


def test_two_buffered_limits_stay_exact(now: list[float]) -> None:
    later: list[Callable[[], None]] = []
    batches = BufferedHits()
    for number in range(1, 200):
        found = {batches.count(key, 60, tell=later.append) for key in ("all", "one")}
        assert found == {number}
        now[0] += 0.1
        if number % 8 == 0:
            while later:
                later.pop(0)()


def test_a_caller_who_returns_before_the_report_stays_counted(now: list[float]) -> None:
    later: list[Callable[[], None]] = []
    batches = BufferedHits()
    batches.count("key", 60)
    batches.count("key", 60)
    now[0] += 1
    batches.count("other", 60, tell=later.append)
    batches.count("key", 60, tell=later.append)

    for task in later:
        task()

    assert batches.count("key", 60) == 4
