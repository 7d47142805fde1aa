"""Which German pages of the help are older than their English ones.

`python -m tests.words.help_translation` lists them. With `--renew` it records that they are current again.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

EDITORS = Path(__file__).resolve().parents[2] / "docs" / "admin"
GERMAN = EDITORS / "de"
RECORD = re.compile(r"<!-- Translated from (?P<blob>[0-9a-f]{40}) -->\n\Z")


def english_pages() -> list[Path]:
    return sorted(EDITORS.glob("*.md"))


def blob_of(page: Path) -> str:
    """Return the name that Git gives this content, so that `git diff` can show what has changed since."""
    content = page.read_bytes()
    return hashlib.sha1(b"blob %d\0%s" % (len(content), content), usedforsecurity=False).hexdigest()


def complaint_about(page: Path) -> str:
    """Return what is wrong with the translation of an English page, or an empty text."""
    translated = GERMAN / page.name
    name = f"docs/admin/de/{page.name}"
    if not translated.exists():
        return f"{name} is missing."
    record = RECORD.search(translated.read_text(encoding="utf-8"))
    if record is None:
        return f"{name} does not say what it was translated from."
    if record["blob"] == blob_of(page):
        return ""
    return (
        f"docs/admin/{page.name} has changed since {name} was translated."
        f" See the changes with: git diff {record['blob'][:12]} docs/admin/{page.name}"
        " Translate them, then run: python -m tests.words.help_translation --renew"
    )


def renew(page: Path) -> None:
    """Record that the translation of an English page is current."""
    translated = GERMAN / page.name
    text = RECORD.sub("", translated.read_text(encoding="utf-8")).rstrip("\n")
    translated.write_text(f"{text}\n\n<!-- Translated from {blob_of(page)} -->\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    if arguments == ["--renew"]:
        for page in english_pages():
            if (GERMAN / page.name).exists():
                renew(page)
    complaints = [complaint for page in english_pages() if (complaint := complaint_about(page))]
    sys.stdout.write("".join(f"{complaint}\n" for complaint in complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
