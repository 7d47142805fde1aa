"""Tables of words that carry the meaning of a sentence, and a site's additions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from content.checks import check_word_tables
from content.comparison.words import word_tables
from content.comparison.words.word_tables import WordTableFile, all_tables, word_table
from tests.content.customer_app import customer_app


@pytest.fixture
def fresh_tables() -> Iterator[None]:
    word_tables.reload()
    yield
    word_tables.reload()


@pytest.mark.parametrize(
    ("language", "pairs"), [("en", 150), ("de", 100), ("fr", 100), ("es", 100)]
)
def test_shipped_tables_are_rich(language: str, pairs: int) -> None:
    table = word_table(language)

    assert sum(map(len, table.opposites.values())) // 2 >= pairs
    assert len(table.function_words) >= 120
    for terms in (table.negations, table.modals, table.quantifiers, table.units, table.claims):
        assert len(terms.forms) >= 15
    assert len(table.abbreviations) >= 20
    assert len(table.question_words) >= 8


def test_shipped_files_have_no_problem() -> None:
    assert all_tables().problems == ()
    assert check_word_tables() == []


def test_a_regional_tag_uses_its_languages_table() -> None:
    assert word_table("de-AT") is word_table("de")
    assert word_table("EN_gb") is word_table("en")
    assert word_table("xx").language == ""
    assert list(word_table("xx").negations.find(["not"])) == []


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "open", "closed"),
        ("en", "unless", "if"),
        ("en", "suitable", "unsuitable"),
        ("en", "vaccinated", "unvaccinated"),
        ("en", "increasing", "decreasing"),
        ("en", "possible", "impossible"),
        ("en", "harmful", "harmless"),
        ("en", "smoker", "nonsmoker"),
        ("en", "employer", "employee"),
        ("de", "offene", "geschlossenen"),
        ("de", "geeignet", "ungeeignet"),
        ("de", "alkoholhaltig", "alkoholfrei"),
        ("de", "wertvoll", "wertlos"),
        ("fr", "ouvertes", "fermées"),
        ("fr", "capable", "incapable"),
        ("es", "abiertos", "cerrados"),
        ("es", "confiar", "desconfiar"),
    ],
)
def test_opposites_are_found_in_both_directions(language: str, one: str, other: str) -> None:
    table = word_table(language)

    assert table.are_opposites(one, other)
    assert table.are_opposites(other, one)


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [("en", "open", "opens"), ("en", "coffee", "tea"), ("de", "gute", "guter"), ("xx", "safe", "unsafe")],
)  # fmt: skip
def test_other_words_are_no_opposites(language: str, one: str, other: str) -> None:
    assert not word_table(language).are_opposites(one, other)


def test_german_numbers_are_read_in_one_word() -> None:
    table = word_table("de")

    assert all(map(table.is_number, ("zwölf", "einundzwanzig", "dreihundertfünfzig", "achtmal")))
    assert not any(map(table.is_number, ("zweifel", "allein", "einfach", "und", "tausendfüßler")))


@pytest.mark.parametrize(
    "word",
    ["isnt", "Isn’t", "must", "twelve", "weeks", "unless", "all", "closed", "never", "cannot"],
)
def test_word_that_carries_meaning_is_known_in_any_form(word: str) -> None:
    assert word_table("en").carries_meaning(word)


def test_plain_word_carries_no_meaning() -> None:
    assert not any(map(word_table("en").carries_meaning, ("coffee", "filter", "recipe", "kettle")))


@pytest.mark.parametrize(
    ("language", "word", "is_made"),
    [
        ("en", "natively", True),
        ("en", "hardcode", True),
        ("en", "theming", True),
        ("en", "goverment", False),
        ("en", "seperate", False),
        ("de", "Goldimport", True),
        ("de", "Arbeitszeit", True),
        ("de", "Adressse", False),
    ],
)
def test_word_made_of_listed_ones_is_no_misspelling(
    language: str, word: str, is_made: bool
) -> None:
    listed = {
        "native",
        "hard",
        "code",
        "theme",
        "govern",
        "separate",
        "gold",
        "import",
        "arbeit",
        "zeit",
        "adresse",
    }

    assert word_table(language).is_made_of_listed(word, listed.__contains__) is is_made


@pytest.mark.usefixtures("fresh_tables")
def test_site_adds_and_removes_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = """
        opposites: ristretto/lungo, washed/natural
        claims: fair trade
        units:
          bag: bag, bags
        negations:
          no: nope
        numbers:
          {grand: 1000}
        remove:
          claims: free
          opposites: open/closed
          negations: hardly
    """
    assert word_table("en").are_opposites("open", "closed")
    word_tables.reload()

    with customer_app(tmp_path, monkeypatch, "roastery", {"word_tables/en.yaml": file}):
        table = word_table("en")

    assert table.are_opposites("lungo", "ristretto")
    assert table.are_opposites("safe", "unsafe")
    assert not table.are_opposites("open", "closed")
    assert [found.canonical for found in table.claims.find(["free", "fair", "trade"])] == [
        "fair trade"
    ]
    assert table.units.forms[("bags",)] == "bag"
    assert table.negations.forms[("nope",)] == "no"
    assert "hardly" not in table.negations
    assert table.is_number("grand")


@pytest.mark.usefixtures("fresh_tables")
def test_docs_name_every_key_and_their_example_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = Path("docs/how-to/teach-the-review-words.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```yaml\n(.*?)```", docs, re.DOTALL)
    keys = [field.alias for name, field in WordTableFile.model_fields.items() if name != "id"]

    assert [key for key in keys if f"`{key}`" not in docs] == []
    with customer_app(tmp_path, monkeypatch, "shop_of_words", {"word_tables/en.yaml": example}):
        assert check_word_tables() == []
        table = word_table("en")
    assert table.are_opposites("lungo", "ristretto")
    assert not table.are_opposites("hot", "cold")
    assert [found.canonical for found in table.claims.find(["number", "one", "free"])] == []


@pytest.mark.usefixtures("fresh_tables")
@pytest.mark.parametrize(
    ("text", "key", "reason"),
    [
        ("opposites: open", "opposites.0", "a pair is two entries with a / between them"),
        ("numbers: {ten: many}", "numbers.ten", "number"),
        ("negation: {not: not}", "negation", "Extra inputs are not permitted"),
        ("claims: one two three four five six seven", "claims.0", "an entry has one to 6 words"),
        ("suffixes: los", "suffixes.0", "suffixes are two"),
        ("claims: [free", "file", "it is no YAML"),
    ],
)  # fmt: skip
def test_broken_file_is_left_out_and_named(
    text: str, key: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with customer_app(tmp_path, monkeypatch, "roastery", {"word_tables/en.yaml": text}):
        messages = check_word_tables()
        table = word_table("en")

    assert [message.id for message in messages] == ["content.E022"]
    assert f"roastery/word_tables/en.yaml: {key}: " in messages[0].msg
    assert reason in messages[0].msg
    assert table.are_opposites("open", "closed")
