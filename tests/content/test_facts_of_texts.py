"""Facts detected in real sentences, and facts that are not detected."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.comparison.addresses import find_addresses
from content.comparison.comparison import ValueShape, compare
from content.comparison.difference_text import note_of
from content.comparison.facts import FactKind, find_facts, find_names
from content.comparison.references import References
from content.comparison.risk import FLAGS
from content.document.differences import KINDS, Difference, DifferenceKind
from proofroom_apps.editorial.inbox.queue_rows import FLAG_LABELS

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
        ("fr", "Il ne vient jamais ici.", "Il ne vient toujours ici.",
         ["Negation removed: “jamais”", "Opposite: “jamais” → “toujours”"]),
        ("en", "Write to us.", "Write to us at win@evil.example now.",
         ["Host added: evil.example", "Link added: win@evil.example"]),
        ("de", "Um 9 Uhr am Montag.", "Um 10:30 Uhr am Dienstag.",
         ["Date changed: 9 Uhr → 10:30 Uhr", "Date changed: Montag → Dienstag"]),
    ],
)  # fmt: skip
def test_a_changed_fact_is_reported(
    language: str, before: str, after: str, expected: list[str]
) -> None:
    assert told(language, before, after) == expected


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("de", "Eine Tasse Kaffee mit Milch am Morgen.", "Ein Glas Wasser mit Honig am Mittag."),
        ("de", "Die Mühle mahlt die Bohnen für den Filter.", "Das Mahlwerk zerkleinert Bohnen gut."),
        ("en", "Good coffee for everyone", "Great Filter Coffee for Everybody at Home"),
        ("en", "Grind the beans. Pour slowly.", "Crush the beans. Wait. Pour slowly."),
        ("en", "the coffee of berlin", "The Coffee of Berlin"),
        ("fr", "Il vient avec Marie.", "Il vient avec Paul."),
    ],
)  # fmt: skip
def test_style_is_no_fact(language: str, before: str, after: str) -> None:
    assert told(language, before, after) == []


def test_what_it_cannot_see_is_known() -> None:
    """Single German names, as documented."""
    assert told("de", "Sie wohnt in Berlin.", "Sie wohnt in Hamburg.") == []


@pytest.mark.parametrize(
    ("language", "before", "after", "expected"),
    [
        ("en", "You must pay here.", "You may pay here.", ["Obligation changed: “must” → “may”"]),
        ("en", "Members can vote.", "Members should vote.", ["Obligation changed: “can” → “should”"]),
        ("en", "You mustnt open it.", "You must open it.", ["Negation removed: “not”"]),
        ("en", "We open unless it rains.", "We open if it rains.", ["Opposite: “unless” → “if”"]),
        ("en", "We are open on Mondays.", "We are closed on Mondays.", ["Opposite: “open” → “closed”"]),
        ("en", "It is suitable for children.", "It is unsuitable for children.",
         ["Opposite: “suitable” → “unsuitable”"]),
        ("en", "It is in stock today.", "It is sold out today.", ["Opposite: “in stock” → “sold out”"]),
        ("en", "It takes ten minutes.", "It takes twelve minutes.", ["Number in words changed: ten → twelve"]),
        ("en", "It costs ten euros.", "It costs twelve euros.", ["Number in words changed: ten → twelve"]),
        ("en", "Keep twenty-one seats free.", "Keep twenty-two seats free.",
         ["Number in words changed: twenty one → twenty two"]),
        ("en", "Come back in two weeks.", "Come back in two days.", ["Quantity changed: weeks → days"]),
        ("en", "It takes 3 days.", "It takes 3 weeks.",
         ["Number changed: 3 days → 3 weeks", "Quantity changed: days → weeks"]),
        ("en", "He has two dogs and one cat.", "He has one dog and two cats.",
         ["Number in words changed: two → one", "Number in words changed: one → two"]),
        ("en", "Adults must pay, children may pay.", "Adults may pay, children must pay.",
         ["Obligation changed: “must” → “may”", "Obligation changed: “may” → “must”"]),
        ("en", "The value is ≤ the limit.", "The value is ≥ the limit.", ["Quantity changed: ≤ → ≥"]),
        ("en", "All seats are taken.", "Some seats are taken.", ["Quantity changed: all → some"]),
        ("en", "Bring at least a spoon.", "Bring at most a spoon.",
         ["Opposite: “at least” → “at most”", "Quantity changed: at least → at most"]),
        ("en", "This tea tastes good.", "This tea cures coughs and tastes good.", ["Claim added: “cures”"]),
        ("en", "Try our blend.", "Try our risk-free blend.", ["Claim added: “risk free”"]),
        ("en", "It works in 90 cases.", "It works in 90 cases, 100 % tested.",
         ["Number added: 100 %", "Claim added: “100 %”"]),
        ("en", "Order at coffee.shop today.", "Order at coffee.support today.",
         ["Host changed: coffee.shop → coffee.support", "Link changed: coffee.shop → coffee.support"]),
        ("en", "Read https://a.example/x now.", "Read https://a.example.evil.example/x now.",
         ["Host changed: a.example → a.example.evil.example",
          "Link changed: https://a.example/x → https://a.example.evil.example/x"]),
        ("de", "Sie müssen zahlen.", "Sie dürfen zahlen.", ["Obligation changed: “müssen” → “dürfen”"]),
        ("de", "Das Café ist geöffnet.", "Das Café ist geschlossen.", ["Opposite: “geöffnet” → “geschlossen”"]),
        ("de", "In zwei Wochen.", "In zwei Tagen.", ["Quantity changed: wochen → tagen"]),
        ("de", "Es kostet einundzwanzig Euro.", "Es kostet zwölf Euro.",
         ["Number in words changed: einundzwanzig → zwölf"]),
        ("de", "Für Kinder geeignet.", "Für Kinder ungeeignet.", ["Opposite: “geeignet” → “ungeeignet”"]),
        ("fr", "Vous devez payer.", "Vous pouvez payer.", ["Obligation changed: “devez” → “pouvez”"]),
        ("fr", "L'accès est gratuit.", "L'accès est payant.", ["Opposite: “gratuit” → “payant”"]),
        ("fr", "Dans quatre-vingts minutes.", "Dans quatre-vingt-dix minutes.",
         ["Number in words changed: quatre vingts → quatre vingt dix"]),
        ("es", "La tienda está abierta.", "La tienda está cerrada.", ["Opposite: “abierta” → “cerrada”"]),
        ("es", "Vuelva en dos semanas.", "Vuelva en dos meses.", ["Quantity changed: semanas → meses"]),
    ],
)  # fmt: skip
def test_changed_meaning_is_reported(
    language: str, before: str, after: str, expected: list[str]
) -> None:
    assert told(language, before, after) == expected


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("de", "Ich muss das mahlen.", "Wir müssen das mahlen."),
        ("en", "Three cups stand there.", "There stand three cups."),
        ("en", "It isn't warm.", "It isn’t warm."),
        ("en", "You must grind the beans.", "You must mill the beans."),
        ("en", "It takes a week.", "It takes a long week."),
        ("en", "Now grind the beans.See below.", "Now mill the beans.See below."),
    ],
)
def test_other_words_of_the_same_meaning_are_no_fact(
    language: str, before: str, after: str
) -> None:
    assert told(language, before, after) == []


@pytest.mark.parametrize("kind", get_args(FactKind))
def test_every_kind_of_fact_has_a_weight_and_words(kind: DifferenceKind) -> None:
    changes = (Difference(kind, (), *sides) for sides in (("a", "b"), ("a", None), (None, "b")))
    texts = [note_of(one, References()).text for one in changes]

    assert kind in KINDS
    assert kind in FLAGS
    assert len(set(texts)) == 3
    assert kind in FLAG_LABELS


def test_words_of_a_new_sentence_are_new_and_no_changed_obligation() -> None:
    after = "Grind it. You can then pour some hot water over it and wait for a minute or two until it is through."

    assert told("en", "Grind it.", after) == []


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("Go to coffee.support now.", ["coffee.support"]),
        ("Go to EVIL.COM, or Shop.Evil.co.uk!", ["evil.com", "shop.evil.co.uk"]),
        ("Write to a.b+c@mail.evil.example.", ["mail.evil.example"]),
        ("Open http://user:pw@evil.example:8080/x?y#z", ["evil.example"]),
        ("Open http://good.example@evil.example/", ["evil.example"]),
        ("Open HTTPS:\\\\evil.example\\x", ["evil.example"]),
        ("On www.readme.md is more, and on pics.zip/now.", ["www.readme.md", "pics.zip"]),
        ("See пример.рф and xn--e1afmkfd.xn--p1ai", ["пример.рф", "xn--e1afmkfd.xn--p1ai"]),
        ("Go to evil。com now", ["evil.com"]),
        ("Go to evil.com.Then come back.", ["evil.com"]),
        ("Type 163.com or 10.am", ["163.com"]),
        ("evil.example/path", ["evil.example"]),
        ("Go to evil.sh/x or evil.py:8080.", ["evil.sh", "evil.py"]),
    ],
)
def test_host_of_an_address_is_found(text: str, hosts: list[str]) -> None:
    assert [address.host for address in find_addresses(text)] == hosts


@pytest.mark.parametrize(
    "text",
    [
        "End of a sentence.Next begins without a space.It goes on.In here.",
        "Open readme.md, guide.md#start, index.html, main.py or Node.js.",
        "The call Date.now() and array.map(x) are code.",
        "Approx. 3.5 km, i.e. 10.am or z.B. 12.05.2024, U.S. and e.g. this.",
        "Version 1.2.3 costs 4.50 … or more...",
        "这是一句话。世界很大。",
    ],
)
def test_prose_and_files_have_no_host(text: str) -> None:
    assert find_addresses(text) == []


@pytest.mark.parametrize(
    "unit",
    ["a", "a.", "a-", "a@", "a.b@", "www.", "http://", "a.com.", "。", "a+", "/a.", "no ", "must may ", "two-",
     "einund", "un", "l'", "≤", "1.", "at least "],
)  # fmt: skip
def test_hostile_text_takes_no_longer_than_its_length(unit: str) -> None:
    """A backtracking search would take hours."""
    text = unit * (20_000 // len(unit))

    find_addresses(text)
    find_facts(text, "en")
    for language in ("en", "de", "fr", "es"):
        told(language, text, text[: len(text) // 2] + " must not " + text[:9_000])


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
