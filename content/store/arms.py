"""The arms of A/B tests: read from the running variations, and assigned to visitors.

The assignment depends on the request only, so that nothing is stored per visitor.
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
"""Name of the original among its variations."""
_SALT: Final = "content.site.assignment"
_BUCKETS: Final = 100


@dataclass(frozen=True, slots=True)
class Arm:
    """A running variation. `weight`: percent of the visitors. The original gets the rest."""

    post_id: UUID
    name: str
    weight: int


def visitor_bucket(original: UUID, address: str, user_agent: str) -> int:
    """Return the bucket of a visitor in the test of a post, 0 to 99.

    Stable across visits, independent across tests.
    """
    seen = "\n".join((str(original), address, user_agent))
    digest = salted_hmac(_SALT, seen.encode("utf-8", "replace"), algorithm="sha256").digest()
    return int.from_bytes(digest, "big") % _BUCKETS


def arm_of_bucket(place: int, arms: Sequence[Arm]) -> Arm | None:
    """Return the arm of a bucket, None for the original."""
    low, high = 0, _BUCKETS
    # Arms take their buckets alternately from both ends, in order of name. So with up to two arms, a changed weight
    # moves visitors only between that arm and the original.
    for number, arm in enumerate(sorted(arms, key=lambda arm: arm.name)):
        if number % 2 == 0:
            begin, low = low, low + arm.weight
        else:
            begin = high = high - arm.weight
        if begin <= place < begin + arm.weight:
            return arm
    return None


def running_arms() -> Subquery:
    """Return a subquery with the running variations of each post as a JSON list, which saves a query."""
    arms = Post.objects.running().filter(variation_of=OuterRef("pk"))
    listed = arms.order_by().values(all=JSONList("id", "variation", "variation_weight"))
    return Subquery(listed, output_field=JSONField())


def parse_arms(rows: Iterable[tuple[str, str, int]] | None) -> list[Arm]:
    """Return the arms in a result of `running_arms`, by name."""
    arms = [Arm(UUID(id_), name, weight) for id_, name, weight in rows or ()]
    return sorted(arms, key=lambda arm: arm.name)


def remaining_weight(original: UUID) -> int:
    """Return the percentage of visitors that running variations leave to the original. One query."""
    running = Post.objects.running().filter(variation_of=original)
    return 100 - (running.aggregate(total=Sum("variation_weight"))["total"] or 0)


PLACE_COLUMNS: Final = (
    "status",
    "path",
    "translation_group",
    "published_at",
    "parent_id",
    "order_index",
    "canonical_url",
    "robots_json",
)
"""Columns that a variation takes from its original when it is shown in its place."""


def with_place_of_original(variation: Post, original: Post) -> Post:
    """Return a copy of the variation with the original's address and status."""
    shown = copy(variation)
    for name in PLACE_COLUMNS:
        setattr(shown, name, getattr(original, name))
    return shown
