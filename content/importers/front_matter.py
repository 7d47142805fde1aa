"""Markdown files with front matter: YAML between two lines of three hyphens, then the text."""

from __future__ import annotations

from collections.abc import Mapping

import yaml

_FENCE = "---"


class BadFrontMatter(ValueError):
    """The text between the fences is no mapping of YAML."""


def split(text: str) -> tuple[Mapping[str, object], str]:
    """The front matter, empty where there is none, and the rest of the text.

    Raises `BadFrontMatter` with a sentence. A rule at the top of a document is no front matter: the second
    fence must follow, and a mapping must stand before it.
    """
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    if not lines or lines[0].rstrip() != _FENCE:
        return {}, text.removeprefix("\ufeff")
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == _FENCE:
            return _mapping("".join(lines[1:number])), "".join(lines[number + 1 :])
    return {}, text


def _mapping(source: str) -> Mapping[str, object]:
    try:
        found = yaml.safe_load(source)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise BadFrontMatter(f"The front matter is not valid YAML: {reason}") from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise BadFrontMatter("The front matter must be names with values.")
    return {str(name): value for name, value in found.items()}
