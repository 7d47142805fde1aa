"""The authors that a source names by address, name or object."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_EMAIL: Final = re.compile(r"(?<![^\s<>()\[\],;:\"'])[^\s<>()\[\],;:\"']+@[^\s<>()\[\],;:\"']+")
_NAMES: Final = ("name", "displayName", "display_name", "fullName", "title", "username", "login")
_FIRST_AND_LAST: Final = (
    ("first_name", "last_name"),
    ("firstName", "lastName"),
    ("firstname", "lastname"),
)
_IDS: Final = ("key", "id", "documentId", "_id", "_ref", "slug")


def read_authors(
    value: object, described: Mapping[str, object] | None = None
) -> tuple[str, list[str]]:
    """Return the first e-mail address, and a name, or else an address, of each other author.

    `described` are authors that the source describes elsewhere, by key.
    """
    emails: list[str] = []
    names: list[str] = []
    for one in value if isinstance(value, list) else [value]:
        # A key, as pages of Docusaurus name authors. It is the name if the description has none.
        if isinstance(one, str) and isinstance(entry := (described or {}).get(one), Mapping):
            one = {"name": one, **entry}
        if isinstance(one, Mapping):
            email, name = str(one.get("email") or one.get("mail") or ""), _name_in(one)
        else:
            text = "" if one is None or isinstance(one, bool | list) else " ".join(str(one).split())
            found = _EMAIL.search(text)
            email, name = (found[0] if found else ""), text
        if email.strip() and not emails:
            emails.append(email.strip())
        elif name or email:
            names.append(name or email)
    return (emails[0] if emails else ""), names


def _name_in(author: Mapping[str, object]) -> str:
    for first, last in _FIRST_AND_LAST:
        if author.get(first) or author.get(last):
            return " ".join(f"{author.get(first) or ''} {author.get(last) or ''}".split())
    values = (author.get(key) for key in (*_NAMES, *_IDS))
    return next((" ".join(str(one).split()) for one in values if one not in (None, "")), "")
