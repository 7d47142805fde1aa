"""The German catalogue of the admin is complete, and the compiled one is current.

Extraction needs GNU gettext; tests that need it are skipped without it.
"""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from gettext import GNUTranslations

import pytest

from proofroom.core.i18n.catalogue import catalogue_of, current

PLACES = re.compile(r"%\(\w+\)[a-z]|\{\w+\}")
CATALOGUE = catalogue_of("de")
needs_gettext = pytest.mark.skipif(shutil.which("xgettext") is None, reason="needs GNU gettext")


@dataclass
class Entry:
    """One message: its parts by keyword, and its flags."""

    parts: dict[str, str] = field(default_factory=dict)
    is_guess: bool = False

    @property
    def translations(self) -> list[str]:
        return [text for keyword, text in self.parts.items() if keyword.startswith("msgstr")]

    @property
    def message(self) -> tuple[str, ...]:
        return tuple(self.parts.get(name, "") for name in ("msgctxt", "msgid", "msgid_plural"))


def entries(text: str) -> Iterator[Entry]:
    for block in text.split("\n\n")[1:]:
        entry, keyword = Entry(), ""
        for line in block.splitlines():
            if line.startswith("#"):
                entry.is_guess |= line.startswith("#,") and "fuzzy" in line
                continue
            if not line.startswith('"'):
                keyword, _, line = line.partition(" ")
            entry.parts[keyword] = entry.parts.get(keyword, "") + ast.literal_eval(line)
        yield entry


def test_every_word_has_its_german_and_none_is_a_guess() -> None:
    found = list(entries(CATALOGUE.read_text()))

    assert len(found) > 1_500
    assert [entry.parts for entry in found if entry.is_guess or not all(entry.translations)] == []


def test_german_sentences_have_the_places_of_the_english_ones() -> None:
    wrong = []
    for entry in entries(CATALOGUE.read_text()):
        wanted = set(PLACES.findall(entry.parts.get("msgid_plural", entry.parts["msgid"])))
        said = [set(PLACES.findall(text)) for text in entry.translations]
        # The sentence for one thing may say the number in words.
        if said[-1] != wanted or not all(places <= wanted for places in said):
            wrong.append(entry.parts)

    assert wrong == []


OTHER_WORDS = {r"\b(un|ge)?beweg(en|t|ung)?\b": "verschieben"}
"""Words to avoid in the catalogue, and their replacements: one term for one thing."""


def test_one_thing_has_one_german_word() -> None:
    found = {
        (word, text)
        for entry in entries(CATALOGUE.read_text())
        for text in entry.translations
        for pattern, word in OTHER_WORDS.items()
        if re.search(pattern, text, re.IGNORECASE)
    }

    assert found == set()


def test_words_are_written_without_where_they_stand() -> None:
    text = CATALOGUE.read_text()

    assert "\n#:" not in text
    assert "Creation-Date" not in text


@needs_gettext
def test_the_catalogue_holds_the_words_that_are_there_now() -> None:
    kept = {entry.message for entry in entries(CATALOGUE.read_text())}

    # Not the text itself, because versions of gettext wrap lines differently.
    found = {entry.message for entry in entries(current("de"))}

    assert (sorted(found - kept), sorted(kept - found)) == ([], []), "Run ./run words"


def test_what_is_compiled_is_what_is_written() -> None:
    with CATALOGUE.with_suffix(".mo").open("rb") as file:
        said = GNUTranslations(file)

    old = []
    for entry in entries(CATALOGUE.read_text()):
        context, one, many = entry.message
        if context and many:
            found = [said.npgettext(context, one, many, number) for number in (1, 2)]
        elif context:
            found = [said.pgettext(context, one)]
        elif many:
            found = [said.ngettext(one, many, number) for number in (1, 2)]
        else:
            found = [said.gettext(one)]
        if found != entry.translations:
            old.append(one)

    assert old == [], "Run ./run words"
