"""The words of the site's templates: each of them has its German."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.apps import AppConfig, apps
from django.utils import translation
from django.utils.translation import gettext, ngettext

from proofroom.definitions import post_types
from proofroom.website import page_frame
from proofroom.website.management.commands.new_locale import empty_catalogue
from proofroom.website.page_frame import use_template_language

FOLDERS = ("templates/site", "templates/modules")
PLAIN = re.compile(r"{%\s*translate\s+\"([^\"]+)\"")
BLOCK = re.compile(
    r"{%\s*blocktranslate[^%]*%}(.*?)(?:{%\s*plural\s*%}(.*?))?{%\s*endblocktranslate\s*%}", re.S
)
SAME = {"Blog", "Name", "Website"}
"""Words that German has too."""


def words() -> dict[tuple[str, str], str]:
    """Every message of the templates, one and many, with a file that has it."""
    found: dict[tuple[str, str], str] = {}
    for folder in FOLDERS:
        for file in sorted(Path(folder).rglob("*.html")):
            text = file.read_text()
            for message in PLAIN.findall(text):
                found[message, ""] = file.name
            for one, many in BLOCK.findall(text):
                named = [re.sub(r"{{\s*(\w+)\s*}}", r"%(\1)s", part) for part in (one, many)]
                found[named[0], named[1]] = file.name
    labels = [
        type.list_label or type.label_plural
        for type in post_types
        if type.__module__.startswith("content.")
    ]
    return found | {(label, ""): "a post type" for label in labels if label}


def test_every_word_of_the_templates_is_there_in_german() -> None:
    found = words()
    assert len(found) > 30
    with translation.override("de"):
        missing = {
            one: place
            for (one, many), place in found.items()
            if one not in SAME and (ngettext(one, many, 1) if many else gettext(one)) == one
        }

    assert missing == {}


@pytest.mark.parametrize(
    ("locale", "shown"),
    [("de", "Suchen"), ("de-at", "Suchen"), ("en", "Search"), ("fr", "Search"), ("xx", "Search")],
)
def test_a_language_without_a_catalogue_has_no_words_of_other_pages(
    locale: str, shown: str
) -> None:
    with use_template_language(locale):
        assert gettext("Search") == shown


def test_an_app_of_the_site_brings_a_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue = tmp_path / "locale" / "fr" / "LC_MESSAGES" / "django.po"
    catalogue.parent.mkdir(parents=True)
    catalogue.with_suffix(".mo").touch()
    configs = apps.get_app_configs()
    app = AppConfig("shop", SimpleNamespace(__path__=[str(tmp_path)]))
    monkeypatch.setattr(apps, "get_app_configs", lambda: [app, *configs])
    page_frame._language_of.cache_clear()

    assert page_frame._language_of("fr") == "fr"
    assert page_frame._language_of("it") == "en"

    page_frame._language_of.cache_clear()


@pytest.mark.parametrize(("locale", "forms"), [("fr", 3), ("ru", 4), ("ja", 1), ("xx", 2)])
def test_a_new_catalogue_has_every_word_and_as_many_forms_as_the_language(
    locale: str, forms: int
) -> None:
    text = empty_catalogue(locale)

    found = set(re.findall(r'(?m)^msgid "(.+)"$', text))
    assert {one.replace('"', '\\"') for one, _many in words()} - SAME <= found
    assert len(re.findall(r"msgstr\[\d\]", text)) == forms * text.count("msgid_plural")
    assert not re.search(r'(?m)^msgstr(\[\d\])? "[^"]', text.partition("\n\n")[2])
