"""The catalogue of a language: kept current with what is there to translate, and compiled."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from django.conf import settings

from proofroom.core.i18n.extraction import extract, program

_GAP: Final = "\n\n"


def catalogue_of(language: str) -> Path:
    return Path(settings.BASE_DIR) / "locale" / language / "LC_MESSAGES" / "django.po"


def current(language: str) -> str:
    """The text of the catalogue with every word that is there now, and none that is gone."""
    with TemporaryDirectory() as folder:
        found = extract(Path(folder))
        # xgettext writes some words twice, of templates that are read in pieces.
        found.write_bytes(_run("msguniq", "--no-wrap", str(found)))
        merged = _run(
            "msgmerge",
            *("--no-fuzzy-matching", "--no-location", "--no-wrap", "--sort-output", "--quiet"),
            *(str(catalogue_of(language)), str(found)),
        )
        kept = Path(folder) / "merged.po"
        kept.write_bytes(merged)
        text = _run("msgattrib", "--no-obsolete", "--no-wrap", str(kept)).decode()
    # The head is written by hand: programs would put dates into it that every run changes.
    head = catalogue_of(language).read_text().rstrip("\n").partition(_GAP)[0]
    return f"{head}\n\n{text.partition(_GAP)[2]}"


def compiled(catalogue: Path) -> bytes:
    """What programs read. Raises `CalledProcessError` where a translation lacks a placeholder."""
    return _run("msgfmt", "--check-format", "--output-file=-", str(catalogue))


def untranslated(catalogue: Path) -> str:
    """The entries that have no translation yet, or one that is a guess."""
    return _run("msgattrib", "--untranslated", "--no-wrap", str(catalogue)).decode()


def _run(name: str, *arguments: str) -> bytes:
    command: Sequence[str] = (program(name), *arguments)
    # Programs of GNU gettext on files of the project; no shell reads them.
    return subprocess.run(command, check=True, capture_output=True).stdout  # noqa: S603
