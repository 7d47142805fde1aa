"""No inverting change is safe, and most corrections by proofreaders are."""

from __future__ import annotations

import pytest

from content.comparison.harmless import is_harmless
from tests.content.corpus import LANGUAGES, Pair, read_pairs

LEAST_RECALL = 0.85


@pytest.mark.parametrize("pair", read_pairs("inverting"), ids=str)
def test_no_inverting_pair_is_safe(pair: Pair) -> None:
    assert not is_harmless(pair.before, pair.after, pair.language)


@pytest.mark.parametrize("pair", read_pairs("inverting"), ids=str)
def test_no_inverting_pair_is_safe_backwards(pair: Pair) -> None:
    """A change that misleads in one direction misleads in the other."""
    assert not is_harmless(pair.after, pair.before, pair.language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_most_corrections_are_safe(language: str) -> None:
    pairs = [pair for pair in read_pairs("harmless") if pair.language == language]

    lost = [str(pair) for pair in pairs if not is_harmless(pair.before, pair.after, language)]

    assert len(lost) <= (1 - LEAST_RECALL) * len(pairs), lost


def test_precision_and_recall_of_the_whole_corpus() -> None:
    """The figures of docs/admin/review.md."""
    safe = {
        verdict: [
            is_harmless(pair.before, pair.after, pair.language) for pair in read_pairs(verdict)
        ]
        for verdict in ("inverting", "harmless")
    }

    assert sum(safe["inverting"]) == 0
    assert sum(safe["harmless"]) / len(safe["harmless"]) >= LEAST_RECALL
