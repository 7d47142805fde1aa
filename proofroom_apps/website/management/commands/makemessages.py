"""Django's makemessages, which preserves the words of the product's pages in a site's catalogue."""

from __future__ import annotations

from pathlib import Path
from subprocess import run

from django.core.management.commands import makemessages

from proofroom.core.i18n.catalogue import program
from proofroom_apps.website.site_catalogue import (
    HEAD,
    TRANSLATED,
    entries_of,
    list_page_titles,
    untranslated,
)


class Command(makemessages.Command):
    """The makemessages command for a site.

    A site's catalogue translates its own words and some of the product. Django would mark the latter as obsolete.
    """

    def write_po_file(self, potfile: str, locale: str) -> None:
        folder = Path(potfile).parent
        catalogue = folder / locale / "LC_MESSAGES" / f"{self.domain}.po"
        if self.domain != "django" or not catalogue.is_file():
            super().write_po_file(potfile, locale)
            return
        elsewhere = entries_of(TRANSLATED.read_text(encoding="utf-8")).keys() | {
            *list_page_titles()
        }
        there = entries_of(catalogue.read_text(encoding="utf-8"))
        kept = [untranslated(entry) for text, entry in there.items() if text in elsewhere]
        more, together = folder / f"{self.domain}-kept.pot", folder / f"{self.domain}-all.pot"
        try:
            more.write_text("\n\n".join([HEAD, *kept]) + "\n", encoding="utf-8")
            # An entry in both files is taken from `potfile`, with its source references.
            words = ("--use-first", f"--output-file={together}", potfile, str(more))
            run([program("msgcat"), *words], check=True, capture_output=True)  # noqa: S603  # no shell reads them
            super().write_po_file(str(together), locale)
        finally:
            more.unlink(missing_ok=True)
            together.unlink(missing_ok=True)
