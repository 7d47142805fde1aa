"""Assignment of arms: stable per visitor, in the configured shares, with minimal reassignment."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import UUID

import pytest

from content.store.arms import Arm, arm_of_bucket, visitor_bucket

ORIGINAL = UUID("0c5f6f9e-4f0a-4a7e-9a55-3a1d6f1e2b3c")
OTHER = UUID("1c5f6f9e-4f0a-4a7e-9a55-3a1d6f1e2b3c")
ALL = range(100)


def arm(name: str, weight: int) -> Arm:
    return Arm(UUID(int=ord(name[0])), name, weight)


def name_at(place: int, *arms: Arm) -> str:
    found = arm_of_bucket(place, arms)
    return found.name if found is not None else "A"


def places(number: int, of: UUID = ORIGINAL) -> list[int]:
    return [
        visitor_bucket(of, f"198.51.100.{n % 250}", f"Browser {n // 250}") for n in range(number)
    ]


def test_ten_thousand_visitors_are_shared_as_the_weights_say() -> None:
    arms = [arm("B", 30), arm("C", 10)]

    shares = Counter(name_at(place, *arms) for place in places(10_000))

    # Four standard deviations of a fair draw: 196, 184 and 120 visitors.
    assert abs(shares["A"] - 6_000) < 196
    assert abs(shares["B"] - 3_000) < 184
    assert abs(shares["C"] - 1_000) < 120
    assert shares.total() == 10_000


def test_a_visitors_arm_is_stable_and_differs_between_experiments() -> None:
    assert places(500) == places(500)
    both = list(zip(places(2_000), places(2_000, OTHER), strict=True))
    assert sum(one == other for one, other in both) < 60  # 20 of chance, four deviations: 38


def test_the_address_the_browser_and_the_secret_all_count(settings: Any) -> None:
    def seen(address: str = "192.0.2.1", browser: str = "x") -> list[int]:
        return [visitor_bucket(UUID(int=n), address, browser) for n in range(20)]

    before = seen()

    assert seen(address="192.0.2.2") != before
    assert seen(browser="y") != before
    settings.SECRET_KEY = "another" * 10
    assert seen() != before


@pytest.mark.parametrize("agent", ["", "\udc80", "x" * 100_000, "a\nb\x00", "Ünï"])
def test_whatever_a_browser_calls_itself_it_has_a_place(agent: str) -> None:
    assert visitor_bucket(ORIGINAL, "not an address", agent) in ALL


def test_another_weight_moves_visitors_between_its_arm_and_the_original_alone() -> None:
    before = [name_at(place, arm("B", 10), arm("C", 30)) for place in ALL]

    after = [name_at(place, arm("C", 30), arm("B", 20)) for place in ALL]

    moved = [(one, other) for one, other in zip(before, after, strict=True) if one != other]
    assert moved == [("A", "B")] * 10
    assert Counter(before) == {"A": 60, "B": 10, "C": 30}


@pytest.mark.parametrize("weights", [(100,), (50, 50), (1, 1, 1), (20, 30, 10, 40), (7,) * 14])
def test_every_arm_has_exactly_its_places(weights: tuple[int, ...]) -> None:
    arms = [arm(chr(ord("B") + number), weight) for number, weight in enumerate(weights)]

    shares = Counter(name_at(place, *arms) for place in ALL)

    wanted = {one.name: one.weight for one in arms} | {"A": 100 - sum(weights)}
    assert shares == Counter(wanted)
    assert arm_of_bucket(0, []) is None
