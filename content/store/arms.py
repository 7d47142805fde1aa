"""The arms of tests: read from the running variations, and dealt to visitors.

A visitor is assigned by facts of the request alone, so that nothing has to be stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import JSONField, OuterRef, Subquery, Sum
from django.utils.crypto import salted_hmac

from content.models import Post
from proofroom.core.database.json_list import JSONList

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


def running_arms() -> Subquery:
    """The running variations of each post as a list in JSON: what would else be a query of its own."""
    arms = Post.objects.running().filter(variation_of=OuterRef("pk"))
    listed = arms.order_by().values(all=JSONList("id", "variation", "variation_weight"))
    return Subquery(listed, output_field=JSONField())


def arms_in(rows: Iterable[tuple[str, str, int]] | None) -> list[Arm]:
    """Return what `running_arms` found, by name."""
    arms = [Arm(UUID(id_), name, weight) for id_, name, weight in rows or ()]
    return sorted(arms, key=lambda arm: arm.name)


def weight_left(original: UUID) -> int:
    """Percent of the visitors that the running variations leave to their original. One query."""
    running = Post.objects.running().filter(variation_of=original)
    return 100 - (running.aggregate(total=Sum("variation_weight"))["total"] or 0)


OF_THE_PLACE: Final = (
    "status",
    "path",
    "translation_group",
    "published_at",
    "parent_id",
    "order_index",
    "canonical_url",
    "robots_json",
)
"""The columns that a variation has of its original while it stands in its place."""


def as_original(variation: Post, original: Post) -> Post:
    """The variation where its original stands: what it says is its own, where and whether it is found is not."""
    shown = copy(variation)
    for name in OF_THE_PLACE:
        setattr(shown, name, getattr(original, name))
    return shown
