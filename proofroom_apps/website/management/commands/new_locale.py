"""`manage.py new_locale CODE --folder APP`: adds the words of the public pages to a catalogue, for translation."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from contextlib import suppress
from gettext import GNUTranslations
from pathlib import Path
from typing import Any, Final

import django
from django.apps import apps
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import to_locale

from proofroom.core.validation.limits import LOCALE_MAX, LOCALE_PATTERN
from proofroom_apps.website.page_frame import site_catalogue_folders
from proofroom_apps.website.site_catalogue import TRANSLATED, entries_of, list_page_titles

_TRANSLATION: Final = re.compile(r'^(msgstr(?:\[\d\])?) ".*"(?:\n".*")*$', re.MULTILINE)
_COMPILED: Final = Path("LC_MESSAGES") / "django.mo"


def empty_catalogue(locale: str) -> str:
    """Return a catalogue of the public pages without translations, with the plural form of the language.

    It includes the list titles of the site's own post types.
    """
    _head, _, entries = TRANSLATED.read_text(encoding="utf-8").partition("\n\n")
    # Django's own catalogues have the plural form of nearly every language.
    folder = Path(django.__file__).parent / "conf" / "locale"
    plural = "nplurals=2; plural=(n != 1);"
    with suppress(FileNotFoundError), (folder / locale / _COMPILED).open("rb") as file:
        plural = GNUTranslations(file).info().get("plural-forms", plural)
    forms = int(re.findall(r"nplurals *= *(\d)", plural)[0])
    many = "\n".join(f'msgstr[{number}] ""' for number in range(forms))
    blank = _TRANSLATION.sub(r'\1 ""', entries)
    # German has two forms; the language may have more or fewer.
    blank = re.sub(r'msgstr\[0\] ""(?:\nmsgstr\[\d\] "")*', many, blank)
    head = [
        'msgid ""',
        'msgstr ""',
        r'"Content-Type: text/plain; charset=UTF-8\n"',
        r'"Content-Transfer-Encoding: 8bit\n"',
        rf'"Language: {locale}\n"',
        rf'"Plural-Forms: {plural}\n"',
    ]
    known = entries_of(blank)
    labels = [one for one in dict.fromkeys(list_page_titles()) if one not in known]
    own = [f'msgid "{_quoted(label)}"\nmsgstr ""\n' for label in labels]
    return "\n".join([*head, "", blank.rstrip("\n") + "\n", *own])


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


class Command(BaseCommand):
    """Adds missing entries to an existing file and leaves the others unchanged."""

    help = "Create a translation catalogue for the texts of the public pages in one of your apps."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("code", help="the language, such as fr or pt-br")
        parser.add_argument(
            "--folder", required=True, help="the label of the app for the catalogue"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        code, label = str(options["code"]), str(options["folder"])
        if len(code) > LOCALE_MAX or not re.fullmatch(LOCALE_PATTERN, code):
            raise CommandError(f"{code!r} is not a language code such as 'fr' or 'pt-br'.")
        app = apps.app_configs.get(label)
        if app is None or Path(app.path) / "locale" not in site_catalogue_folders():
            raise CommandError(
                f"{label!r} is not an app listed before the product's apps in INSTALLED_APPS: "
                "only those can override the product's texts."
            )
        locale = to_locale(code)
        path = Path(app.path) / "locale" / locale / "LC_MESSAGES" / "django.po"
        made = empty_catalogue(locale)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():
                there = path.read_text(encoding="utf-8")
                known = entries_of(there)
                missing = [one for text, one in entries_of(made).items() if text not in known]
                made = "\n\n".join([there.rstrip("\n"), *missing]) + "\n"
                said = f"Added {len(missing)} texts to {path}"
            else:
                said = f"Wrote {path}"
            path.write_text(made, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"Cannot write {path}: {error.strerror}.") from None
        self.stdout.write(
            f"{said}. Next: translate it, run `manage.py compilemessages --locale {locale} --ignore .venv` "
            f"(it needs GNU gettext), and add {code} to LOCALES."
        )
