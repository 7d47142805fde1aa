"""The front matter of Markdown files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import yaml

_FENCE = "---"
_MOST_VALUES: Final = 50_000
"""Maximum number of values, aliases counted each time: a few lines of YAML aliases can expand to
millions of values."""
# Python refuses to convert very large integers to text, so they couldn't be saved or shown.
_MOST_BITS: Final = 1024


class BadFrontMatter(ValueError):
    """The text between the fences is not a YAML mapping."""


def split_front_matter(text: str) -> tuple[Mapping[str, object], str]:
    """Return the front matter, empty if there is none, and the rest of the text.

    A thematic break at the top is not front matter: a second fence must follow, with a mapping between them.
    Raises `BadFrontMatter` with a message for the user.
    """
    # Some editors write a byte order mark.
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    if not lines or lines[0].rstrip() != _FENCE:
        return {}, text.removeprefix("\ufeff")
    fences = (number for number, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE)
    end = next(fences, None)
    if end is None:
        return {}, text
    try:
        found = yaml.safe_load("".join(lines[1:end]))
    # PyYAML raises ValueError for impossible dates and RecursionError for deep nesting.
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise BadFrontMatter(f"The front matter is not valid YAML: {reason}") from None
    if found is not None and not isinstance(found, dict):
        raise BadFrontMatter("The front matter must be names with values.")
    require_bounded(found)
    head = {str(name): value for name, value in (found or {}).items()}
    return head, "".join(lines[end + 1 :])


def require_bounded(value: object) -> None:
    """Raise `BadFrontMatter` if the value has too many nested values or too large a number."""
    # Iterative, so that deep nesting can't exceed the recursion limit.
    waiting, seen = [value], 0
    while waiting:
        one = waiting.pop()
        seen += 1
        if isinstance(one, Mapping):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple | set):
            waiting += one
        elif isinstance(one, int) and one.bit_length() > _MOST_BITS:
            raise BadFrontMatter("The front matter has a number that is too large.")
        if seen + len(waiting) > _MOST_VALUES:
            raise BadFrontMatter("The front matter has too many values.")
