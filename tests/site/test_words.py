"""Texts of the site's templates: all have German translations."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from shutil import which
from types import SimpleNamespace

import pytest
from django.apps import AppConfig, apps
from django.core.management import call_command
from django.utils import translation
from django.utils.translation import gettext, ngettext

from proofroom.definitions import post_types
from proofroom_apps.website import page_frame
from proofroom_apps.website.management.commands import new_locale
from proofroom_apps.website.management.commands.new_locale import empty_catalogue
from proofroom_apps.website.page_frame import use_template_language
from proofroom_apps.website.site_catalogue import entries_of, list_page_titles

FOLDERS = ("templates/site", "templates/modules")
PLAIN = re.compile(r"{%\s*translate\s+\"([^\"]+)\"")
BLOCK = re.compile(
    r"{%\s*blocktranslate[^%]*%}(.*?)(?:{%\s*plural\s*%}(.*?))?{%\s*endblocktranslate\s*%}", re.S
)
SAME = {"Blog", "Name", "Website"}
"""Words that are equal in German."""


def words() -> dict[tuple[str, str], str]:
    """Return every message of the templates, singular and plural, with a file that has it."""
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


NEEDS_GETTEXT = pytest.mark.skipif(which("msgmerge") is None, reason="GNU gettext is missing")


@NEEDS_GETTEXT
def test_a_site_catalogue_keeps_the_products_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = tmp_path / "shop"
    (app / "templates").mkdir(parents=True)
    (app / "templates" / "a.html").write_text('{% load i18n %}{% translate "Open all year" %}')
    catalogue = app / "locale" / "fr" / "LC_MESSAGES" / "django.po"
    catalogue.parent.mkdir(parents=True)
    text = empty_catalogue("fr") + '\nmsgid "Gone from the templates"\nmsgstr "Parti"\n'
    text = text.replace(
        'msgid "Page not found"\nmsgstr ""', 'msgid "Page not found"\nmsgstr "Introuvable"'
    )
    catalogue.write_text(text)
    monkeypatch.chdir(tmp_path)

    call_command("makemessages", locale=["fr"], verbosity=0)

    made = catalogue.read_text()
    assert 'msgid "Page not found"\nmsgstr "Introuvable"' in made
    assert 'msgid "Open all year"\nmsgstr ""' in made
    assert '#~ msgid "Gone from the templates"' in made
    assert entries_of(empty_catalogue("fr")).keys() <= entries_of(made).keys()
    assert [file.name for file in (app / "locale").iterdir()] == ["fr"]


def test_a_catalogue_that_is_there_gets_the_words_that_it_has_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = AppConfig("shop", SimpleNamespace(__path__=[str(tmp_path)]))
    monkeypatch.setitem(apps.app_configs, "shop", config)
    monkeypatch.setattr(new_locale, "site_catalogue_folders", lambda: [tmp_path / "locale"])
    catalogue = tmp_path / "locale" / "fr" / "LC_MESSAGES" / "django.po"
    catalogue.parent.mkdir(parents=True)
    own = 'msgid ""\nmsgstr ""\n"Language: fr\\n"\n\nmsgid "Page not found"\nmsgstr "Introuvable"\n'
    catalogue.write_text(own)

    call_command("new_locale", "fr", folder="shop", stdout=StringIO())

    made = catalogue.read_text()
    assert made.startswith(own.rstrip("\n"))
    assert made.count('msgid "Page not found"') == 1
    assert entries_of(empty_catalogue("fr")).keys() == entries_of(made).keys()
    assert set(list_page_titles()) <= {text.partition("\0")[0] for text in entries_of(made)}
