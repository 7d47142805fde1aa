"""Assigns a visitor to an arm of a test by facts of the request alone, so that nothing has to be stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.utils.crypto import salted_hmac

ORIGINAL: Final = "A"
"""What the original is called among its variations."""
_SALT: Final = "content.site.assignment"
_PLACES: Final = 100


@dataclass(frozen=True, slots=True)
class Arm:
    """A running variation. `weight` is percent of the visitors; the original has those that are left."""

    post_id: UUID
    name: str
    weight: int


def visitor_bucket(original: UUID, address: str, user_agent: str) -> int:
    """From 0 to 99: where a visitor stands in the test of a post; the same at every visit, another in every test."""
    seen = "\n".join((str(original), address, user_agent))
    digest = salted_hmac(_SALT, seen.encode("utf-8", "replace"), algorithm="sha256").digest()
    return int.from_bytes(digest, "big") % _PLACES


def arm_of_bucket(place: int, arms: Sequence[Arm]) -> Arm | None:
    """The arm that has a place; None where the original does.

    By their names, arms are laid on the places from the two ends in turn: as long as there are two, another weight
    moves visitors between its arm and the original alone.
    """
    low, high = 0, _PLACES
    for number, arm in enumerate(sorted(arms, key=lambda arm: arm.name)):
        if number % 2 == 0:
            begin, low = low, low + arm.weight
        else:
            begin = high = high - arm.weight
        if begin <= place < begin + arm.weight:
            return arm
    return None
