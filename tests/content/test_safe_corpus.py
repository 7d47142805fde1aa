"""No inverting change is safe, and most corrections by proofreaders are."""

from __future__ import annotations

from collections import Counter
from typing import Final, get_args

import pytest

from content.comparison.comparison import ValueShape, compare
from content.comparison.facts import FactKind
from content.comparison.harmless import is_harmless
from content.comparison.words.language_detection import detect_language
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
    """The figures of docs/admin/safe-changes.md."""
    safe = {
        verdict: [
            is_harmless(pair.before, pair.after, pair.language) for pair in read_pairs(verdict)
        ]
        for verdict in ("inverting", "harmless")
    }

    assert sum(safe["inverting"]) == 0
    assert sum(safe["harmless"]) / len(safe["harmless"]) >= LEAST_RECALL


PLAIN: Final = ("rewording", "new-text", "language")
"""Kinds that name no fact: other words, new words, words of another language."""

HARMLESS: Final = {
    "space", "typography", "end-mark", "doubled-mark", "space-before-mark", "capital", "spelling",
}  # fmt: skip

INVERTING: Final = read_pairs("inverting")


def facts_of(pair: Pair) -> set[str]:
    found = compare(pair.before, pair.after, ValueShape("text"), language=pair.language)
    return {one.kind for one in found.differences if one.is_fact}


def test_corpus_is_large_and_has_every_kind() -> None:
    inverting, harmless = INVERTING, read_pairs("harmless")

    assert len(inverting) + len(harmless) >= 330
    assert len({(pair.language, pair.before, pair.after) for pair in (*inverting, *harmless)}) == (
        len(inverting) + len(harmless)
    )
    assert {pair.kind for pair in inverting} <= {*get_args(FactKind), *PLAIN}
    assert {pair.kind for pair in harmless} == HARMLESS
    for pairs in (inverting, harmless):
        assert min(Counter(pair.language for pair in pairs).values()) >= 50
        assert {pair.language for pair in pairs} == set(LANGUAGES)


@pytest.mark.parametrize("pair", [pair for pair in INVERTING if pair.kind not in PLAIN], ids=str)
def test_inverting_pair_has_its_flag(pair: Pair) -> None:
    assert pair.kind in facts_of(pair)


@pytest.mark.parametrize("pair", [pair for pair in INVERTING if pair.kind in PLAIN], ids=str)
def test_inverting_pair_without_a_fact_is_plainly_other_text(pair: Pair) -> None:
    found = compare(pair.before, pair.after, ValueShape("text"), language=pair.language)

    assert any(one.kind in ("text", "space") for one in found.differences)
    if pair.kind == "language":
        assert detect_language(pair.after, pair.language) != pair.language


def test_harmless_pairs_are_not_full_of_facts() -> None:
    harmless = read_pairs("harmless")

    assert sum(bool(facts_of(pair)) for pair in harmless) <= len(harmless) * 0.03
