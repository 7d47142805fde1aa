"""Words of the public pages in a site's catalogues: their list, and the entries of a catalogue."""

from __future__ import annotations

import re
from ast import literal_eval
from pathlib import Path
from typing import Final

from proofroom.definitions import post_types

TRANSLATED: Final = Path(__file__).parent / "locale" / "de" / "LC_MESSAGES" / "django.po"
_STRING: Final = re.compile(r'(?m)^(msgctxt|msgid|msgid_plural) ((?:"(?:[^"\\]|\\.)*"\s*)+)')
_TRANSLATION: Final = re.compile(r'(?m)^msgstr(?:\[\d\])? ".*"(?:\n".*")*\n?')
_REMARK: Final = re.compile(r"(?m)^#.*\n?")
HEAD: Final = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'


def entries_of(text: str) -> dict[str, str]:
    """Return a catalogue's entries by the texts they translate, without the head and obsolete entries."""
    found: dict[str, str] = {}
    for block in re.split(r"\n\s*\n", text):
        parts = _STRING.findall(_REMARK.sub("", block))
        texts = ["".join(map(literal_eval, strings.split("\n"))) for _, strings in (
            (name, strings.strip()) for name, strings in parts
        )]  # fmt: skip
        if any(texts):
            found["\0".join(texts)] = block.strip("\n")
    return found


def untranslated(entry: str) -> str:
    """Return an entry without its translation and comments."""
    bare = _TRANSLATION.sub("", _REMARK.sub("", entry)).strip("\n")
    many = '\nmsgstr[0] ""\nmsgstr[1] ""' if "\nmsgid_plural" in bare else '\nmsgstr ""'
    return bare + many


def list_page_titles() -> list[str]:
    """Return the titles of list pages. Definitions have them, so makemessages does not find them."""
    return [label for one in post_types if (label := one.list_label or one.label_plural)]
