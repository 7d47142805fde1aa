"""The digest of a reviewed state: the same from fingerprints, with unchanged keys."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils.crypto import salted_hmac

from content.document.changes import Change
from content.store.digest import (
    digest_of,
    digest_of_fingerprints,
    fingerprint,
    keyed_hash,
    read_digest,
)
from proofroom.core.errors import RuleViolation

CHANGES = [
    Change("post.title", "changed", "Tea", "Coffee"),
    Change("post.excerpt", "changed", None, "\ud800 half of a character"),
]


def test_a_digest_can_be_made_of_the_fingerprints_that_a_page_has_anyway() -> None:
    seen = {change.path: fingerprint(change) for change in CHANGES}

    assert digest_of_fingerprints(seen) == digest_of(CHANGES)
    assert digest_of_fingerprints(dict(reversed(seen.items()))) != digest_of(CHANGES)


def test_what_was_seen_before_still_counts_and_no_longer_under_another_key(settings: Any) -> None:
    text = '["post.title", "changed", ["Tea"], ["Coffee"], ""]'
    known = salted_hmac("content.review.change", text, algorithm="sha256").hexdigest()

    assert fingerprint(CHANGES[0]) == known[:32]
    before = keyed_hash("a")
    settings.SECRET_KEY = "another" * 10
    assert fingerprint(CHANGES[0]) != known[:32]
    assert keyed_hash("a") != before


def test_what_is_no_digest_of_ours_is_refused() -> None:
    digest = digest_of(CHANGES)
    begin, body = digest[:3], digest[3:]
    assert len(read_digest(digest)) == 2

    for wrong in (body, f"d0.{body}", f"{begin}{body}A", begin + "A" * 1_000_000, f"{begin}\u00e4"):
        with pytest.raises(RuleViolation) as refusal:
            read_digest(wrong)
        assert list(refusal.value.details) == ["digest"]
