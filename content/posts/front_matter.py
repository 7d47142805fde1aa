"""The front matter of Markdown files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import yaml

_FENCE = "---"
_MOST_VALUES: Final = 50_000
"""Values of one front matter, counted as often as aliases repeat them: a few lines can stand for millions."""
_MOST_BITS: Final = 1024


class BadFrontMatter(ValueError):
    """The text between the fences is no mapping of YAML."""


def split_front_matter(text: str) -> tuple[Mapping[str, object], str]:
    """The front matter, empty where there is none, and the rest of the text.

    Raises `BadFrontMatter` with a sentence. A rule at the top of a document is no front matter: the second
    fence must follow, and a mapping must stand before it.
    """
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    if not lines or lines[0].rstrip() != _FENCE:
        return {}, text.removeprefix("\ufeff")
    fences = (number for number, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE)
    end = next(fences, None)
    if end is None:
        return {}, text
    try:
        found = yaml.safe_load("".join(lines[1:end]))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise BadFrontMatter(f"The front matter is not valid YAML: {reason}") from None
    if found is not None and not isinstance(found, dict):
        raise BadFrontMatter("The front matter must be names with values.")
    require_bounded(found)
    head = {str(name): value for name, value in (found or {}).items()}
    return head, "".join(lines[end + 1 :])


def require_bounded(value: object) -> None:
    """Raise `BadFrontMatter` where the value has too many values in it, or a number too large to be written."""
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
