"""The German pages of the help: current, built like the English ones, and with the labels of the German admin."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

from proofroom.core.i18n.catalogue import catalogue_of
from tests.words.help_translation import (
    GERMAN,
    blob_of,
    complaint_about,
    english_pages,
    main,
    renew,
)
from tests.words.test_catalogue import PLACES, entries
from tests.words.test_doc_pages import prose_of

PAGES = english_pages()
EMPHASIS = re.compile(r"(?<![*\w])(\*\*?)(?=\S)(.+?)(?<=\S)\1(?!\*)")
NO_LABELS = {
    # The notes on the site: static/cms/staff/pins.js has its own words.
    "Add a note": "Notiz setzen",
    "Write a comment": "Kommentar schreiben",
    "Resolve": "Erledigt",
    "Edit this page": "Diese Seite bearbeiten",
    # The button for a language has the language's own name.
    "Deutsch": "Deutsch",
    "English": "English",
    # A script puts the number into the label.
    "Paste 2 modules": "2 Module einfügen",
    # A label with a sign before it.
    "✦ AI": "✦ KI",
    # Words that begin a paragraph or an item.
    "Beside a field": "An einem Feld",
    "In the list of posts": "In der Liste der Beiträge",
    "Decide on the spot": "Sofort entscheiden",
    "Passages.": "Stellen.",
    "Move": "Verschieben",
    "Drag": "Ziehen",
    "Saving": "Speichern",
    "On a post.": "Für einen Beitrag.",
    "On one field.": "Für ein Feld.",
    "From anywhere": "Von überall",
    "On several posts": "Für mehrere Beiträge",
    # Terms where they are explained, and stressed words.
    "alternative text": "Alternativtext",
    "locked": "gesperrtes",
    "module group": "Modulgruppe",
    "global module": "globales Modul",
    "passkey": "Passkey",
    "challenger": "Herausforderer",
    "champion": "Champion",
    "similar changes": "ähnlichen Änderungen",
    "reworded": "umformuliert",
    "not": "nicht",
    "only the parts that do not agree": "nur die Teile, die nicht übereinstimmen",
    "A change is safe only if every difference is proven harmless."
    " You must read every other change.": "Eine Änderung ist nur sicher, wenn jeder Unterschied"
    " nachweislich harmlos ist. Jede andere Änderung müssen Sie lesen.",
    # Examples.
    "3 · Numbered list › Item 2.": "3 · Nummerierte Liste › Eintrag 2.",
    "а U+0430 cyrillic small letter a": "а U+0430 cyrillic small letter a",
    "[Image not imported: Beans]": "[Bild nicht importiert: Bohnen]",
    "all → some": "alle → einige",
    "open → closed": "offen → geschlossen",
    "must → may": "müssen → dürfen",
    "heals": "heilt",
    "guaranteed": "garantiert",
    "the best": "das beste",
    **{
        same: same
        for same in ("two weeks → two days", "Berlin", "Two", "zwei", "1,000.50", "1.000,50")
    },
    **{same: same for same in ("3 p.m.", "15 Uhr", "two weeks", "14 Tage", "Yes", "Nein")},
}
"""What English pages emphasize without being a label of the admin, and its German."""


def name_of(path: Path) -> str:
    return path.name


def german(page: Path) -> str:
    return (GERMAN / page.name).read_text(encoding="utf-8")


def shape(text: str) -> Counter[str]:
    """Return how many headings, images, code blocks, items, rows and links a page has, by kind."""
    prose = list(prose_of(text))
    counts = Counter(level[1] for line in prose if (level := re.match(r"(#{1,6})\s", line)))
    counts["code block"] = len(re.findall(r"(?m)^\s*```", text))
    counts["image"] = text.count("![")
    counts["link"] = text.count("](")
    counts["item"] = sum(bool(re.match(r"\s*(- |\d+\. )", line)) for line in prose)
    counts["row"] = sum(line.startswith("|") for line in prose)
    return counts


def emphasized(text: str) -> Counter[str]:
    """Return the bold and italic texts, which are the labels of the admin, and other texts."""
    prose = "\n".join(prose_of(text))
    return Counter(match[1] for match in EMPHASIS.findall(re.sub(r"`[^`\n]*`", "`", prose)))


def without_end(label: str) -> str:
    """Return a label without the mark at its end, which a page may leave out."""
    return label.rstrip(".:…").rstrip()


def is_shown_as(text: str, label: str) -> bool:
    """Whether a page may show a text of the admin as this label. "…" stands for a changing part."""
    parts = PLACES.split(without_end(text))
    if len(parts) == 1:
        return parts[0] == without_end(label)
    # Only a text with a beginning of its own may have any words in its changing parts.
    any_words = ".+?" if len(parts[0]) > 8 else "…"
    pattern = any_words.join(map(re.escape, parts))
    return re.fullmatch(rf"{pattern}\s?[.:…]?", label) is not None


@cache
def messages() -> dict[str, list[tuple[str, str]]]:
    """Return the texts of the admin, English and German, by the beginning before the first changing part."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for entry in entries(catalogue_of("de").read_text()):
        translated = (entry.translations[0], entry.translations[-1])
        for english, german_text in zip(entry.message[1:], translated, strict=True):
            if english:
                found[PLACES.split(without_end(english))[0]].append((english, german_text))
    return found


@cache
def german_of(label: str) -> list[str]:
    """Return the German texts that an emphasized English text may have. Empty for an unknown text."""
    # An example, such as "Yes", can also be a label on the same page.
    others = [NO_LABELS[label]] if label in NO_LABELS else []
    beginnings = {label[:length] for length in range(len(label) + 1)} | {without_end(label)}
    return others + [
        translated
        for beginning in beginnings
        for english, translated in messages().get(beginning, ())
        if is_shown_as(english, label)
    ]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_german_page_is_current(page: Path) -> None:
    assert complaint_about(page) == ""


def test_no_german_page_is_without_an_english_one() -> None:
    assert {path.name for path in GERMAN.glob("*.md")} <= {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_both_languages_have_the_same_parts(page: Path) -> None:
    assert shape(german(page)) == shape(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_both_languages_show_the_same_images(page: Path) -> None:
    images = r"!\[[^\]]*\]\((?:\.\./)+([^)]*)\)"

    assert re.findall(images, german(page)) == re.findall(images, page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_labels_of_the_english_page_are_those_of_the_admin(page: Path) -> None:
    labels = emphasized(page.read_text(encoding="utf-8"))

    assert [label for label in labels if not german_of(label)] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_labels_of_the_german_page_are_those_of_the_german_admin(page: Path) -> None:
    english = emphasized(page.read_text(encoding="utf-8"))
    left = emphasized(german(page))
    missing: list[str] = []
    for label in english.elements():
        known = german_of(label)
        found = next((one for one in left if any(is_shown_as(text, one) for text in known)), "")
        if found:
            left -= Counter([found])
        else:
            missing.append(label)

    assert (missing, [*left]) == ([], [])


def test_a_changed_english_page_is_named_with_the_command_that_shows_the_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.words.help_translation.EDITORS", tmp_path)
    monkeypatch.setattr("tests.words.help_translation.GERMAN", tmp_path / "de")
    (tmp_path / "de").mkdir()
    page = tmp_path / "page.md"
    page.write_text("# Page\n")
    before = blob_of(page)

    assert complaint_about(page) == "docs/admin/de/page.md is missing."
    (tmp_path / "de/page.md").write_text("# Seite\n")
    assert complaint_about(page).endswith("does not say what it was translated from.")
    renew(page)
    assert complaint_about(page) == ""
    page.write_text("# Another page\n")
    assert f"git diff {before[:12]} docs/admin/page.md" in complaint_about(page)
    assert (main([]), main(["--renew"]), main([])) == (1, 0, 0)
    assert (tmp_path / "de/page.md").read_text().count("<!--") == 1
