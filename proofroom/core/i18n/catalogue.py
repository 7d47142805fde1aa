"""The message catalogue of a language: updated from the source texts, and compiled."""

from __future__ import annotations

import importlib
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from django.apps import apps
from django.conf import settings
from django.utils import translation
from django.utils.translation.template import templatize

from proofroom.core.i18n.model_names import own_apps, words_of_models

_KEYWORDS: Final = (
    "gettext_noop",
    "gettext_lazy",
    "ngettext_lazy:1,2",
    "pgettext:1c,2",
    "npgettext:1c,2,3",
    "pgettext_lazy:1c,2",
    "npgettext_lazy:1c,2,3",
)
# Templates of public pages have their own catalogues.
_OTHER_CATALOGUES: Final = ("site", "modules")
_WORDS_MODULE: Final = "translated_words"


def extract(folder: Path) -> Path:
    """Write a catalogue without translations into the empty folder. Return its path."""
    lines = [f"gettext_noop({text!r})" for text in sorted({*words_of_definitions()} - {""})]
    names = [
        *_python(folder),
        *_templates(folder),
        _write_source(folder, Path(settings.BASE_DIR) / f"{_WORDS_MODULE}.py", "\n".join(lines)),
    ]
    made = folder / "words.pot"
    # The paths come from the project itself, and no shell is used.
    subprocess.run(  # noqa: S603
        [
            *(
                program("xgettext"),
                "--language=Python",
                "--from-code=UTF-8",
                "--add-comments=Translators",
            ),
            *(
                "--no-location",
                "--no-wrap",
                "--sort-output",
                f"--output={made.name}",
            ),
            *(f"--keyword={keyword}" for keyword in _KEYWORDS),
            *names,
        ],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return made


def words_of_definitions() -> Iterator[str]:
    """Yield texts of definitions and models, which are translated when they are shown."""
    with translation.override("en"):
        yield from words_of_models()
        for app in apps.get_app_configs():
            name = f"{app.name}.{_WORDS_MODULE}"
            if find_spec(name) is not None:
                yield from importlib.import_module(name).words()


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"{name} is missing: install GNU gettext (on Debian: gettext).")
    return found


def _python(folder: Path) -> Iterator[str]:
    packages = {app.name.partition(".")[0] for app in own_apps()} | {"cms_project"}
    for package in sorted(packages):
        for file in sorted((Path(settings.BASE_DIR) / package).rglob("*.py")):
            if "migrations" not in file.parts:
                yield _write_source(folder, file, file.read_text())


def _templates(folder: Path) -> Iterator[str]:
    home = Path(settings.BASE_DIR) / "templates"
    for file in sorted(home.rglob("*")):
        is_other = (
            file.is_relative_to(home) and file.relative_to(home).parts[0] in _OTHER_CATALOGUES
        )
        if file.is_file() and not is_other:
            yield _write_source(folder, file, templatize(file.read_text(), origin=str(file)))


def _write_source(folder: Path, file: Path, text: str) -> str:
    name = f"{'-'.join(file.relative_to(settings.BASE_DIR).parts)}.py"
    (folder / name).write_text(text)
    return name


_BLANK_LINE: Final = "\n\n"


def catalogue_of(language: str) -> Path:
    return Path(settings.BASE_DIR) / "locale" / language / "LC_MESSAGES" / "django.po"


def current(language: str) -> str:
    """Return the text of the catalogue with all current texts and without obsolete ones."""
    with TemporaryDirectory() as folder:
        found = extract(Path(folder))
        # xgettext writes some texts of templates twice.
        found.write_bytes(_run("msguniq", "--no-wrap", str(found)))
        merged = _run(
            "msgmerge",
            *("--no-fuzzy-matching", "--no-location", "--no-wrap", "--sort-output", "--quiet"),
            *(str(catalogue_of(language)), str(found)),
        )
        merged_file = Path(folder) / "merged.po"
        merged_file.write_bytes(merged)
        text = _run("msgattrib", "--no-obsolete", "--no-wrap", str(merged_file)).decode()
    # The header is written by hand: the gettext tools would add dates that change with every run.
    head = catalogue_of(language).read_text().rstrip("\n").partition(_BLANK_LINE)[0]
    return f"{head}\n\n{text.partition(_BLANK_LINE)[2]}"


def compiled(catalogue: Path) -> bytes:
    """Return the compiled catalogue. Raises `CalledProcessError` if a translation lacks a placeholder."""
    return _run("msgfmt", "--check-format", "--output-file=-", str(catalogue))


def untranslated(catalogue: Path) -> str:
    """Return the entries without a translation."""
    return _run("msgattrib", "--untranslated", "--no-wrap", str(catalogue)).decode()


def _run(name: str, *arguments: str) -> bytes:
    command: Sequence[str] = (program(name), *arguments)
    # GNU gettext on files of the project; no shell is used.
    return subprocess.run(command, check=True, capture_output=True).stdout  # noqa: S603
