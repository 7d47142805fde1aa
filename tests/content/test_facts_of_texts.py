"""What the review calls a fact, in sentences as people write them, and what it does not see."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.review.comparison import ValueShape, compare
from content.review.difference_text import note_of
from content.review.facts import find_facts, find_names
from content.review.references import References

_DATA = Path(__file__).parents[2].parent / "shared/data/markdown"


def told(language: str, before: str, after: str) -> list[str]:
    found = compare(before, after, ValueShape("text"), language=language).differences
    return [note_of(one, References()).text for one in found if one.is_fact]


@pytest.mark.parametrize(
    ("language", "before", "after", "expected"),
    [
        ("en", "It costs €40 until 12 May 2024.", "It costs €45 until 13 May 2024.",
         ["Price changed: €40 → €45", "Date changed: 12 May 2024 → 13 May 2024"]),
        ("en", "You can't mix it; $1.5 million.", "You can mix it; $2 million.",
         ["Negation removed: “not”", "Price changed: $1.5 million → $2 million"]),
        ("en", "Open on Monday at 9:00 am.", "Open on Tuesday at 10:00 am.",
         ["Date changed: Monday → Tuesday", "Date changed: 9:00 am → 10:00 am"]),
        ("en", "Our team met Angela Merkel in Berlin.", "Our team met Angela Merkel in Hamburg.",
         ["Name changed: Berlin → Hamburg"]),
        ("en", "See No. 5 on the list.", "See No. 6 on the list.", ["Number changed: 5 → 6"]),
        ("de", "Das kostet 40 € bis 12. Mai 2024.", "Das kostet 45,50 € bis 1.6.2024.",
         ["Price changed: 40 € → 45,50 €", "Date changed: 12. Mai 2024 → 1.6.2024"]),
        ("de", "Es ist nicht sicher.", "Es ist sicher.", ["Negation removed: “nicht”"]),
        ("de", "Ein Filter hilft.", "Keine Filter helfen.", ["Negation added: “kein”"]),
        ("de", "Gebrüht von Angela Merkel bei der Kessel GmbH.", "Gebrüht von Peter Müller bei der BMW AG.",
         ["Name changed: Angela Merkel → Peter Müller", "Name changed: Kessel GmbH → BMW AG"]),
        ("en", "Read https://a.example/x/y/z for more.", "Read https://a.example/x/b/z for more.",
         ["Link changed: https://a.example/x/y/z → https://a.example/x/b/z"]),
        ("en", "Open at 9 am.", "Open at 9 pm.", ["Date changed: 9 am → 9 pm"]),
        ("en", "Take 10 mg of it.", "Take 10 g of it.", ["Number changed: 10 mg → 10 g"]),
        ("en", "It is 10 million now.", "It is 10 billion now.", ["Number changed: 10 million → 10 billion"]),
        ("en", "Take 1,500 of it.", "Take 1.500 of it.", ["Number changed: 1,500 → 1.500"]),
        ("en", "On May 12 we open.", "On June 12 we open.", ["Date changed: May 12 → June 12"]),
        ("en", "Add ½ cup.", "Add ¾ cup.", ["Number changed: ½ → ¾"]),
        ("en", "It seems that Ann hit Bob there.", "It seems that Bob hit Ann there.",
         ["Name added: Bob", "Name removed: Bob"]),
        ("fr", "Il ne vient jamais ici.", "Il ne vient toujours ici.", ["Negation removed: “jamais”"]),
        ("en", "Write to us.", "Write to us at win@evil.example now.", ["Link added: win@evil.example"]),
        ("de", "Um 9 Uhr am Montag.", "Um 10:30 Uhr am Dienstag.",
         ["Date changed: 9 Uhr → 10:30 Uhr", "Date changed: Montag → Dienstag"]),
    ],
)  # fmt: skip
def test_a_changed_fact_is_told(
    language: str, before: str, after: str, expected: list[str]
) -> None:
    assert told(language, before, after) == expected


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("de", "Eine Tasse Kaffee mit Milch am Morgen.", "Ein Glas Wasser mit Honig am Abend."),
        ("de", "Die Mühle mahlt die Bohnen für den Filter.", "Das Mahlwerk zerkleinert Bohnen gut."),
        ("en", "Good coffee for everyone", "Great Filter Coffee for Everybody at Home"),
        ("en", "Grind the beans. Pour slowly.", "Crush the beans. Wait. Pour slowly."),
        ("en", "the coffee of berlin", "The Coffee of Berlin"),
        ("fr", "Il vient avec Marie.", "Il vient avec Paul."),
    ],
)  # fmt: skip
def test_style_is_no_fact(language: str, before: str, after: str) -> None:
    assert told(language, before, after) == []


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("en", "It takes ten minutes.", "It takes twelve minutes."),
        ("en", "It is safe.", "It is unsafe."),
        ("de", "Sie wohnt in Berlin.", "Sie wohnt in Hamburg."),
    ],
)
def test_what_it_cannot_see_is_known(language: str, before: str, after: str) -> None:
    """Numbers in words, denials inside words, single German names: the page of docs says so."""
    assert told(language, before, after) == []


@given(st.text(max_size=300), st.sampled_from(["en", "de", "", "x"]))
@settings(max_examples=60, deadline=None)
def test_a_text_compared_with_itself_has_no_facts(text: str, language: str) -> None:
    assert told(language, text, text) == []


def test_the_digits_of_a_date_are_no_numbers_as_well() -> None:
    found = find_facts("On 2024-05-12 we sold 30 for 12,50 €.", "en")

    assert (found["date"], found["price"], found["number"]) == (
        ("2024-05-12",),
        ("12,50 €",),
        ("30",),
    )


@pytest.mark.skipif(
    not _DATA.is_dir(), reason="the Markdown for trials is not beside this checkout"
)
def test_names_do_not_flood_real_pages() -> None:
    pages = sorted(_DATA.glob("*/*.md"))
    texts = [page.read_text(encoding="utf-8") for page in pages]

    words = sum(len(text.split()) for text in texts)
    english = sum(len(find_names(text, "en")) for text in texts)
    german = sum(len(find_names(text, "de")) for text in texts)

    assert words > 50_000
    assert english < words / 25
    assert german < words / 25
