"""The soak's criteria for lost, invented, leaked and grown. The soak itself runs only on request."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from benchmarks import soak, soak_checks
from benchmarks.soak_checks import Marks
from benchmarks.soak_clients import (
    SHARES,
    Broken,
    Fate,
    clients_of,
    fate_of,
    is_expected,
    unexplained,
)
from benchmarks.soak_site import STARTED, Kill, Life, Look, Site, commands

PLACE = ("post", "title")


def wrong(texts: list[tuple[str, Fate]], *, public: set[str], staged: set[str]) -> list[str]:
    stored = {"post": Marks(public, staged)}
    return list(soak_checks.check_writes({PLACE: texts}, stored))


@pytest.mark.parametrize(
    ("texts", "public", "staged"),
    [
        ([("soak-e1-1", "accepted")], set(), {"soak-e1-1"}),
        ([("soak-e1-1", "accepted")], {"soak-e1-1"}, set()),
        # What came after it took its place.
        ([("soak-e1-1", "accepted"), ("soak-e1-2", "accepted")], set(), {"soak-e1-2"}),
        ([("soak-e1-1", "accepted"), ("soak-e1-2", "unsure")], set(), {"soak-e1-2"}),
        ([("soak-e1-1", "accepted"), ("soak-e1-2", "unsure")], set(), {"soak-e1-1"}),
        ([("soak-e1-1", "unsure"), ("soak-e1-2", "refused")], set(), set()),
    ],
)
def test_what_was_accepted_and_is_stored_is_not_lost(
    texts: list[tuple[str, Fate]], public: set[str], staged: set[str]
) -> None:
    assert wrong(texts, public=public, staged=staged) == []


@pytest.mark.parametrize(
    ("texts", "staged"),
    [
        ([("soak-e1-1", "accepted")], set()),
        # An older one stands where a newer one was accepted.
        ([("soak-e1-1", "accepted"), ("soak-e1-2", "accepted")], {"soak-e1-1"}),
        ([("soak-e1-1", "accepted"), ("soak-e1-2", "refused")], {"soak-e1-1", "soak-e1-2"}),
    ],
)
def test_a_lost_or_refused_text_is_reported(
    texts: list[tuple[str, Fate]], staged: set[str]
) -> None:
    assert len(wrong(texts, public=set(), staged=staged)) == 1


def test_a_staged_text_seen_by_visitors_is_reported() -> None:
    stored = {"post": Marks(public={"soak-e1-1"}, staged={"soak-e1-2"})}

    assert list(soak_checks.check_seen({"soak-e1-1"}, stored)) == []
    assert len(list(soak_checks.check_seen({"soak-e1-2"}, stored))) == 1


@pytest.mark.parametrize(
    ("status", "fate"), [(200, "accepted"), (201, "accepted"), (409, "refused"), (503, "unsure")]
)
def test_an_answer_says_what_became_of_a_write(status: int, fate: Fate) -> None:
    assert fate_of(httpx.Response(status)) == fate
    assert fate_of(None) == "unsure"


def test_a_call_may_break_only_while_its_server_is_killed(tmp_path: Path) -> None:
    site = Site(tmp_path, {})
    site.kills.append(Kill("web-2", 10, 15))

    def left(server: str, begin: float, end: float) -> int:
        return len(unexplained([Broken("page", server, begin, end, "ReadError")], site))

    assert left("web", 9, 11) == left("web", 12, 13) == left("web", 14, 20) == 0
    assert left("web", 8, 9) == left("web", 16, 17) == left("mcp", 11, 12) == 1


def life(*held: int, idle: int = 0) -> Life:
    """Return a process history with these MiB, each for two seconds, and half load after `idle` seconds."""
    looks = [
        Look(2 * number, mib * 1024, max(0.0, number - idle / 2)) for number, mib in enumerate(held)
    ]
    return Life("worker", 1, 0, looks)


def test_a_process_may_fill_what_it_keeps_at_first_and_grow_no_more() -> None:
    flat = life(*[50] * 10, *[100] * 90)
    growing = life(*range(50, 150))
    short = life(*range(50, 110))

    assert list(soak.check_memory([flat], 200)) == []
    assert len(list(soak.check_memory([growing], 200))) == 1
    assert list(soak.check_memory([short], 200)) == []


def test_a_process_that_had_nothing_to_do_is_not_warm() -> None:
    held = *[50] * 40, *range(50, 55), *[100] * 90

    assert list(soak.check_memory([life(*held, idle=80)], 200)) == []
    assert len(list(soak.check_memory([life(*held)], 200))) == 1


@pytest.mark.parametrize(
    ("status", "code", "is_fine"),
    [(409, "stale_review", True), (422, "nothing_staged", True), (422, "invalid", False), (500, "", False)],
)  # fmt: skip
def test_refusals_that_clients_bring_on_each_other_are_expected(
    status: int, code: str, is_fine: bool
) -> None:
    answer = httpx.Response(status, content=f'{{"error":"No.","code":"{code}"}}')

    assert is_expected(answer) is is_fine


def test_all_clients_are_of_some_kind_and_each_kind_has_one() -> None:
    assert sum(clients_of(kind, 64) for kind in SHARES) == 64
    assert min(clients_of(kind, 4) for kind in SHARES) == 1


def test_the_processes_equal_the_procfiles() -> None:
    assert set(STARTED) <= set(commands())
    assert "--workers 2 --respawn-failed-workers" in commands()["web"]
